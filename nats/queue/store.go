package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

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
