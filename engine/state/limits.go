package state

import (
	"container/heap"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"moon/events"
	"moon/events/fact"
)

// limit is the time that the steps of a scope may take together: run time, from the start of the first of them. When it is over, what runs
// is interrupted and what has not begun does not begin: one failure stands for all of that, and the edges do the rest.
//
//	first attempt ──▶ began ──run time──▶ over ─┬─ a step runs:  it is interrupted, and fails ─▶ by
//	                                            └─ none runs:    the first that is ready fails ─▶ by      the others are omitted for it
type limit struct {
	most  time.Duration
	left  int           // steps that have not settled
	began bool          // one of them has started
	from  time.Duration // run time of the run at that moment
	over  bool
	by    int // the step whose failure says so; -1: none yet
}

// setLimits finds the limits of the plan. The run may have one of its own, which counts instead of the playbook's.
func (s *board) setLimits() {
	s.limits, s.rescuers = nil, nil
	for id := range s.plan.Scopes {
		most := s.plan.Scopes[id].Timeout
		if id == 0 && s.opts.Timeout > 0 {
			most = s.opts.Timeout
		}
		if most <= 0 {
			continue
		}
		if s.limits == nil {
			s.limits, s.rescuers = map[int]*limit{}, map[int]bool{}
		}
		s.limits[id] = &limit{most: most, by: -1}
	}
	if s.limits == nil {
		return // as in most plans: nothing below looks at the scopes of each step
	}
	for id := range s.plan.Scopes {
		if sc := &s.plan.Scopes[id]; sc.Branch == "rescue" {
			s.rescuers[sc.Parent] = true
		}
	}
	for step := range s.plan.Steps {
		s.countLimits(step, +1)
	}
}

// countLimits notes that a step has settled, or has not any more.
func (s *board) countLimits(step, d int) {
	for l := range s.limitsOf(step) {
		l.left += d
	}
}

// limitsOf are the limits under which a step is, from the innermost, and their scopes.
func (s *board) limitsOf(step int) iter.Seq2[*limit, int] {
	return func(yield func(*limit, int) bool) {
		if s.limits == nil || step < 0 {
			return
		}
		for scope := range s.plan.Limits(step) {
			if l := s.limits[scope]; l != nil && !yield(l, scope) {
				return
			}
		}
	}
}

// beginLimits starts the clocks of what a step is the first of.
func (s *board) beginLimits(step int) {
	for l := range s.limitsOf(step) {
		if !l.began {
			l.began, l.from = true, s.clock.RanAt(s.now)
		}
	}
}

// renewLimits gives the scopes around a step their time again, because a person asks for another attempt or takes the step for done.
func (s *slots) renewLimits(step int) {
	for l, scope := range s.limitsOf(step) {
		again := l.over
		l.began, l.over, l.by = false, false, -1
		if !again {
			continue
		}
		// What was ready in it was not looked at any more.
		for i := s.plan.Scopes[scope].First; i < s.plan.Scopes[scope].Last; i++ {
			if n := s.node(i); n.state == ready && !n.solo && s.under(i, scope) {
				heap.Push(&s.ready, s.id(i))
			}
		}
	}
}

// late is the limit that is over for a step; nil if none is.
func (s *board) late(step int) (over *limit, scope int) {
	for l, scope := range s.limitsOf(step) {
		if l.over {
			return l, scope
		}
	}
	return nil, -1
}

// isLate reports whether there is no time left for a step.
func (s *board) isLate(step int) bool {
	over, _ := s.late(step)
	return over != nil
}

// overText says that the time of a scope is over.
func (s *board) overText(scope int) string {
	return fmt.Sprintf("timed out: %s may take %s", s.limitName(scope), s.limits[scope].most)
}

// limitName says whose time is limited, and where that is written.
func (s *board) limitName(scope int) string {
	switch {
	case scope > 0:
		return fmt.Sprintf("%s (%s)", s.plan.ScopeRef(scope), s.plan.Scopes[scope].Origin)
	case s.opts.Timeout > 0:
		return "the run (--timeout)"
	}
	return "the playbook"
}

// dueLimit finds a scope whose time is over, and the earliest moment at which that of another may be. While the clock stands still, as a
// person has to decide, there is no such moment.
func (s *board) dueLimit(now time.Time) (until time.Time, over int) {
	over = -1
	ran := s.clock.RanAt(now)
	for scope, l := range s.limits {
		switch left := l.most - (ran - l.from); {
		case !l.began || l.over || l.left == 0:
		case left <= 0:
			// The outermost goes first, or a rescue would begin whose time is over as well.
			if (over < 0 || scope < over) && !s.lateAround(scope) {
				over = scope
			}
		case s.clock.Waits():
		case until.IsZero() || now.Add(left).Before(until):
			until = now.Add(left)
		}
	}
	return until, over
}

// lateAround reports whether a scope is inside of one that has no time left: then nothing of it is to be said.
func (s *board) lateAround(scope int) bool {
	for at := range s.plan.LimitsFrom(scope) {
		if l := s.limits[at]; l != nil && l.over {
			return true
		}
	}
	return false
}

// lapse ends what a scope has under way but for what runs: that is interrupted by whoever runs it. What is ready is left to settleLate.
func (s *flow) lapse(f fact.ScopeTimedOut) {
	l := s.limits[f.Scope]
	if l == nil || l.over {
		return
	}
	l.over, l.by = true, -1
	s.publish(-1, events.Warning{Message: fmt.Sprintf("%s has had its %s: what runs in it is interrupted, and the rest does not run",
		s.limitName(f.Scope), l.most)})
	for step := s.plan.Scopes[f.Scope].First; step < s.plan.Scopes[f.Scope].Last; step++ {
		if !s.under(step, f.Scope) {
			continue
		}
		id := s.id(step)
		switch n := &s.nodes[id]; n.state {
		case again, backoff:
			s.again = remove(s.again, id)
			delete(s.delayed, id)
			s.failLate(step, f.Scope)
		case waiting:
			s.open--
			s.publish(step, events.GateResolved{By: "moon", Reject: true})
			s.failLate(step, f.Scope)
		default:
		}
	}
}

// under reports whether the time of a scope is that of a step, too.
func (s *board) under(step, scope int) bool {
	for _, of := range s.limitsOf(step) {
		if of == scope {
			return true
		}
	}
	return false
}

// failLate ends a step that waits for something, because there is no time left.
func (s *flow) failLate(step, scope int) {
	text := s.overText(scope)
	s.ends[step] = &ending{
		outcome: events.Timeout, digest: s.plan.Steps[step].Digest, name: s.started(step), out: s.outs[step], err: text,
		ran: events.Ran{From: s.began[step].From, To: s.now, Command: s.began[step].Command},
	}
	delete(s.began, step)
	s.publish(step, events.StepFailed{
		Name: s.started(step), Error: text, Timeout: true, Rescued: s.rescues(s.id(step), events.Timeout),
	})
	s.blameLate(step)
	s.fail(step, events.Timeout, false)
}

// blameLate notes that the failure of a step says that there was no time left. If a rescue inside of the scope would make up for the
// failure, it does not stand for the scope: the rescue has no time left either, and its first step fails instead.
func (s *flow) blameLate(step int) {
	for l, scope := range s.limitsOf(step) {
		if l.over && l.by < 0 && !s.rescuedWithin(step, scope) {
			l.by = step
		}
	}
}

// rescuedWithin reports whether a block inside of a scope makes up for the failure of a step.
func (s *flow) rescuedWithin(step, scope int) bool {
	if !s.rescues(s.id(step), events.Timeout) {
		return false
	}
	for at := s.plan.Steps[step].Scope; at >= 0 && at != scope; at = s.plan.Scopes[at].Parent {
		switch {
		case s.plan.Scopes[at].Branch != "": // its block has its own failure behind it
			if at = s.plan.Scopes[at].Parent; at == scope {
				return false
			}
		case s.rescuers[at]:
			return true
		}
	}
	return false
}

// dropLate ends the steps of a scope that are ready and have no time left, and reports whether there were any. It waits for those that run, as it is they who fail.
func (s *flow) dropLate(scope int) (some bool) {
	l := s.limits[scope]
	var dropped []int
	for step := s.plan.Scopes[scope].First; step < s.plan.Scopes[scope].Last; step++ {
		n := s.node(step)
		switch {
		case n.state == settled || !s.under(step, scope):
		case n.state == running, n.state == failed:
			return false // also one about which a person decides: all of this is taken back if it is tried again
		case n.state == ready:
			dropped = append(dropped, step)
		}
	}
	for _, step := range dropped {
		n := s.node(step)
		switch {
		case n.state != ready: // a failure has halted the run
		case s.choices[step]&excluded != 0:
			s.skip(s.id(step), events.SkipUser, "")
		case l.by < 0:
			s.failLate(step, scope)
		default:
			n.cause = int32(l.by)
			s.omit(s.id(step))
		}
	}
	return len(dropped) > 0
}

// settleLate ends what is ready in scopes that have no time left. Each end may make more ready: rescues, and what comes after them.
func (s *flow) settleLate() {
	for _, scope := range slices.Sorted(maps.Keys(s.limits)) {
		for s.limits[scope].over && s.dropLate(scope) {
			s.resolve()
		}
	}
}

// keepLimits gives the limits of a plan that takes the place of another what has passed of their time. One that was over stays over only
// if its failure stays: otherwise its steps are tried again, with all the time that they had.
func (s *replanning) keepLimits(before map[string]limit, of []int, all bool) {
	for id, l := range s.limits {
		was, ok := before[s.plan.Scopes[id].Path]
		if !ok {
			continue
		}
		by := -1
		if was.by >= 0 {
			by = slices.Index(of, was.by)
		}
		if was.over && !all && (by < 0 || s.kept[by] == nil) {
			continue
		}
		l.began, l.from, l.over, l.by = was.began, was.from, was.over, by
	}
}

// limitsByPath are the limits as they stand, for a plan that takes the place of this one.
func (s *board) limitsByPath() map[string]limit {
	all := map[string]limit{}
	for id, l := range s.limits {
		all[s.plan.Scopes[id].Path] = *l
	}
	return all
}

// RanOut says why a step that runs is to be interrupted: the scope that it is in has no time left. "" if it has.
func (s *State) RanOut(step int) string {
	if l, scope := s.late(step); l != nil && s.node(step).state == running {
		return s.overText(scope)
	}
	return ""
}
