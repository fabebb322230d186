package debugger

import (
	"moon/events"
	"moon/plan"
)

// Bind gives a step with the values that a run has by now. An error with a step says why it cannot run as it is; one without, that
// it is not known.
type Bind func(p *plan.Plan, step int) (plan.Step, error)

// Bound is a step with the values that a run has by now.
type Bound struct {
	plan.Step
	Wrong string // why it cannot run as it is
}

// Step binds a step. It is false if the run has another plan by now: what the plan says of the step then still holds.
func (b Bind) Step(p *plan.Plan, step int) (Bound, bool) {
	s, err := b(p, step)
	switch {
	case err == nil:
		return Bound{Step: s}, true
	case s.Action == "":
		// Only a step that was found has an action; with one, the error is about that step.
		return Bound{}, false
	}
	return Bound{s, err.Error()}, true
}

// BreakAt is the breakpoint at a step, if it has one. It shares nothing with what is known of the step.
func BreakAt(step int, of *events.Step) (events.Breakpoint, bool) {
	// A copy is returned, as the run may count a hit in it at any moment.
	if of.Break && of.Stop != nil {
		return *of.Stop, true
	}
	return events.Breakpoint{Set: events.Break{Step: step}}, of.Break
}
