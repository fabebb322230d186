package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
)

// Past is a run as its journal tells it without its plan.
type Past struct {
	ID       string
	Dir      string
	Playbook string // relative to Root
	Root     string
	Digest   string       // of its last plan
	Options  fact.Options // as it was started or resumed last
	Started  time.Time
	Ended    time.Time         // of the last record
	Outcome  events.RunOutcome // "" if it has not ended: it runs, or moon died
	Live     bool              // some moon has it
	Total    int               // steps of its last plan
	Done     int               // steps that ended well, changed ones included
	Changed  int
	Failed   int    // failures that nothing made good
	Damaged  string // why its journal could not be read to the end
}

// History lists the runs in a directory, the latest first. A directory that holds no run is left out; a missing one has
// no runs.
func History(runs string) ([]Past, error) {
	entries, err := os.ReadDir(runs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the runs: %w", err)
	}
	var list []Past
	for _, e := range entries {
		p, err := look(filepath.Join(runs, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Past) int {
		if d := b.Started.Compare(a.Started); d != 0 {
			return d
		}
		return strings.Compare(b.ID, a.ID)
	})
	return list, nil
}

// Find gives the run with an id, or whose id begins so; "" is the latest.
func Find(runs, id string) (Past, error) {
	list, err := History(runs)
	if err != nil {
		return Past{}, err
	}
	var found []Past
	for _, p := range list {
		if p.ID == id {
			return p, nil
		}
		if strings.HasPrefix(p.ID, id) {
			found = append(found, p)
		}
	}
	switch {
	case len(list) == 0:
		return Past{}, errors.New("there are no runs yet")
	case len(found) == 0:
		return Past{}, fmt.Errorf("there is no run %s; moon runs lists them", id)
	case id != "" && len(found) > 1:
		return Past{}, fmt.Errorf("%d runs begin with %s, such as %s and %s", len(found), id, found[0].ID, found[1].ID)
	}
	return found[0], nil
}

func look(dir string) (Past, error) {
	p := Past{ID: filepath.Base(dir), Dir: dir}
	r, err := journal.Open(filepath.Join(dir, journalName))
	if err != nil {
		return p, err
	}
	defer r.Close() //nolint:errcheck // only read
	ends := map[int]fact.AttemptFinished{}
	for {
		rec, err := r.Next()
		var damaged *journal.DamageError
		switch {
		case errors.Is(err, io.EOF):
			p.count(ends)
			p.Live = p.Outcome == "" && taken(dir)
			return p, nil
		case errors.As(err, &damaged):
			p.Damaged = damaged.Error()
			p.count(ends)
			return p, nil
		case err != nil:
			return p, err
		}
		p.Ended = rec.At
		switch f := rec.Fact.(type) {
		case fact.RunCreated:
			p.Playbook, p.Root, p.Digest, p.Total, p.Options, p.Started = f.Playbook, f.Root, f.Digest, f.Total, f.Options, rec.At
		case fact.RunReplanned:
			p.Digest, p.Total = f.Digest, f.Total
			clear(ends) // the steps have other numbers now; what is kept is told again only to views
		case fact.RunResumed:
			p.Digest, p.Total, p.Options, p.Outcome = f.Digest, f.Total, f.Options, ""
		case fact.AttemptFinished:
			ends[f.Step] = f
		case fact.RunFinished:
			p.Outcome = f.Outcome
		default:
		}
	}
}

func (p *Past) count(ends map[int]fact.AttemptFinished) {
	for _, f := range ends {
		switch {
		case events.OnFailure.Has(f.Outcome) && !f.Ignored:
			p.Failed++
		case f.Outcome == events.Changed:
			p.Changed++
			p.Done++
		case f.Outcome == events.OK, f.Ignored:
			p.Done++
		}
	}
}

// taken reports whether a process holds the lock of a run.
func taken(dir string) bool {
	path := filepath.Join(dir, "lock")
	if _, err := os.Stat(path); err != nil {
		return false // to try would make the file
	}
	l := flock.New(path)
	ok, err := l.TryRLock()
	if err != nil || !ok {
		return err == nil
	}
	_ = l.Unlock() // closing the file would free it as well
	return false
}

// Remove deletes a run and everything about it. It refuses one that some moon has.
func (p Past) Remove() error {
	if taken(p.Dir) {
		return fmt.Errorf("%s is running", p.ID)
	}
	if err := os.RemoveAll(p.Dir); err != nil {
		return fmt.Errorf("remove %s: %w", p.ID, err)
	}
	return nil
}
