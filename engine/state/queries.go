package state

import (
	"slices"
	"time"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// Plan is the plan that the run has now.
func (s *State) Plan() *plan.Plan { return s.plan }

// Graph is the execution graph of the plan.
func (s *State) Graph() *graph.Graph { return s.graph }

// Options are those that the run was started or resumed with.
func (s *State) Options() fact.Options { return s.opts }

// Begun reports whether the run has started.
func (s *State) Begun() bool { return s.begun }

// Finished reports whether the run has ended.
func (s *State) Finished() bool { return s.finished }

// Reviewed reports whether the review is over, or there was none.
func (s *State) Reviewed() bool { return s.reviewed }

// Generation is how many plans the run has had.
func (s *State) Generation() int { return s.generation }

// StoppedByUser reports whether the user has stopped the run.
func (s *State) StoppedByUser() bool { return s.stopped() }

// Schedules reports whether an attempt that failed waits for the time of the next one to be decided.
func (s *State) Schedules() bool { return len(s.again) > 0 }

// Stopping is how what runs is to be stopped.
func (s *State) Stopping() events.StopHow { return s.stop }

// Time is when the last fact happened, by the clock and since the process began.
func (s *State) Time() (at time.Time, mono time.Duration) { return s.now, s.mono }

// AnyStarted reports whether a step of the plan was ever tried.
func (s *State) AnyStarted() bool {
	for i := range s.nodes {
		if s.nodes[i].attempt > 0 {
			return true
		}
	}
	return false
}

// Attempt is the number of a step's last attempt; 0 if there was none.
func (s *State) Attempt(step int) int { return int(s.node(step).attempt) }

// Job is the job in the background that a step has started, if it is not known how that has ended; otherwise "".
func (s *State) Job(step int) string { return s.jobs[step] }

// Outcome is how a step ended, or its last attempt did that waits for a decision.
func (s *State) Outcome(step int) events.Outcome { return s.node(step).outcome }

// Fate says what a step that has ended was, so that it has given no value.
func (s *State) Fate(step int) string {
	if s.ends[step] != nil && s.ends[step].marked {
		return "marked as done by hand, and has no result"
	}
	return s.Outcome(step).String()
}

// Running reports whether an attempt of a step runs.
func (s *State) Running(step int) bool { return s.node(step).state == running }

// Settled reports whether a step has ended.
func (s *State) Settled(step int) bool { return s.node(step).state == settled }

// NotBegun reports whether a step has neither been tried nor settled.
func (s *State) NotBegun(step int) bool {
	n := s.node(step)
	return (n.state == pending || n.state == ready) && !s.retriesHere(step)
}

// AwaitsDecision reports whether a step failed and a person decides what becomes of it.
func (s *State) AwaitsDecision(step int) bool {
	return s.node(step).state == failed || s.retriesHere(step)
}

// Unresolved reports whether a step failed, and nothing has made up for it: it is neither ignored nor has a rescue.
func (s *State) Unresolved(step int) bool {
	n := s.node(step)
	rescued := s.HasRescue(step) && !s.isStale(step)
	return (n.state == settled || n.state == failed) && events.Bad.Has(n.outcome) && s.own(s.id(step)) != events.OK && !rescued
}

// HasRescue reports whether a failure of a step leads to a rescue.
func (s *State) HasRescue(step int) bool { return s.graph.Nodes[s.id(step)].Rescued }

// Answered reports whether a step that asks for a confirmation need not ask any more: it was confirmed or excluded, or has succeeded.
func (s *State) Answered(step int) bool {
	n := s.node(step)
	ended := n.state == settled && (n.outcome == events.OK || n.outcome == events.Changed || n.outcome == events.Skipped)
	return s.choices[step]&(confirmed|excluded) != 0 || ended
}

// RanAs is the digest of a step as it was run; "" if it was not, or the journal does not say.
func (s *State) RanAs(step int) string {
	if end := s.ends[step]; end != nil {
		return end.digest
	}
	return ""
}

// Out is the prefix of the output files of a step that runs.
func (s *State) Out(step int) string { return s.outs[step] }

// LastError is why the last attempt of a step failed that is tried again.
func (s *State) LastError(step int) string { return s.errors[step] }

// Breakpoint is the breakpoint of a step that does not simply stop.
func (s *State) Breakpoint(step int) events.Break { return s.breaks[step].Break }

// Refuse says why a command cannot be obeyed now, or "".
func (s *State) Refuse(o events.Order) string { return s.commands().refuse(o.Command, o.By) }

// Next decides what the run does now. It looks at nothing but the state and the time.
func (s *State) Next(now time.Time) Decision { return s.decider().next(now) }

// Succeeded reports whether the run, nothing of which is left, ends with success.
func (s *State) Succeeded() bool { return s.decider().succeeds() }

// Summary is what the run has come to so far.
func (s *State) Summary() events.RunCompleted { return s.tally().summary() }

// Unexplained are the steps that were not run although nothing says why; there must be none.
func (s *State) Unexplained() []int { return s.tally().unexplained() }

// RanOut says why a step that runs is to be interrupted: the scope that it is in has no time left. "" if it has.
func (s *State) RanOut(step int) string {
	if l, scope := s.late(step); l != nil && s.node(step).state == running {
		return s.overText(scope)
	}
	return ""
}

// Unheard is the name of a handler that a step notifies with what it or another item of its loop has changed, and that there is not.
func (s *State) Unheard(f fact.AttemptFinished) (name string, is bool) {
	if f.Outcome != events.Changed && f.Outcome != events.OK || f.Notified == nil {
		return "", false
	}
	p := s.plan
	changed := f.Outcome == events.Changed
	var said []string
	for _, i := range p.Steps[f.Step].Task.Notify.Steps {
		if end := s.ends[i]; end != nil && i != f.Step {
			changed = changed || events.OnChanged.Has(s.node(i).effective)
			said = append(said, end.names...)
		}
	}
	known := p.Steps[f.Step].Task.Notify.Known
	if !changed {
		return "", false
	}
	clean := p.Secrets().Redact
	for _, name := range append(said, f.Notified...) {
		if !slices.ContainsFunc(known, func(one string) bool { return clean(one) == clean(name) }) {
			return name, true
		}
	}
	return "", false
}
