package engine

import (
	"errors"
	"sync/atomic"

	"moon/engine/moves"
	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
	"moon/plan/saved"
)

// steering obeys commands, and puts one plan in the place of another.
type steering struct {
	attempts
	shelf
	current atomic.Pointer[plan.Plan]
	moves   moves.List
	growing *growth // the plan with more rounds that is being made
}

// obey journals a command before it acts. It says why it is refused, or "".
func (s *steering) obey(o events.Order) string {
	if s.fatal != nil {
		// A run without a journal can still be stopped, or its steps would run unrecorded.
		if stop, ok := o.Command.(events.Stop); ok {
			s.stopRunning(stop.How)
		}
		return hasEnded
	}
	command, why := s.moves.Renumbered(o.Command, o.Plan, s.state.Plan().Digest)
	if why == "" {
		o.Command = command
		why = s.state.Refuse(o)
	}
	var next planned
	if why == "" && len(s.found) > 0 { // also by a process before this one, where no step runs
		switch o.Command.(type) {
		case events.Set, events.Fix:
			why = state.StillRunning
		default:
		}
	}
	switch c := o.Command.(type) {
	case events.Set:
		if why == "" {
			next, why = s.again(s.state.Plan().With(c.Variable))
		}
	case events.Fix:
		if why == "" {
			next, why = s.again(s.state.Plan().WithOverrides(Overridden(s.state.Plan(), c)))
		}
		// The values are replaced by nothing before they are recorded; the plan knows by now which are secret.
		o.Command = withoutSecrets(c, next.plan)
	default:
	}
	if why != "" {
		s.add(fact.Refused{Order: o, Reason: why})
		return why
	}
	s.add(fact.Commanded{Order: o})
	fix, fixed := o.Command.(events.Fix)
	var before []int // that are outdated already
	if fix.Rerun {
		// Under their new numbers, so that only those that this override makes outdated run again.
		before = renumber(s.state.Outdated(events.Range{To: len(s.state.Plan().Steps)}), next.plan, s.state.Plan())
	}
	if next.plan != nil {
		if err := s.replace(next, fact.RunReplanned{Fixed: fixed && saved.SameFiles(next.plan, s.state.Plan())}); err != nil {
			return err.Error()
		}
	}
	if fixed && fix.Rerun {
		if why := s.rerunOutdated(o, before); why != "" {
			return why
		}
	}
	if fixed && fix.Retry != "" {
		return s.retryFixed(o, fix.Retry)
	}
	if a, ok := o.Command.(events.Answer); ok {
		s.add(fact.GateResolved{Step: a.Step, By: o.Actor, Reject: a.Reject})
	}
	s.stopRunning(s.state.Stopping())
	return ""
}

// again plans the playbook again with other values, or says why that cannot be. Nothing runs meanwhile, so nothing has to wait
// for it.
func (s *steering) again(o plan.Options) (planned, string) {
	o.Reads = s.ours.adopt(s.state.Plan())
	p, g, ds := Build(o)
	if p == nil {
		return planned{}, "with that the playbook cannot be planned: " + firstMistake(ds)
	}
	next := planned{p, g}
	s.hold(next)
	return next, ""
}

// edit takes over the plan of an edited playbook, unless it is the one there is.
func (s *steering) edit(p planned) error {
	if err := s.replaceable(); err != nil || s.state.Plan().Digest == p.plan.Digest {
		return err
	}
	return s.replace(p, fact.RunReplanned{})
}

func (s *steering) replaceable() error {
	switch {
	case len(s.running) > 0:
		return errors.New(state.StillRunning)
	case len(s.found) > 0:
		return errors.New(state.StillRunning)
	case s.fatal != nil || s.state.Finished():
		return errors.New("the run has ended")
	}
	return nil
}

// replace swaps the plan of a run in which nothing runs. The other may have the same digest: with other values of a step with no_log,
// which it does not show. f says how it comes about.
func (s *steering) replace(p planned, f fact.RunReplanned) error {
	if err := s.replaceable(); err != nil {
		return err
	}
	return s.swap(p, f)
}

// swap replaces the plan, whatever runs. What has begun continues under the number that its step has then.
func (s *steering) swap(p planned, f fact.RunReplanned) error {
	if err := s.keep(p.plan); err != nil {
		s.fail(err)
		return err
	}
	now := s.cfg.Now()
	of := state.Renumbered(p.plan, s.state.Plan(), f)
	if len(f.Expanded) > 0 {
		f.Added = state.Added(of)
	}
	f.Generation, f.Digest, f.Total, f.Keeps = s.state.Generation()+1, p.plan.Digest, len(p.plan.Steps), true
	r := fact.Record{Run: s.id, At: now, Mono: now.Sub(s.began), Fact: f}
	if err := s.journal.Append(&r); err != nil {
		s.fail(err)
		return err
	}
	s.moves.Note(s.state.Plan().Digest, len(s.state.Plan().Steps), &f)
	s.move(of, p.plan)
	s.running, s.found, s.perhaps = moved(s.running, of), moved(s.found, of), moved(s.perhaps, of)
	for step, a := range s.running {
		a.step = step
	}
	s.state.Replan(r, p.plan, p.graph)
	s.current.Store(p.plan)
	return nil
}

// refresh plans a run under review again after files have changed that its steps read, so that what a person approves is what there is.
func (s *steering) refresh() {
	if !s.stale || len(s.running) > 0 || len(s.found) > 0 || s.fatal != nil || s.state.Finished() {
		return
	}
	s.stale = false
	// With the same options: only the files differ.
	next, why := s.again(s.state.Plan().Again())
	if why == "" { // also with the same digest, which does not cover what no_log hides
		if err := s.replace(next, fact.RunReplanned{}); err != nil {
			why = err.Error()
		}
	}
	if why != "" {
		s.add(fact.Warned{Step: -1, Message: why})
	}
}
