package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
)

// hold is a job that works on hosts, as the lock of its playbook says.
type hold struct {
	Job    string   `json:"job"`
	Worker string   `json:"worker"`
	Hosts  []string `json:"hosts"`
}

// lockOf is the key of a playbook's lock. localhost counts as one host whichever worker it is: no one knows before who takes a job.
func lockOf(playbook string) string {
	sum := sha256.Sum256([]byte(playbook))
	return hex.EncodeToString(sum[:16])
}

// lock takes the lock of a job's playbook for its hosts. free is false if another job has one of them.
func (q *Queue) lock(ctx context.Context, j *Job, worker string) (free bool, err error) {
	for {
		holds, revision, err := q.holds(ctx, j.Playbook)
		if err != nil {
			return false, err
		}
		var valid []hold
		for _, h := range holds {
			counts, err := q.counts(ctx, h)
			if err != nil {
				return false, err
			}
			if !counts || h.Job == j.ID && h.Worker == worker {
				continue
			}
			if h.Job == j.ID || slices.ContainsFunc(h.Hosts, func(host string) bool { return slices.Contains(j.Hosts, host) }) {
				return false, nil
			}
			valid = append(valid, h)
		}
		err = q.setHolds(ctx, j.Playbook, append(valid, hold{j.ID, worker, j.Hosts}), revision)
		if !raced(err) {
			return err == nil, err
		}
	}
}

// counts reports whether a hold is one: its job runs, or its worker is about to say so. Nothing else has to be done for a worker that is
// killed: whether a job runs is settled by who finds it.
func (q *Queue) counts(ctx context.Context, h hold) (bool, error) {
	j, _, err := q.Get(ctx, h.Job)
	switch {
	case errors.Is(err, ErrNoJob):
		return false, nil
	case err != nil:
		return false, err
	case j.State == Running:
		return true, nil
	case j.State == Waiting:
		return q.alive(ctx, h.Worker)
	}
	return false, nil
}

// alive reports whether a worker renews its lease.
func (q *Queue) alive(ctx context.Context, worker string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := q.link.Leases.Get(ctx, leaseOf(worker))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, err
}

func leaseOf(worker string) string { return "worker." + worker }

func (q *Queue) holds(ctx context.Context, playbook string) (list []hold, revision uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	entry, err := q.locks.Get(ctx, lockOf(playbook))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	}
	if err == nil {
		err = json.Unmarshal(entry.Value(), &list)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the lock of %s: %w", playbook, err)
	}
	return list, entry.Revision(), nil
}

func (q *Queue) setHolds(ctx context.Context, playbook string, list []hold, revision uint64) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if revision == 0 {
		_, err = q.locks.Create(ctx, lockOf(playbook), text)
	} else {
		_, err = q.locks.Update(ctx, lockOf(playbook), text, revision)
	}
	return err
}

// unlock gives the lock of a job back: that of a worker, or all of them.
func (q *Queue) unlock(ctx context.Context, j *Job, worker string) error {
	for {
		holds, revision, err := q.holds(ctx, j.Playbook)
		if err != nil {
			return err
		}
		rest := slices.DeleteFunc(slices.Clone(holds), func(h hold) bool { return h.Job == j.ID && (worker == "" || h.Worker == worker) })
		if len(rest) == len(holds) {
			return nil
		}
		if rest == nil {
			rest = []hold{}
		}
		if err = q.setHolds(ctx, j.Playbook, rest, revision); !raced(err) {
			return err
		}
	}
}
