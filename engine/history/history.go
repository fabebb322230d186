package history

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
	"moon/events/rundir"
)

// Past is a run as its journal tells it without its plan.
type Past struct {
	ID       string
	Dir      string
	Playbook string // relative to Root
	Root     string
	Moon     string       // version it was started by
	Actor    string       // who started it
	Host     string       // where
	Digest   string       // of its last plan
	Digests  []string     // of all its plans, the first one first
	Resumed  uint64       // the record with which it was resumed last; 0 if it never was
	Options  fact.Options // as it was started or resumed last
	Started  time.Time
	Ended    time.Time         // of the last record
	Ran      time.Duration     // of the time between, without that between two processes; see events.Clock
	Waited   time.Duration     // for a person
	Outcome  events.RunOutcome // "" if it has not ended: it runs, or moon died
	Live     bool              // some moon has it
	Owner    Owner             // which, if it is live and says so
	Total    int               // steps of its last plan
	Done     int               // steps that succeeded, changed ones included
	Changed  int
	Failed   int            // failures that nothing made good
	Exports  map[string]any // of a run that is done; nil if its playbook exports nothing
	Error    string         // why it failed although no step did
	Damaged  string         // why its journal could not be read to the end
}

// List lists the runs in a directory, the latest first: at most so many, or all where limit is 0. It reads the journals
// of those alone; more says how many others there are, counted by their names. A directory that holds no run is left
// out; a missing one has no runs.
func List(runs string, limit int) (list []Past, more int, err error) {
	names, err := runNames(runs)
	if err != nil {
		return nil, 0, err
	}
	read := 0
	// Names are in the order of the seconds in which runs were started. Within a second only the journals know.
	for ; read < len(names); read++ {
		if limit > 0 && len(list) >= limit && second(names[read]) != second(names[read-1]) {
			break
		}
		p, err := look(rundir.Of(runs, names[read]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Past) int {
		if d := b.Started.Compare(a.Started); d != 0 {
			return d
		}
		return strings.Compare(b.ID, a.ID)
	})
	more = len(names) - read
	if limit > 0 && len(list) > limit {
		more += len(list) - limit
		list = list[:limit]
	}
	return list, more, nil
}

// IDTime is how the id of a run begins: the second in which it was started, in UTC.
const IDTime = "20060102-150405"

func second(id string) string { return id[:len(IDTime)] }

// runNames are the names of a directory that are ids of runs, the latest second first.
func runNames(runs string) ([]string, error) {
	entries, err := os.ReadDir(runs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the runs: %w", err)
	}
	var names []string
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && len(name) > len(IDTime) {
			if _, err := time.Parse(IDTime, second(name)); err == nil {
				names = append(names, name)
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	return names, nil
}

// Find gives the run with an id, or whose id begins so; "" is the latest. It reads that run's journal alone.
func Find(runs, id string) (Past, error) {
	if id == "" {
		list, _, err := List(runs, 1)
		if err == nil && len(list) == 0 {
			err = errNoRuns
		}
		if err != nil {
			return Past{}, err
		}
		return list[0], nil
	}
	names, err := runNames(runs)
	if err != nil {
		return Past{}, err
	}
	if len(names) == 0 {
		return Past{}, errNoRuns
	}
	var found []string
	for _, name := range names {
		if strings.HasPrefix(name, id) {
			found = append(found, name)
		}
	}
	switch {
	case slices.Contains(found, id):
		return begun(rundir.Of(runs, id))
	case len(found) == 0:
		return Past{}, fmt.Errorf("there is no run %s; moon runs lists them", id)
	case len(found) > 1:
		return Past{}, fmt.Errorf("%d runs begin with %s, such as %s and %s", len(found), id, found[0], found[1])
	}
	return begun(rundir.Of(runs, found[0]))
}

// begun reads a run that was asked for by its name.
func begun(dir string) (Past, error) {
	p, err := look(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return p, &UnbegunError{Run: p.ID}
	}
	return p, err
}

// UnbegunError says that moon was killed before a run had its first record.
type UnbegunError struct {
	Run    string
	Before string // the run before it, if there is one and the latest was asked for
}

func (e *UnbegunError) Error() string {
	const why = "had not begun when moon ended: nothing of it ran; start it again"
	if e.Before == "" {
		return e.Run + " " + why
	}
	return fmt.Sprintf("the latest run, %s, %s\nor name the one before it: %s", e.Run, why, e.Before)
}

// Latest gives the latest run that has begun. If there are later ones that had not, the error is an *UnbegunError of the last of them,
// and the run is given all the same.
func Latest(runs string) (Past, error) {
	p, err := Find(runs, "")
	if err != nil && !errors.Is(err, errNoRuns) {
		return p, err
	}
	later, lerr := Unbegun(runs, p)
	switch {
	case lerr != nil:
		return p, lerr
	case len(later) > 0:
		return p, &UnbegunError{Run: later[0].ID, Before: p.ID}
	}
	return p, err
}

// Unbegun are the runs that had no record yet when moon was killed, the latest first: those after another one, or all. A run that a
// process is about to begin is not one of them.
func Unbegun(runs string, after Past) (list []Past, err error) {
	names, err := runNames(runs)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		p := Past{ID: name, Dir: rundir.Of(runs, name)}
		info, err := os.Stat(p.Dir)
		if err != nil {
			continue // it is just being removed
		}
		p.Started = info.ModTime() // the last file was made then
		if after.ID != "" && (second(name) < second(after.ID) || second(name) == second(after.ID) && !p.Started.After(after.Started)) {
			continue
		}
		if _, err := look(p.Dir); errors.Is(err, fs.ErrNotExist) && !Taken(p.Dir) {
			list = append(list, p)
		}
	}
	return list, nil
}

// FindLive gives the latest run that some moon has.
func FindLive(runs string) (Past, error) {
	names, err := runNames(runs)
	if err != nil {
		return Past{}, err
	}
	// A lock file alone proves nothing: a process that was killed leaves it.
	for _, name := range names {
		dir := rundir.Of(runs, name)
		if !Taken(dir) {
			continue
		}
		p, err := look(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it is just being made
		case err != nil:
			return Past{}, err
		case p.Live:
			return p, nil
		}
	}
	return Past{}, errors.New("no run is live; moon runs lists those there were")
}

var errNoRuns = errors.New("there are no runs yet")

func look(dir string) (p Past, err error) {
	p = Past{ID: filepath.Base(dir), Dir: dir}
	r, err := journal.Open(rundir.Journal(dir))
	if err != nil {
		return p, err
	}
	defer r.Close() //nolint:errcheck // only read
	ends := map[int]fact.AttemptFinished{}
	times := outline{bare: true, attempts: map[int]fact.AttemptStarted{}}
	defer func() { p.Ran, p.Waited = times.run.Clock.Ran, times.run.Clock.Waited }()
	planned := func(digest string, total int) {
		p.Digest, p.Total = digest, total
		if !slices.Contains(p.Digests, digest) {
			p.Digests = append(p.Digests, digest)
		}
	}
	for {
		rec, err := r.Next()
		var damaged *journal.DamageError
		switch {
		case errors.Is(err, io.EOF) && p.Started.IsZero():
			return p, fs.ErrNotExist // moon died, or is, between making the journal and its first record
		case errors.Is(err, io.EOF):
			p.count(ends)
			if p.Live = p.Outcome == "" && Taken(dir); p.Live {
				p.Owner = ownerOf(dir)
			}
			return p, nil
		case errors.As(err, &damaged):
			p.Damaged = damaged.Error()
			p.count(ends)
			return p, nil
		case err != nil:
			return p, err
		}
		p.Ended = rec.At
		times.current = rec
		times.take(rec.Fact)
		times.run.Clock.Stop(rec.At, rec.Mono)
		switch f := rec.Fact.(type) {
		case fact.RunCreated:
			p.Playbook, p.Root, p.Options, p.Started = f.Playbook, f.Root, f.Options, rec.At
			p.Moon, p.Actor, p.Host = f.Moon, f.Actor, f.Host
			planned(f.Digest, f.Total)
		case fact.RunReplanned:
			ends = renumbered(ends, p.Total, f)
			planned(f.Digest, f.Total)
		case fact.RunResumed:
			p.Options, p.Outcome, p.Resumed = f.Options, "", rec.Seq
			p.Exports, p.Error = nil, ""
			p.Done, p.Changed, p.Failed = 0, 0, 0
			if f.Digest != p.Digest {
				clear(ends)
			}
			planned(f.Digest, f.Total)
		case fact.AttemptFinished:
			ends[f.Step] = f
		case fact.RunFinished:
			p.Exports, p.Error = times.exportedBy(f.Outcome)
			p.Outcome, p.Done, p.Changed, p.Failed = f.Outcome, f.Counts.Done, f.Counts.Changed, f.Counts.Failed
		default:
		}
	}
}

// renumbered are the ends of steps with their numbers in the plan that comes after one of so many steps. A plan that grows gains some.
// After an edit they are not known: what is kept is known again at the end of the run.
func renumbered(ends map[int]fact.AttemptFinished, steps int, f fact.RunReplanned) map[int]fact.AttemptFinished {
	moved := map[int]fact.AttemptFinished{}
	if len(f.Expanded) == 0 {
		return moved
	}
	now := 0
	for before := range steps {
		for slices.ContainsFunc(f.Added, func(r events.Range) bool { return r.Has(now) }) {
			now++
		}
		if end, ok := ends[before]; ok {
			moved[now] = end
		}
		now++
	}
	return moved
}

// count counts the steps of a run that has not ended. One that has says it itself.
func (p *Past) count(ends map[int]fact.AttemptFinished) {
	if p.Outcome != "" {
		return
	}
	for _, f := range ends {
		switch {
		case f.Rescued: // neither done nor failed
		case events.Bad.Has(f.Outcome) && !f.Ignored:
			p.Failed++
		case f.Outcome == events.Changed:
			p.Changed++
			p.Done++
		case f.Outcome == events.OK, f.Ignored:
			p.Done++
		}
	}
}

// Taken reports whether a process holds the lock of a run.
func Taken(dir string) bool {
	if _, err := os.Stat(rundir.Lock(dir)); err != nil {
		return false // to try would make the file
	}
	l := flock.New(rundir.Lock(dir))
	// A shared lock: two that look at the same time do not keep each other out.
	ok, err := journal.TryLock(l.TryRLock)
	if err != nil || !ok {
		return err == nil
	}
	_ = l.Unlock() // closing the file would free it as well
	return false
}

// Remove deletes a run and everything about it. It refuses one that some moon has.
func (p Past) Remove() error {
	if Taken(p.Dir) {
		return fmt.Errorf("%s is running", p.ID)
	}
	if err := os.RemoveAll(p.Dir); err != nil {
		return fmt.Errorf("remove %s: %w", p.ID, err)
	}
	return nil
}
