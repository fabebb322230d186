package debugger

import (
	"moon/events"
	"moon/plan"
	"moon/tui/status"
)

// Steps tells what the steps of a plan are like.
type Steps interface {
	State(step int) status.State
}

// States are steps that were counted before.
type States []status.State

// State is what a step is like.
func (s States) State(step int) status.State { return s[step] }

// Position is where a run stands.
type Position struct {
	Plan     *plan.Plan
	Steps    Steps
	Phase    events.Phase
	Pause    events.PauseReason
	PausedAt int // the step that it is paused at, or -1
	Pointer  int // the step that it has come to, or -1
}

// Everything is all steps of the plan.
func (p Position) Everything() events.Range { return events.Range{From: 0, To: len(p.Plan.Steps)} }

func (p Position) has(step int) bool { return step >= 0 && step < len(p.Plan.Steps) }

// Next is the step that would start next, or -1: the one at the pointer, one after it, or one that was passed over before it.
func (p Position) Next() int {
	at, end := p.Pointer, len(p.Plan.Steps)
	// The pointer may stand behind steps that were passed over or restored, so it wraps round once.
	if i := p.FirstLeft(events.Range{From: max(at, 0), To: end}); i >= 0 {
		return i
	}
	return p.FirstLeft(events.Range{From: 0, To: min(max(at, 0), end)})
}

// Gate is the first step that asks whether to continue, or -1.
func (p Position) Gate() int {
	for i := range p.Plan.Steps {
		if p.Steps.State(i) == status.Asking {
			return i
		}
	}
	return -1
}

// At is the step that the run stands at, or -1: the one that asks, the one that it is paused at, the first that failed if it has
// ended, or the one that it has come to.
func (p Position) At() int {
	// A question comes first: it waits for a person, whatever else the run is paused at.
	if i := p.Gate(); i >= 0 {
		return i
	}
	switch p.Phase {
	case events.Paused:
		if p.has(p.PausedAt) {
			return p.PausedAt
		}
	case events.Ended, events.Done:
		for i := range p.Plan.Steps {
			if p.Steps.State(i).Bad() {
				return i
			}
		}
	case events.Review, events.Running:
	}
	if p.has(p.Pointer) {
		return p.Pointer
	}
	return -1
}

// Scene is the step whose values an expression sees: the one that the run stands at. Before anything has run it is one that was
// chosen, if it is not below 0, or the first. A plan without steps has none, and -1.
func (p Position) Scene(chosen int) int {
	at := -1
	// In review no step has a place in the run yet, and people look around.
	if p.Phase != events.Review {
		at = p.At()
	}
	if at < 0 {
		at = chosen
	}
	if at < 0 {
		at = max(p.Next(), 0)
	}
	return min(at, len(p.Plan.Steps)-1)
}

// FirstLeft is the first step of a range that has not run, or -1.
func (p Position) FirstLeft(r events.Range) int {
	for i := r.From; i < r.To; i++ {
		if p.Steps.State(i).Pending() {
			return i
		}
	}
	return -1
}

// Tally counts the steps of some ranges by their state.
func (p Position) Tally(ranges ...events.Range) (t status.Tally) {
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			t[p.Steps.State(i)]++
		}
	}
	return t
}

// Counts counts all steps of the plan by their state.
func (p Position) Counts() status.Tally { return p.Tally(p.Everything()) }

// OnFailure reports whether the run is paused on a step that is still failed. After a retry the pause stays, but not its reason.
func (p Position) OnFailure() bool {
	switch {
	case p.Phase != events.Paused || p.Pause != events.PauseFailure:
		return false
	case !p.has(p.PausedAt):
		return true
	}
	switch p.Steps.State(p.PausedAt) {
	case status.Failed, status.Unreachable, status.Rescued, status.Ignored: // the rescue has not begun
		return true
	default:
		return false
	}
}

// Edited reports whether the step that the run is paused on has failed and was edited since, so that it can run again.
func (p Position) Edited() bool {
	return p.Phase == events.Paused && p.Pause == events.PauseFailure && p.has(p.PausedAt) && p.Steps.State(p.PausedAt).Pending()
}

// Failed reports whether a step has failed. The one that the run is paused on has, even if a rescue follows or the failure is ignored:
// until that is decided, neither has happened.
func (p Position) Failed(step int) bool {
	return p.has(step) && (p.Steps.State(step).Bad() || step == p.PausedAt && p.OnFailure())
}

// FailedOrEdited reports whether a step has failed, also if it was edited since.
func (p Position) FailedOrEdited(step int) bool {
	return p.Failed(step) || step == p.PausedAt && p.Edited()
}

// Retryable is how many steps of a range can be tried again.
func (p Position) Retryable(r events.Range) (n int) {
	for i := r.From; i < r.To; i++ {
		if p.FailedOrEdited(i) {
			n++
		}
	}
	return n
}

// HasRun reports whether a step has started, and has not failed: its values cannot be changed any more.
func (p Position) HasRun(step int) bool {
	switch p.Steps.State(step) {
	case status.OK, status.Changed, status.Skipped, status.Kept, status.Outdated, status.Running, status.Ignored:
		return !p.Failed(step)
	default:
		return false
	}
}

// MayMark reports whether a step can be marked as done: it has failed, was cancelled, or has not begun.
func (p Position) MayMark(step int) bool {
	s := p.Steps.State(step)
	return s.Pending() || s == status.Cancelled || p.Failed(step) && !p.Plan.Steps[step].Excluded
}
