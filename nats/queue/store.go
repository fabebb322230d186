package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Store keeps a pack, and gives its name, which is its digest: the same plan is there once, however often it is submitted.
func (q *Queue) Store(ctx context.Context, pack []byte) (name string, err error) {
	sum := sha256.Sum256(pack)
	name = hex.EncodeToString(sum[:])
	if _, err := q.plans.GetInfo(ctx, name); err == nil {
		return name, nil
	}
	if _, err := q.plans.PutBytes(ctx, name, pack); err != nil {
		return "", fmt.Errorf("store the plan: %w", err)
	}
	return name, nil
}

// Load is a pack that was stored.
func (q *Queue) Load(ctx context.Context, name string) ([]byte, error) {
	pack, err := q.plans.GetBytes(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, errors.New("the plan of the job is gone")
	}
	if err != nil {
		return nil, fmt.Errorf("fetch the plan of the job: %w", err)
	}
	if sum := sha256.Sum256(pack); hex.EncodeToString(sum[:]) != name {
		return nil, errors.New("the plan of the job is not what was submitted")
	}
	return pack, nil
}

// Remove removes a job that is over, with its history.
func (q *Queue) Remove(ctx context.Context, id string) error {
	j, _, err := q.Get(ctx, id)
	if errors.Is(err, ErrNoJob) {
		return nil
	}
	if err != nil {
		return err
	}
	if !j.Over() {
		return fmt.Errorf("job %s is %s", id, j.State)
	}
	if err := q.jobs.Purge(ctx, id); err != nil {
		return fmt.Errorf("remove job %s: %w", id, err)
	}
	return nil
}

// Unused are the packs that were stored before a time and are not among those in use.
func (q *Queue) Unused(ctx context.Context, used map[string]bool, before time.Time) (names []string, err error) {
	list, err := q.plans.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the plans of jobs: %w", err)
	}
	for _, o := range list {
		if !used[o.Name] && o.ModTime.Before(before) {
			names = append(names, o.Name)
		}
	}
	return names, nil
}

// Discard removes a pack.
func (q *Queue) Discard(ctx context.Context, name string) error {
	if err := q.plans.Delete(ctx, name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return fmt.Errorf("remove the plan %s: %w", name, err)
	}
	return nil
}
