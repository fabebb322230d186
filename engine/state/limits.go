package state

import (
	"fmt"
	"iter"
	"time"
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

// under reports whether the time of a scope is that of a step, too.
func (s *board) under(step, scope int) bool {
	for _, of := range s.limitsOf(step) {
		if of == scope {
			return true
		}
	}
	return false
}

// limitsByPath are the limits as they stand, for a plan that takes the place of this one.
func (s *board) limitsByPath() map[string]limit {
	all := map[string]limit{}
	for id, l := range s.limits {
		all[s.plan.Scopes[id].Path] = *l
	}
	return all
}
