package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"moon/engine/exact"
	"moon/engine/history"
	"moon/engine/journal"
	"moon/engine/state"
	"moon/engine/statefile"
	"moon/events"
	"moon/events/fact"
	"moon/events/rundir"
	"moon/exec"
	"moon/exec/fault"
	"moon/secret"
)

// ledger is where everything that happens to the run is recorded: it writes facts to the journal and folds them. What runs is
// known here because it is stopped when nothing can be recorded any more.
type ledger struct {
	id      string
	dir     string
	cfg     Config
	owner   history.Owner
	lock    *flock.Flock
	journal *journal.Writer
	state   *state.State
	secrets *secret.Set
	began   time.Time
	durable atomic.Uint64 // the last record that is certain to stay; none after it is published
	news    *news
	prior   *statefile.Recorder
	ours    *ours             // files that steps of this run have changed
	held    exact.Watch       // what its steps were predicted to do, if the run is held to that
	texts   map[string]string // texts of files that are kept: by digest, their names

	running map[int]*attempt
	stopped events.StopHow
	trouble error // why the run is being brought to its end while that can still be recorded
	fatal   error // why nothing can be recorded any more
	cause   uint64
}

// makeDir makes the run's directory with its lock and journal, or nothing.
func (s *ledger) makeDir() (err error) {
	disk := s.cfg.Disk
	err = disk.MkdirAll(s.cfg.Runs)
	// Many runs may begin in the same second, and two of them draw the same.
	for draws, taken := 0, err == nil; taken && draws < 100; draws++ {
		var suffix [2]byte
		rand.Read(suffix[:])
		s.id = s.began.UTC().Format(history.IDTime) + "-" + hex.EncodeToString(suffix[:])
		s.dir = rundir.Of(s.cfg.Runs, s.id)
		err = disk.Mkdir(s.dir)
		taken = errors.Is(err, fs.ErrExist)
	}
	if err != nil {
		return fmt.Errorf("make the run directory: %w", err)
	}
	defer func() {
		if err != nil { // what is left would look like a run that had not begun when moon was killed
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
	}()
	if err := disk.Mkdir(s.OutDir()); err != nil {
		return fmt.Errorf("make the run directory: %w", err)
	}
	if s.lock, err = history.Lock(s.dir, s.owner); err != nil {
		return err
	}
	s.journal, err = disk.Create(rundir.Journal(s.dir)) // with it what else is in the directory is certain to stay
	if err == nil {
		// The name of the run's directory is durable before its first step: a step without a record could not be found.
		err = disk.SyncDir(s.cfg.Runs)
	}
	if err != nil {
		return errors.Join(err, history.Unlock(s.lock))
	}
	return nil
}

// ID is the run's name in the history.
func (s *ledger) ID() string { return s.id }

// Dir is the run's directory.
func (s *ledger) Dir() string { return s.dir }

func (s *ledger) blobs() journal.Blobs {
	return s.cfg.Disk.BlobsBeside(rundir.Journal(s.dir))
}

// OutDir is where the output files of the steps are.
func (s *ledger) OutDir() string { return rundir.Output(s.dir) }

// add records a fact and folds it.
func (s *ledger) add(f fact.Fact) {
	// Nothing is recorded after a failed write: what is in the file is unknown, and a gap would be worse.
	if s.fatal != nil {
		return
	}
	now := s.cfg.Now()
	r := fact.Record{Run: s.id, At: now, Mono: now.Sub(s.began), Cause: s.cause, Fact: s.redacted(f)}
	// Journal first, state second: a fact that is folded and not recorded would be forgotten by a resume.
	if err := s.journal.Append(&r); err != nil {
		s.fail(err)
		return
	}
	if err := s.state.Apply(r); err != nil {
		s.fail(fmt.Errorf("internal error: %w", err))
	}
	s.ours.see(s.state.Plan(), s.state.Options().Check, r)
	s.held.See(s.state.Plan(), r, exec.Inward)
	s.prior.See(s.state.Plan(), s.state.Options().Check, r)
}

// retire brings a run to its end that can still be recorded, but not for long, or not whole: what runs may end, and
// nothing else starts.
func (s *ledger) retire(err error) {
	if s.trouble != nil || s.fatal != nil || s.state.Finished() {
		return
	}
	s.trouble = err
	s.add(fact.Warned{Step: -1, Message: fmt.Sprintf("the run stops: %s", err)})
	// The drain is a command like one of a person, so that a fold of the journal stops at the same place.
	s.add(fact.Commanded{Order: events.Order{Actor: "moon", Command: events.Stop{How: events.StopDrain}}})
}

// fail ends the run because it cannot be recorded any more. What runs is stopped.
func (s *ledger) fail(err error) {
	if s.fatal == nil {
		s.fatal = err
	}
	s.stopRunning(events.StopInterrupt)
}

// sync makes what was recorded durable, and only then known.
func (s *ledger) sync() {
	if s.fatal != nil || !s.journal.Pending() {
		return
	}
	if err := s.journal.Sync(); err != nil {
		s.fail(err)
		return
	}
	// Followers read up to here and no further, so they never show what a loss of power could take back.
	s.durable.Store(s.journal.Seq())
	s.news.poke()
}

// stopRunning brings what runs to an end, as hard as asked. Each way is gone through once.
func (s *ledger) stopRunning(how events.StopHow) {
	// A stop can only become harder. Weaker ones come too late.
	if !state.Harder(how, s.stopped) {
		return
	}
	s.stopped = how
	for step, a := range s.running {
		s.stopAttempt(step, a)
	}
}

func (s *ledger) stopAttempt(step int, a *attempt) {
	switch s.stopped {
	case events.StopInterrupt:
		s.add(fact.AttemptStopping{Step: step, Signal: "INT"})
		a.cancel(fault.Interrupt)
	case events.StopNow:
		s.add(fact.AttemptStopping{Step: step, Signal: "KILL"})
		if !a.nowing {
			a.nowing = true
			close(a.now)
		}
		a.cancel(fault.Interrupt)
	case events.StopDrain:
	}
}

// broken reports whether a step has failed whose rescue is notified.
func (s *ledger) broken(f fact.AttemptFinished) bool {
	return brokenBy(f) && s.state.HasRescue(f.Step)
}

func brokenBy(f fact.AttemptFinished) bool {
	return events.Bad.Has(f.Outcome) && !f.Ignored && !f.Stale
}

// attempt is a step that runs.
type attempt struct {
	step   int // its number in the plan that the run has now
	job    *exec.Job
	run    func() // all of it; it reports at its end
	waits  bool   // it may run on the thread of the loop
	cancel context.CancelCauseFunc
	now    chan struct{}
	nowing bool
}

func (s *ledger) dry(step int) bool {
	return s.state.Plan().Steps[step].Dry(s.state.Options().Check)
}

// mark is what the processes of an attempt are known by.
func (s *ledger) mark(out string) string { return s.id + "/" + out }
