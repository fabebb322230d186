package engine

import (
	"container/heap"
	"slices"
	"time"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
)

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
func (s *State) next(now time.Time) decision {
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
func (s *State) ended() decision {
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

func (s *State) conclude() decision {
	bad := s.counts.Failed+s.counts.Lost+s.counts.Cancelled > s.forgiven()
	bad = bad || s.counts.Omitted > 0 && len(s.unexplained()) > 0
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

// slot reports whether another attempt may run now, as far as limits go.
func (s *State) slot(id graph.ID) bool {
	pool := s.graph.Nodes[id].Pool
	if s.graph.Nodes[id].Terminal && s.lent > 0 {
		return false
	}
	return s.active < s.opts.Forks && (pool < 0 || s.used[pool] < s.graph.Pools[pool].Slots)
}

// dueRetry finds a delayed attempt that may run, its time having come, and the earliest time of those whose has not. While the run
// is paused only attempts of steps that a person wants to run now count.
func (s *State) dueRetry(now time.Time) (until time.Time, due graph.ID) {
	due = -1
	for id, at := range s.delayed {
		switch {
		case s.waits() && !s.nodes[id].asked:
		case !at.After(now):
			if s.slot(id) && (due < 0 || id < due) {
				due = id
			}
		case until.IsZero() || at.Before(until):
			until = at
		}
	}
	return until, due
}

// overdue finds a step that has waited for a slot longer than it may, and the earliest time at which another may have.
// What a person holds back is not waiting for a slot. The steps are looked through only when one of them may be over:
// there may be many, and this is asked after every step.
func (s *State) overdue(now time.Time) (until time.Time, over graph.ID) {
	over = -1
	switch {
	case len(s.queued) == 0:
		return time.Time{}, over
	case now.Before(s.nextDue):
		return s.nextDue, over
	}
	s.nextDue = time.Time{}
	for id, at := range s.queued {
		step := int(s.graph.Nodes[id].Step)
		reason, _ := s.hold(step)
		switch {
		case s.nodes[id].state != ready || s.nodes[id].solo || reason != "" || s.outside(step):
			continue
		case !at.After(now) && (over < 0 || id < over):
			over = id
		}
		if s.nextDue.IsZero() || at.Before(s.nextDue) {
			s.nextDue = at
		}
	}
	return s.nextDue, over
}

// pick decides about the next ready node. It returns nil when there is none, or none that may start now.
func (s *State) pick() decision {
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

func (s *State) begin(id graph.ID) decision {
	step := int(s.graph.Nodes[id].Step)
	if s.graph.Nodes[id].Kind == graph.Gate {
		return openGate{step}
	}
	return start{step, int(s.nodes[id].attempt) + 1}
}

func (s *State) conditional(step int) bool { return s.plan.Steps[step].When != "" }

// outside reports whether step mode keeps a step from starting for now.
func (s *State) outside(step int) bool {
	if s.stopped() {
		return false
	}
	return s.budget == 0 || s.fence != nil && !s.fence.Has(step)
}

// unconfirmed reports whether a step asks for a confirmation that it does not have. It never runs without, so a run that a person has
// stopped leaves it out, also where it is essential.
func (s *State) unconfirmed(step int) bool {
	return s.plan.Steps[step].Confirm != "" && s.choices[step]&confirmed == 0
}

// hold is why a ready step does not start although nothing else keeps it. All reasons are one mechanism, kept outside
// the plan, so that the digest that was approved stays valid.
func (s *State) hold(step int) (events.PauseReason, string) {
	if s.stopped() { // only what is essential is left, and nobody is asked any more
		return "", ""
	}
	c := s.choices[step]
	ps := &s.plan.Steps[step]
	switch {
	case s.unconfirmed(step):
		return events.PauseConfirm, ps.Confirm
	case c&breakpoint != 0 && c&passed == 0:
		return events.PauseBreakpoint, ""
	case s.opts.Review && c&approved == 0 && s.budget <= 0:
		return events.PauseUndecided, ""
	}
	return "", ""
}
