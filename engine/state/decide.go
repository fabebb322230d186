package state

import (
	"container/heap"
	"slices"
	"time"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
)

// decider looks for what the run does next. It takes what cannot start out of the heap of what is ready, and changes nothing else.
type decider struct{ *flow }

func (s *flow) decider() decider { return decider{s} }

// Decision is what the run does next. The session carries it out and journals it as a fact; the fact changes the
// state.
type Decision interface{ decision() }

type (
	// Evaluate finds out whether the condition of a step holds.
	Evaluate struct{ Step int }
	// Start begins an attempt of a step.
	Start struct{ Step, Attempt int }
	// Lapse ends a scope whose steps have taken longer than they may together.
	Lapse struct{ Scope int }
	// Expire ends a step that has waited for a slot too long.
	Expire struct{ Step int }
	// Probe finds out whether the breakpoint of a step stops here.
	Probe struct{ Step int }
	// Schedule gives the next attempt of a step its time.
	Schedule struct{ Step, Attempt int }
	// OpenGate asks the question of a step.
	OpenGate struct{ Step int }
	// Unasked ends a run without a review, in which nobody is there to confirm a step that was added and asks.
	Unasked struct{ Step int }
	// Pause holds the run.
	Pause struct{ fact.RunPaused }
	// Export evaluates what the playbook exports, when all has ended and nothing failed.
	Export struct{}
	// Finish ends the run.
	Finish struct{ Outcome events.RunOutcome }
	// Idle says that there is nothing to do before a report, a command, or that time.
	Idle struct{ Until time.Time }
	// Stuck must be impossible: nothing runs, nothing can start, and something is left.
	Stuck struct{}
)

func (Evaluate) decision() {}
func (Start) decision()    {}
func (Probe) decision()    {}
func (Expire) decision()   {}
func (Lapse) decision()    {}
func (Schedule) decision() {}
func (OpenGate) decision() {}
func (Unasked) decision()  {}
func (Pause) decision()    {}
func (Export) decision()   {}
func (Finish) decision()   {}
func (Idle) decision()     {}
func (Stuck) decision()    {}

// next decides what the run does now. It looks at nothing but the state and the time.
func (s decider) next(now time.Time) Decision {
	if !s.begun || s.finished {
		return Idle{}
	}
	// Time that is over comes first: nothing may start in it, also while the run is paused.
	until, over := s.dueLimit(now)
	if over >= 0 {
		return Lapse{over}
	}
	d := s.choose(now)
	if idle, ok := d.(Idle); ok && !until.IsZero() && (idle.Until.IsZero() || until.Before(idle.Until)) {
		return Idle{until}
	}
	return d
}

// choose decides what the run does while there is time.
func (s decider) choose(now time.Time) Decision {
	// Failures come first: nothing else is decided while one waits for a person.
	if len(s.held) > 0 && (!s.paused || s.pause.Reason != events.PauseFailure) && !s.halting {
		return Pause{fact.RunPaused{Reason: events.PauseFailure, Step: s.held[0]}}
	}
	if len(s.again) > 0 {
		id := s.again[0]
		return Schedule{int(s.graph.Nodes[id].Step), int(s.nodes[id].attempt) + 1}
	}
	// What a person has asked for by name runs in spite of a pause.
	for _, id := range s.solo {
		switch step := int(s.graph.Nodes[id].Step); {
		case !s.slot(id), s.isLate(step):
		case s.conditional(step) && !s.nodes[id].decided:
			return Evaluate{step}
		default:
			return s.begin(id)
		}
	}
	until, due := s.dueRetry(now)
	if due >= 0 {
		return Start{int(s.graph.Nodes[due].Step), int(s.nodes[due].attempt) + 1}
	}
	// Everything below starts steps by itself, which a pause forbids.
	if s.waits() && !s.leaving { // one can leave only when all has ended
		return Idle{until}
	}
	if s.active < s.opts.Forks {
		if d := s.pick(); d != nil {
			return d
		}
	}
	// Only steps that wait for a slot can be too late, so this comes after everything that could have started.
	over, id := s.overdue(now)
	switch {
	case id >= 0 && s.conditional(int(s.graph.Nodes[id].Step)) && !s.nodes[id].decided:
		heap.Remove(&s.ready, slices.Index(s.ready.ids, id))
		return Evaluate{int(s.graph.Nodes[id].Step)}
	case id >= 0:
		return Expire{int(s.graph.Nodes[id].Step)}
	case !over.IsZero() && (until.IsZero() || over.Before(until)):
		until = over
	}
	// Something is under way and will bring a new decision.
	if s.active > 0 || s.open > 0 || len(s.delayed) > 0 {
		return Idle{until}
	}
	return s.ended()
}

// ended decides when nothing runs and nothing can start.
func (s decider) ended() Decision {
	if s.left == 0 {
		return s.conclude()
	}
	s.fenced = slices.DeleteFunc(s.fenced, func(id graph.ID) bool { return s.nodes[id].state != ready }) // excluded meanwhile
	if len(s.fenced) > 0 {
		id := slices.Min(s.fenced)
		return Pause{fact.RunPaused{Reason: events.PauseStep, Step: int(s.graph.Nodes[id].Step)}}
	}
	return Stuck{}
}

func (s decider) conclude() Decision {
	bad := s.counts.Failed+s.counts.Lost+s.counts.Cancelled > s.tally().forgiven()
	bad = bad || s.counts.Omitted > 0 && len(s.tally().unexplained()) > 0
	bad = bad || s.exported != nil && s.exported.Error != ""
	asks := bad || len(s.Outdated(events.Range{To: len(s.plan.Steps)})) > 0
	switch {
	case s.stop != "" && s.haltCause < 0 && s.signalled:
		return Finish{events.RunInterrupted}
	case s.stop != "" && s.haltCause < 0:
		return Finish{events.RunStopped}
	case asks && s.opts.KeepOpen && !s.leaving && !s.paused:
		return Pause{fact.RunPaused{Reason: events.PauseEnd, Step: -1, Message: s.exportError()}}
	case asks && s.opts.KeepOpen && !s.leaving:
		return Idle{}
	case bad:
		return Finish{events.RunFailed}
	case s.exported == nil && len(s.plan.Exports) > 0 && !s.opts.Check:
		return Export{}
	}
	return Finish{events.RunDone}
}

// succeeds reports whether nothing is left that could fail, but for exports that were not evaluated.
func (s decider) succeeds() bool {
	switch d := s.conclude().(type) {
	case Export:
		return true
	case Finish:
		return d.Outcome == events.RunDone
	default:
		return false
	}
}

// exportError is why the exports failed, or "".
func (s decider) exportError() string {
	if s.exported == nil {
		return ""
	}
	return s.exported.Error
}

// pick decides about the next ready node. It returns nil when there is none, or none that may start now.
func (s decider) pick() Decision {
	for len(s.ready.ids) > 0 {
		id := s.ready.ids[0]
		n, g := &s.nodes[id], &s.graph.Nodes[id]
		step := int(g.Step)
		// The heap is cleaned lazily: entries of nodes that went another way meanwhile are dropped here.
		if n.state != ready || n.solo {
			heap.Pop(&s.ready)
			continue
		}
		if s.isLate(step) {
			heap.Pop(&s.ready) // its scope decides how it ends, once nothing runs there; see dropLate
			continue
		}
		// A condition needs no slot, so it is evaluated before the step waits for one.
		if s.conditional(step) && !n.decided {
			heap.Pop(&s.ready)
			return Evaluate{step}
		}
		if !s.slot(id) {
			// Back in the heap when a slot of the pool becomes free.
			s.blocked = append(s.blocked, heap.Pop(&s.ready).(graph.ID))
			continue
		}
		if s.outside(step) {
			s.fenced = append(s.fenced, heap.Pop(&s.ready).(graph.ID))
			continue
		}
		// Whether a conditional breakpoint stops is for the session to find out: it evaluates expressions.
		if s.undecidedBreak(step) {
			return Probe{step}
		}
		if reason, message := s.hold(step); reason != "" {
			// What was planned before the run had to be confirmed before the run. What the run has added could not be.
			// With --approve the run waits for the people whom a step demands.
			waits := s.demands(step) && (s.opts.Confirmed || s.choices[step]&approved != 0)
			if reason == events.PauseConfirm && !s.opts.Review && s.choices[step]&added != 0 && !waits {
				return Unasked{step}
			}
			// In step mode the pause comes when what runs has ended, otherwise at once.
			if s.active > 0 && s.fence == nil && s.budget < 0 || s.active == 0 {
				return Pause{fact.RunPaused{Reason: reason, Step: step, Message: message}}
			}
			return nil
		}
		heap.Pop(&s.ready)
		return s.begin(id)
	}
	return nil
}

func (s decider) begin(id graph.ID) Decision {
	step := int(s.graph.Nodes[id].Step)
	if s.graph.Nodes[id].Kind == graph.Gate {
		return OpenGate{step}
	}
	return Start{step, int(s.nodes[id].attempt) + 1}
}
