package engine

import (
	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
	"moon/plan/bind"
	"moon/plan/saved"
)

// foundItems are those of an open loop that the plan does not have yet.
type foundItems struct {
	items  plan.Found
	bound  *bind.Bound
	number int  // of the attempt
	ended  bool // it has ended: in the process before this one
}

// find begins the step of an open loop. What it finds ends the attempt when the plan has taken it in (open): a list that cannot be
// planned is a failure of this step.
func (s *attempts) find(b *bind.Bound, step, number int) {
	items, skipped, err := b.Items()
	if s.endUnbound(b, step, number, err) {
		return
	}
	one := &foundItems{bound: b, number: number}
	if one.items, err = saved.Found(items, b.Step.NoLog); err != nil {
		s.failBefore(b, step, number, err)
		return
	}
	s.add(fact.AttemptStarted{Step: step, Attempt: number, Name: cutLine(b.Step.Title()), Out: s.state.OutName(step, number)})
	if skipped != "" {
		s.end(one, step, exec.Result{Outcome: events.Skipped, Reason: events.SkipWhen, Detail: skipped})
		return
	}
	s.found[step] = one
}

// end ends the step of an open loop.
func (s *attempts) end(one *foundItems, step int, result exec.Result) {
	r := s.judge(one.bound, step, one.number, result, plan.Result{Attempts: one.number})
	r.Again = false
	s.pack(&r, one.bound.Step, nil)
	s.finished(r)
}

// lostFinder reports whether a step only looked for the items of a loop: run again, it does nothing twice.
func lostFinder(st *state.State, step int) bool { return st.Plan().Steps[step].Place != nil }
