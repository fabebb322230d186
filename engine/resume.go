package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"moon/engine/compact"
	"moon/engine/durations"
	"moon/engine/graph"
	"moon/engine/history"
	"moon/engine/journal"
	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/events/rundir"
	"moon/exec"
	"moon/exec/process"
	"moon/plan"
	"moon/plan/bind"
	"moon/plan/saved"
	"moon/plan/sequence"
)

// Resumption is how a run goes on.
type Resumption struct {
	Dir string // of the run; required
	// Planned gives the plans the run had, by digest; required.
	Planned func(digest string) (*plan.Plan, *graph.Graph, error)
	// Lost is what steps are taken for that were running when moon died, or when the connection to their host broke. ""
	// asks: the run is not resumed, and an *UndecidedError names them.
	Lost fact.LostAs
	// RetryFailed says that failed steps are to be run again. Without it a run that has any is not resumed, but for one
	// under review, where a person decides.
	RetryFailed bool
	// Changed says what becomes of steps that ended well and whose definition changed since. "" asks, as Lost does; under review
	// a person decides.
	Changed fact.ChangedAs
	// Confirmed are steps that ask and have been answered. A run that is not under review is not resumed while others
	// would ask, since nobody could answer.
	Confirmed []events.Range
}

// UndecidedError names the steps that somebody must decide about before a run can go on.
type UndecidedError struct {
	Lost, Failed, Asking []string // "step-0003 «name»"
	Changed              []string // done, and defined otherwise since
	ChangedAt            []int    // which steps of the next plan those are
	Dependents           []string // done, and depending on those
	Withheld             []string // gave a secret that is not kept, and changed something, so that they are not simply run again
}

func (e *UndecidedError) Error() string {
	var parts []string
	if len(e.Lost) > 0 {
		parts = append(parts, "it is unknown how they ended:  "+strings.Join(e.Lost, ", "))
	}
	if len(e.Failed) > 0 {
		parts = append(parts, "failed: "+strings.Join(e.Failed, ", "))
	}
	if len(e.Changed) > 0 {
		parts = append(parts, "done, and changed since: "+strings.Join(e.Changed, ", "))
	}
	if len(e.Asking) > 0 {
		parts = append(parts, "ask to be confirmed: "+strings.Join(e.Asking, ", "))
	}
	if len(e.Withheld) > 0 {
		parts = append(parts, "gave a secret that is not kept: "+strings.Join(e.Withheld, ", "))
	}
	return strings.Join(parts, "; ")
}

// ErrFinished is returned for a run in which there is nothing left to do.
var ErrFinished = errors.New("the run is done; there is nothing to resume")

// Resume goes on with a run: with cfg.Plan where the playbook was edited since, or else with the plan it had last. Steps
// that are the same and ended well are not run again. cfg.Runs is not used.
func Resume(cfg Config, how Resumption) (_ *Session, err error) {
	s := newSession(cfg)
	s.dir = how.Dir
	s.id = filepath.Base(how.Dir)
	defer func() { err = journal.OutOfRoom(s.dir, err) }()
	if s.lock, err = history.Lock(s.dir, s.owner); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			// Locked before anything is read: the journal of a run that is alive grows meanwhile.
			err = errors.Join(err, history.Unlock(s.lock))
		}
	}()
	past := &past{session: s, planned: how.Planned}
	s.past = past.load
	w, cut, err := cfg.Disk.Reopen(rundir.Journal(s.dir), past.take)
	if err != nil {
		return nil, err
	}
	s.journal = w
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if s.state == nil || !s.state.Begun() {
		return nil, &history.UnbegunError{Run: s.id}
	}
	if err := s.prior.CatchUp(s.state.Plan()); err != nil {
		return nil, err
	}
	s.ours.cut(past.last)
	s.held.Cut(past.last)
	s.skipped = w.Seq()
	s.durable.Store(w.Seq())
	// Only now is the whole past folded, so that questions about it have answers.
	p := planned{s.state.Plan(), s.state.Graph()}
	if cfg.Plan != nil && cfg.Plan.Digest != p.plan.Digest {
		p = planned{cfg.Plan, cfg.Graph}
		if err := s.keep(p.plan); err != nil {
			return nil, err
		}
	}
	resumed, err := (resumer{&s.observer}).resumption(how, p.plan)
	if errors.Is(err, ErrFinished) {
		// Nothing will run that would record it: moon crashed after its last entry in the journal, and before the playbook's state had it.
		if err := s.prior.Flush(s.state.Plan()); err != nil {
			return nil, fmt.Errorf("record what the run made: %w", err)
		}
	}
	if err != nil {
		return nil, err
	}
	// Room is reserved before anything is ended or killed on behalf of the run.
	if err := w.Reserve(s.dir); err != nil {
		return nil, err
	}
	s.owner.Target = history.TargetOf(p.plan, cfg.Options)
	leave, err := history.Enter(cfg.Disk, rundir.Runs(s.dir), s.id, s.owner)
	if err != nil {
		return nil, err
	}
	err = history.Sign(s.lock, s.owner)
	leave()
	if err != nil {
		return nil, err
	}
	s.hold(p)
	resumed.Generation, resumed.Digest, resumed.Total = s.state.Generation()+1, p.plan.Digest, len(p.plan.Steps)
	resumed.Options, resumed.Cut = cfg.Options, cut
	r := fact.Record{Run: s.id, At: s.began, Fact: resumed}
	if err := s.journal.Append(&r); err != nil {
		return nil, err
	}
	// After the record is appended and before the state moves on: the state still knows what ran.
	killed := (resumer{&s.observer}).endLeft()
	s.current.Store(p.plan)
	s.move(state.Counterparts(p.plan, s.state.Plan(), true), p.plan)
	// The fact is folded by hand, as it needs the plan that no record holds.
	s.state.Resume(r, p.plan, p.graph)
	s.loadDurations(p.plan)
	if killed != "" {
		s.add(fact.Warned{Step: -1, Message: "killed processes that the crashed moon had left running:  " + killed})
	}
	s.findAgain()
	s.timing = durations.NewStopwatch() // what earlier processes measured they have remembered
	s.putFirst()
	s.listen()
	s.meet()
	s.beginLoop()
	return s, nil
}

// resumer finds out where a run that is resumed stands, and what must be decided before it continues.
type resumer struct{ *observer }

// endLeft ends what is still running of steps that ran when moon died: whatever they are taken for, nobody listens to
// them any more, and one that is run again must not run beside itself. It says what that was.
func (s resumer) endLeft() string {
	var attempts []string
	for i := range s.state.Plan().Steps {
		if s.state.Running(i) {
			attempts = append(attempts, s.mark(s.state.Out(i)))
		}
	}
	return process.EndLeft(s.id, attempts)
}

// resumption finds out what must be decided, and decides it as asked. Steps that are not the same in the next plan are
// decided by being edited or removed; but one that was lost may have done its work, whatever it says now.
func (s resumer) resumption(how Resumption, next *plan.Plan) (fact.RunResumed, error) {
	r := fact.RunResumed{PID: s.owner.PID, Host: s.owner.Host, Actor: s.owner.User, Keeps: true, Changed: how.Changed}
	if s.cfg.Options.Review {
		r.Changed = "" // a person decides
	}
	// A finished run with an edited plan has something left to do.
	if s.state.Finished() && s.state.Succeeded() && next.Digest == s.state.Plan().Digest {
		return r, ErrFinished
	}
	undecided := &UndecidedError{}
	at := make(map[int]int, len(next.Steps)) // steps of this plan, and which of the next they are
	for there, i := range state.Counterparts(next, s.state.Plan(), true) {
		at[i] = there
	}
	same := map[int]int{} // steps of the next plan that keep their results, and which of this one they are
	for i := range s.state.Plan().Steps {
		name := s.state.Plan().After([]int{i})
		there, stays := at[i]
		edited := !stays || next.Steps[there].Digest != s.state.Plan().Steps[i].Digest
		if !edited || s.state.Over(i) && stays {
			same[there] = i
		}
		// A step that is no longer in the plan needs no decision.
		switch {
		case s.state.Undecided(i) && !stays:
		case s.state.Undecided(i) && lostFinder(s.state, i):
			r.Lost = append(r.Lost, fact.Lost{Step: i, As: fact.LostRetry})
		case s.state.Undecided(i) && !edited && s.state.Job(i) != "": // its next attempt finds the job, however far it is
			r.Lost = append(r.Lost, fact.Lost{Step: i, As: fact.LostRetry})
		case s.state.Undecided(i):
			r.Lost = append(r.Lost, fact.Lost{Step: i, As: how.Lost})
			if how.Lost == "" {
				undecided.Lost = append(undecided.Lost, name)
			}
		case edited, !s.state.Unresolved(i):
		case !how.RetryFailed && !s.cfg.Options.Review:
			undecided.Failed = append(undecided.Failed, name)
		}
	}
	for i := range next.Steps {
		old, is := same[i]
		answered := slices.ContainsFunc(how.Confirmed, func(r events.Range) bool { return r.Has(i) })
		// An answer from before counts only for a step that has kept its definition.
		// One that certain people confirm was waited for, or would have been: a worker that continues the run waits for them again.
		if ps := &next.Steps[i]; s.mayAsk(ps) && !answered && (!is || ps.Confirmers == nil && !s.state.Answered(old)) {
			undecided.Asking = append(undecided.Asking, next.After([]int{i}))
		}
	}
	s.decideChanged(how, next, same, undecided)
	r.Again, undecided.Withheld = s.withheld(same, next)
	if len(undecided.Lost)+len(undecided.Failed)+len(undecided.Changed)+len(undecided.Asking)+len(undecided.Withheld) > 0 {
		return r, undecided
	}
	return r, nil
}

// decideChanged finds the steps that are done and whose definition changed, if nothing says what becomes of them.
func (s resumer) decideChanged(how Resumption, next *plan.Plan, same map[int]int, undecided *UndecidedError) {
	if how.Changed != "" || s.cfg.Options.Review {
		return
	}
	var changed []int
	for i := range next.Steps {
		// What a play knows ahead of the run is made new with the plan, so it is not an edit.
		old, is := same[i]
		if !is || !s.state.Over(old) || next.KnownAhead(i) {
			continue
		}
		if digest := s.state.RanAs(old); digest != "" && digest != next.Steps[i].Digest {
			changed = append(changed, i)
			undecided.Changed = append(undecided.Changed, next.After([]int{i}))
			undecided.ChangedAt = append(undecided.ChangedAt, i)
		}
	}
	for _, i := range sequence.Dependents(next, changed) {
		if old, is := same[i]; is && s.state.Over(old) {
			undecided.Dependents = append(undecided.Dependents, next.After([]int{i}))
		}
	}
}

// mayAsk reports whether a step asks somebody who is not there.
func (s resumer) mayAsk(ps *plan.Step) bool {
	return ps.Confirm != "" && !s.cfg.Options.Review && !ps.Excluded && ps.Prediction != plan.WillSkip
}

// past folds the records of the processes before this one.
type past struct {
	session *Session
	planned func(digest string) (*plan.Plan, *graph.Graph, error)
	last    time.Time // of its records
}

func (p *past) take(r fact.Record) error {
	s := p.session
	switch f := r.Fact.(type) {
	case fact.RunCreated:
		if f.Format != fact.Format {
			return fmt.Errorf("the run was recorded in format %d; this moon knows %d", f.Format, fact.Format)
		}
		first, err := p.load(f.Digest)
		if err != nil {
			return err
		}
		s.first = first
		s.hold(first)
		s.secrets = first.plan.Secrets()
		s.state = state.New(first.plan, first.graph, s.observe)
	case fact.RunReplanned:
		next, err := p.load(f.Digest)
		if err != nil {
			return err
		}
		s.move(state.Renumbered(next.plan, s.state.Plan(), f), next.plan)
		s.state.Replan(r, next.plan, next.graph)
		return nil
	case fact.RunResumed:
		next, err := p.load(f.Digest)
		if err != nil {
			return err
		}
		s.ours.cut(p.last)
		s.held.Cut(p.last)
		s.move(state.Counterparts(next.plan, s.state.Plan(), f.Keeps), next.plan)
		s.state.Resume(r, next.plan, next.graph)
		return nil
	case fact.AttemptFinished:
		if err := p.restore(f); err != nil {
			return err
		}
	case fact.Commanded:
		s.heard(f.Order, "")
	case fact.Refused:
		s.heard(f.Order, f.Reason)
	default:
	}
	if s.state == nil {
		return errors.New("the journal does not begin with run.created")
	}
	s.ours.see(s.state.Plan(), s.state.Options().Check, r)
	s.held.See(s.state.Plan(), r, exec.Inward)
	s.prior.See(s.state.Plan(), s.state.Options().Check, r)
	p.last = r.At
	return s.state.Apply(r)
}

// load gives a plan that the run had. They are not held: those who follow the run from its beginning ask for them again.
func (p *past) load(digest string) (planned, error) {
	pl, g, err := p.planned(digest)
	return planned{pl, g}, err
}

// restore reads the values that an attempt gave.
func (p *past) restore(f fact.AttemptFinished) error {
	s := p.session
	if s.state != nil && f.Withheld {
		s.results.withhold(f.Step)
		return nil
	}
	if s.state == nil || f.Registered == nil && f.Values == nil && !s.broken(f) {
		// A secret that is not stored makes the result unusable for later steps; who needs it is found out later.
		return nil
	}
	registered, err := compact.Restore(s.blobs(), f.Registered)
	if err != nil {
		return err
	}
	values, err := compact.Restore(s.blobs(), f.Values)
	if err != nil {
		return err
	}
	order, err := compact.Restore(s.blobs(), f.Order)
	if err != nil {
		return err
	}
	registered, ok := s.unseal(registered)
	values, valuesToo := s.unseal(values)
	if !ok || !valuesToo {
		s.results.withhold(f.Step)
		return nil
	}
	if registered != nil {
		if err := s.addLater(f, registered); err != nil {
			return err
		}
	}
	conceal := func(v map[string]any) map[string]any { return s.state.Plan().Conceal(v, false) }
	s.results.keep(f, conceal(registered), conceal(bind.Reorder(values, order)), s.broken(f))
	return nil
}

// unseal is the reverse of seal. It is not ok where a secret was not read in this process.
func (s *attempts) unseal(m map[string]any) (map[string]any, bool) {
	if m == nil {
		return nil, true
	}
	opened, ok := saved.OpenSecrets(s.state.Plan(), s.secrets, m)
	if !ok {
		return nil, false
	}
	out, ok := opened.(map[string]any)
	return out, ok
}

// withheld finds the steps that gave what is not kept and is needed by steps that are still to run. A step that changed nothing is
// run again; of the others somebody must decide.
func (s resumer) withheld(same map[int]int, next *plan.Plan) (again []int, undecided []string) {
	for i := range next.Steps {
		old, is := same[i]
		if !is || !s.results.isWithheld(old) || !s.state.Settled(old) || !next.Steps[i].Open() && !s.hasConsumer(i, same, next) {
			continue
		}
		if s.state.Outcome(old) == events.OK {
			again = append(again, old)
			continue
		}
		undecided = append(undecided, next.After([]int{i}))
	}
	return again, undecided
}

// hasConsumer reports whether a step that is still to run uses what a producer gives.
func (s resumer) hasConsumer(producer int, same map[int]int, next *plan.Plan) bool {
	for i := range next.Steps {
		// A step that keeps its result needs no values any more.
		if old, is := same[i]; is && s.keeps(old) {
			continue
		}
		for _, u := range next.Steps[i].Unknowns {
			if slices.Contains(u.Steps, producer) {
				return true
			}
		}
	}
	return false
}

// keeps reports whether a step that is the same is not run again.
func (s resumer) keeps(step int) bool {
	return s.state.Done(step) || s.state.Settled(step) && s.state.Outcome(step) == events.Skipped
}
