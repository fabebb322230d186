package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// State is the state of a run: a fold of its facts and of nothing else.
//
// Next to its layers are types that exist while they are asked: joins and tally read the board, attempting and decider work on the
// flow, commands on rerunning, a wonderer on all of it.
type State struct{ replanning }

// New is the state before the first fact. emit gets the events that follow from facts; it may be nil.
func New(p *plan.Plan, g *graph.Graph, emit func(step int, e events.Event)) *State {
	s := &State{}
	s.emit = emit
	s.load(p, g)
	return s
}

const noStep = -2

// StepOf is the step whose state a fact changes, or noStep.
func StepOf(f fact.Fact) int {
	switch f := f.(type) {
	case fact.CondEvaluated:
		return f.Step
	case fact.ValuesMissing:
		return f.Step
	case fact.AttemptStarted:
		return f.Step
	case fact.AttemptStopping:
		return f.Step
	case fact.AttemptFinished:
		return f.Step
	case fact.ReadsChanged:
		return f.Step
	case fact.RetryScheduled:
		return f.Step
	case fact.BreakProbed:
		return f.Step
	case fact.GateOpened:
		return f.Step
	case fact.GateResolved:
		return f.Step
	case fact.RunCreated, fact.RunStarted, fact.RunExpects, fact.RunPaused, fact.RunReplanned, fact.RunResumed, fact.RunExported,
		fact.RunFinished,
		fact.ScopeTimedOut, fact.Warned, fact.Commanded, fact.Refused:
	}
	return noStep
}

// Apply folds one fact into the state. An error means that the fact cannot have happened in this state; the state is
// then unchanged.
func (s *State) Apply(r fact.Record) error {
	s.now, s.mono = r.At, r.Mono
	if err := s.check(r.Fact); err != nil {
		return err
	}
	switch f := r.Fact.(type) {
	case fact.RunCreated:
		s.opts = f.Options
		s.setLimits()
	case fact.RunStarted:
		s.start()
	case fact.RunExpects:
		// The session compares; the state only knows how that ended.
	case fact.RunPaused:
		s.setPause(f)
	case fact.RunReplanned:
		return errors.New("run.replanned needs the new plan: use Replan")
	case fact.RunResumed:
		return errors.New("run.resumed needs the plan: use Resume")
	case fact.RunExported:
		s.exported = &f
		if f.Error != "" && s.opts.KeepOpen { // the run waits with it for a person, who must learn of it before its end
			s.publish(-1, events.Warning{Message: "the exports failed: " + f.Error})
		}
	case fact.RunFinished:
		s.finish(f)
	case fact.CondEvaluated:
		s.attempting().condition(f)
	case fact.ValuesMissing:
		if f.Skips {
			s.node(f.Step).byEdges = true
			s.skip(s.id(f.Step), events.SkipNeeds, f.Detail)
		} else {
			n := s.node(f.Step)
			s.settle(s.id(f.Step), events.Omitted, s.missingCause(f), func() {
				s.publish(f.Step, events.StepOmitted{Name: s.name(f.Step), Reason: f.Detail, Cause: ref(n.cause)})
			})
		}
		s.resolve()
	case fact.AttemptStarted:
		s.exported = nil // its result may be exported
		s.attempting().attemptStarted(f)
	case fact.AttemptStopping:
		// Shown by the end of the attempt.
	case fact.AttemptFinished:
		s.attempting().attemptFinished(f)
		s.resolve()
	case fact.ReadsChanged:
		s.attempting().readsChanged(f)
	case fact.RetryScheduled:
		s.attempting().retryScheduled(f)
	case fact.BreakProbed:
		s.breakProbed(f)
	case fact.GateOpened:
		s.attempting().gateOpened(f)
	case fact.GateResolved:
		s.attempting().gateResolved(f)
		s.resolve()
	case fact.ScopeTimedOut:
		s.lapse(f)
		s.resolve()
	case fact.Warned:
		s.publish(f.Step, events.Warning{Message: f.Message})
	case fact.Commanded:
		s.publish(-1, events.CommandAccepted{Order: f.Order})
		s.commands().command(f.Order)
		s.resolve()
	case fact.Refused:
		s.publish(-1, events.CommandRejected{Order: f.Order, Reason: f.Reason})
	}
	if s.limits != nil {
		s.settleLate()
	}
	// After the fact: its step may have been the one that others wait behind to run again.
	s.nextRerun()
	return nil
}

// check looks a step's fact up in the table.
func (s *State) check(f fact.Fact) error {
	step := StepOf(f)
	if step == noStep {
		return nil
	}
	if step < 0 || step >= len(s.plan.Steps) {
		return fmt.Errorf("%s: the plan has no step %d", fact.Kind(f), step)
	}
	states := allowed[fact.Kind(f)]
	// It has never left the queue.
	if end, ok := f.(fact.AttemptFinished); ok && end.Unstarted {
		states = []nodeState{ready}
	}
	if have := s.node(step).state; !slices.Contains(states, have) {
		return fmt.Errorf("%s of %s cannot happen while it is %s", fact.Kind(f), events.StepID(step), have)
	}
	return nil
}

func (s *State) start() {
	s.begun, s.reviewed = true, !s.opts.Review
	s.generation = 1
	started := events.RunStarted{
		TotalSteps: len(s.plan.Steps), Playbook: s.plan.RootFile, Check: s.opts.Check, Forks: s.opts.Forks, Review: s.opts.Review,
	}
	if s.opts.Check {
		started.RealSteps = s.plan.DefyDryRun()
	}
	s.publish(-1, started)
	s.publish(-1, events.PlanLoaded{
		TotalSteps: len(s.plan.Steps), Digest: s.plan.Digest, Generation: s.generation, Times: s.clock.Copy(), Timeout: s.opts.Timeout,
	})
	s.arriveRoots()
	// The pause is published after the plan, so that views have steps to show.
	if s.opts.Review {
		s.setPause(fact.RunPaused{Reason: events.PauseReview, Step: -1})
	}
	s.resolve()
}

func (s *State) finish(f fact.RunFinished) {
	s.finished = true
	sum := s.tally().summary()
	sum.Outcome, sum.Success = f.Outcome, f.Outcome == events.RunDone
	if s.exported != nil && sum.Success {
		sum.Exports = s.exported.Values
	} else if f.Outcome == events.RunFailed {
		sum.Error = s.decider().exportError()
	}
	s.clock.Stop(s.now, s.mono)
	sum.Spent(&s.clock.Times)
	s.publish(-1, sum)
}

// Dump shows every node that has not settled and what it waits for, for the report of a bug.
func (s *State) Dump() string {
	var b strings.Builder
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.state == settled {
			continue
		}
		fmt.Fprintf(&b, "%s %s pending=%d hits=%d misses=%d\n", s.graph.Name(graph.ID(i)), n.state, n.pending, n.hits, n.misses)
		for _, e := range s.graph.In(graph.ID(i)) {
			fmt.Fprintf(&b, "  <- %s (%s) on %s\n", s.graph.Name(e.From), s.nodes[e.From].outcome, e.On)
		}
	}
	return b.String()
}
