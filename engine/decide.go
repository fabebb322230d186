package engine

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

// decision is what the run does next. The session carries it out and journals it as a fact; the fact changes the
// state.
type decision interface{ decision() }

type (
	evaluate struct{ step int } // its `when`
	start    struct{ step, attempt int }
	expire   struct{ step int }          // it has waited for a slot too long
	probe    struct{ step int }          // its breakpoint
	schedule struct{ step, attempt int } // the next attempt
	openGate struct{ step int }
	pause    struct{ fact.RunPaused }
	finish   struct{ outcome events.RunOutcome }
	idle     struct{ until time.Time } // nothing to do before a report, a command, or that time
	stuck    struct{}                  // must be impossible
)

func (evaluate) decision() {}
func (start) decision()    {}
func (probe) decision()    {}
func (expire) decision()   {}
func (schedule) decision() {}
func (openGate) decision() {}
func (pause) decision()    {}
func (finish) decision()   {}
func (idle) decision()     {}
func (stuck) decision()    {}

// next decides what the run does now. It looks at nothing but the state and the time.
func (s decider) next(now time.Time) decision {
	if !s.begun || s.finished {
		return idle{}
	}
	if len(s.held) > 0 && (!s.paused || s.pause.Reason != events.PauseFailure) && !s.halting {
		return pause{fact.RunPaused{Reason: events.PauseFailure, Step: s.held[0]}}
	}
	if len(s.again) > 0 {
		id := s.again[0]
		return schedule{int(s.graph.Nodes[id].Step), int(s.nodes[id].attempt) + 1}
	}
	for _, id := range s.solo {
		switch step := int(s.graph.Nodes[id].Step); {
		case !s.slot(id):
		case s.conditional(step) && !s.nodes[id].decided:
			return evaluate{step}
		default:
			return s.begin(id)
		}
	}
	until, due := s.dueRetry(now)
	if due >= 0 {
		return start{int(s.graph.Nodes[due].Step), int(s.nodes[due].attempt) + 1}
	}
	if s.waits() && !s.leaving { // one can leave only when all has ended
		return idle{until}
	}
	if s.active < s.opts.Forks {
		if d := s.pick(); d != nil {
			return d
		}
	}
	over, id := s.overdue(now)
	switch {
	case id >= 0 && s.conditional(int(s.graph.Nodes[id].Step)) && !s.nodes[id].decided:
		heap.Remove(&s.ready, slices.Index(s.ready.ids, id))
		return evaluate{int(s.graph.Nodes[id].Step)}
	case id >= 0:
		return expire{int(s.graph.Nodes[id].Step)}
	case !over.IsZero() && (until.IsZero() || over.Before(until)):
		until = over
	}
	if s.active > 0 || s.open > 0 || len(s.delayed) > 0 {
		return idle{until}
	}
	return s.ended()
}

// ended decides when nothing runs and nothing can start.
func (s decider) ended() decision {
	if s.left == 0 {
		return s.conclude()
	}
	s.fenced = slices.DeleteFunc(s.fenced, func(id graph.ID) bool { return s.nodes[id].state != ready }) // excluded meanwhile
	if len(s.fenced) > 0 {
		id := slices.Min(s.fenced)
		return pause{fact.RunPaused{Reason: events.PauseStep, Step: int(s.graph.Nodes[id].Step)}}
	}
	return stuck{}
}

func (s decider) conclude() decision {
	bad := s.counts.Failed+s.counts.Lost+s.counts.Cancelled > s.tally().forgiven()
	bad = bad || s.counts.Omitted > 0 && len(s.tally().unexplained()) > 0
	asks := bad || len(s.outdated(events.Range{To: len(s.plan.Steps)})) > 0
	switch {
	case s.stop != "" && s.haltCause < 0 && s.signalled:
		return finish{events.RunInterrupted}
	case s.stop != "" && s.haltCause < 0:
		return finish{events.RunStopped}
	case asks && s.opts.KeepOpen && !s.leaving && !s.paused:
		return pause{fact.RunPaused{Reason: events.PauseEnd, Step: -1}}
	case asks && s.opts.KeepOpen && !s.leaving:
		return idle{}
	case bad:
		return finish{events.RunFailed}
	}
	return finish{events.RunDone}
}

// pick decides about the next ready node. It returns nil when there is none, or none that may start now.
func (s decider) pick() decision {
	for len(s.ready.ids) > 0 {
		id := s.ready.ids[0]
		n, g := &s.nodes[id], &s.graph.Nodes[id]
		step := int(g.Step)
		if n.state != ready || n.solo {
			heap.Pop(&s.ready)
			continue
		}
		if s.conditional(step) && !n.decided {
			heap.Pop(&s.ready)
			return evaluate{step}
		}
		if !s.slot(id) {
			s.blocked = append(s.blocked, heap.Pop(&s.ready).(graph.ID))
			continue
		}
		if s.outside(step) {
			s.fenced = append(s.fenced, heap.Pop(&s.ready).(graph.ID))
			continue
		}
		if s.undecidedBreak(step) {
			return probe{step}
		}
		if reason, message := s.hold(step); reason != "" {
			if s.active > 0 && s.fence == nil && s.budget < 0 || s.active == 0 {
				return pause{fact.RunPaused{Reason: reason, Step: step, Message: message}}
			}
			return nil
		}
		heap.Pop(&s.ready)
		return s.begin(id)
	}
	return nil
}

func (s decider) begin(id graph.ID) decision {
	step := int(s.graph.Nodes[id].Step)
	if s.graph.Nodes[id].Kind == graph.Gate {
		return openGate{step}
	}
	return start{step, int(s.nodes[id].attempt) + 1}
}
