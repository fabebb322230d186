package state

import (
	"fmt"
	"maps"
	"slices"

	"moon/events"
	"moon/events/fact"
)

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

// dropLate ends the steps of a scope that are ready and have no time left, and reports whether there were any. It waits for those that run,
// as it is they who fail.
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
