package status

import (
	"slices"
	"strings"

	"moon/events"
	"moon/plan"
)

// State is what a step is like: a decision before it runs, an outcome afterwards.
type State uint8

// The states. Before Running are those of a step that has not begun, after it those of one that has ended.
const (
	Undecided State = iota // nobody has approved it
	Waiting                // approved, its turn has not come
	Confirm                // asks to be confirmed by itself
	Asking                 // a gate: it waits for an answer
	Excluded
	Running
	OK
	Changed
	Failed
	Unreachable // its host was: nothing of it was tried
	Ignored
	Rescued
	Skipped
	Kept
	Outdated // done, and defined otherwise since: a person says whether it runs again
	Cancelled
	Omitted
)

// NotNeeded is why a rescue is not run where nothing failed, as the engine says it.
const NotNeeded = "not needed"

// ByHand is what every front end and report says of a step that was not run, because a person has marked it as done.
const ByHand = "marked as done by hand"

// States is how many there are.
const States = int(Omitted) + 1

// Pending reports whether the step still waits to be run.
func (s State) Pending() bool { return s == Undecided || s == Waiting || s == Confirm }

// Bad reports whether the step has failed, in whatever way, and nothing has made that good.
func (s State) Bad() bool { return s == Failed || s == Unreachable }

// Fate says why a step that has ended in a state has given no value.
func Fate(s State) string {
	switch s {
	case Skipped:
		return "was skipped"
	case Excluded:
		return "is excluded"
	case Omitted:
		return "did not run"
	case Cancelled:
		return "was cancelled"
	default:
		return "failed"
	}
}

// Of is the state of a step of a plan.
func Of(s *events.Step, p *plan.Step) State {
	switch s.State {
	case events.Settled:
		if s.Outcome == events.Omitted && (s.Excluded || p.Excluded) {
			return Excluded // it would not have run in any case
		}
		if s.Outcome == events.Omitted && s.Reason == NotNeeded {
			return Skipped // a rescue, and nothing has failed that it would have made good
		}
		if s.Outdated {
			return Outdated
		}
		return outcome(s)
	case events.Active, events.Backoff:
		return Running
	case events.Waiting, events.Held:
	}
	switch {
	case s.State == events.Held && s.Hold == events.PauseUser:
		// An open question is answered; it cannot be excluded any more.
		return Asking
	case s.Excluded || p.Excluded:
		return Excluded
	case p.Confirm != "" && !s.Confirmed:
		return Confirm
	case !s.Approved:
		return Undecided
	}
	return Waiting
}

// Done reports whether a step has succeeded, so that only a command runs it again: it did its work, found it done, or a failure of it
// was ignored or rescued.
func Done(s *events.Step) bool {
	if s.State != events.Settled {
		return false
	}
	switch s.Outcome {
	case events.OK, events.Changed:
		return true
	case events.Skipped: // the others were skipped before they began
		return looked(s.Reason)
	case events.Failed, events.Timeout, events.Rejected, events.Unreachable, events.Lost:
		return s.Ignored || s.Rescued
	case events.None, events.Cancelled, events.Omitted:
	}
	return false
}

// looked reports whether a step that was skipped for a reason has looked for what it does, and found it done.
func looked(reason string) bool {
	word, _, _ := strings.Cut(reason, ":")
	switch events.SkipReason(word) {
	case events.SkipWhen, events.SkipAction, events.SkipTags, events.SkipUser, events.SkipNeeds, events.SkipUnchanged:
		return false
	default:
		return true
	}
}

// Gone says of a step that a person has excluded, or has the run continue without, why it gives no value.
func Gone(s *events.Step) (plan.Absence, bool) {
	skipped := s.State == events.Settled && s.Outcome == events.Skipped && s.Reason == string(events.SkipUser)
	switch {
	case skipped && s.Attempt > 0:
		return plan.Abandoned(), true
	case skipped, s.Excluded && s.State != events.Settled:
		return plan.Exclusion(""), true
	}
	return plan.Absence{}, false
}

// Shaped says why steps cannot be excluded, or restored, without others. See plan.Plan.Shaped.
func Shaped(p *plan.Plan, steps []events.Step, ranges []events.Range, exclude bool) string {
	out := func(step int) bool {
		if slices.ContainsFunc(ranges, func(r events.Range) bool { return r.Has(step) }) {
			return exclude
		}
		return step < len(steps) && steps[step].Excluded
	}
	return p.Shaped(func(step int) bool {
		if step < len(steps) && steps[step].State == events.Settled {
			// A step that has ended counts as taken out only if it gave no value by a decision.
			_, gone := Gone(&steps[step])
			return gone
		}
		return out(step)
	}, func(step int) bool { return out(step) || step < len(steps) && steps[step].State == events.Settled })
}

func outcome(s *events.Step) State {
	switch s.Outcome {
	case events.OK, events.Changed:
		switch {
		case s.Kept:
			return Kept
		case s.Outcome == events.Changed:
			return Changed
		}
		return OK
	case events.Skipped:
		byUser := s.Reason == string(events.SkipUser) && s.Attempt == 0 // otherwise it failed and was given up
		if s.Excluded || byUser || s.Reason == string(events.SkipTags) {
			return Excluded
		}
		return Skipped
	case events.Failed, events.Timeout, events.Rejected, events.Unreachable:
		switch {
		case s.Ignored:
			return Ignored
		case s.Rescued:
			return Rescued
		case s.Outcome == events.Unreachable:
			return Unreachable
		}
		return Failed
	case events.Lost:
		if s.Ignored { // by ignore_unreachable, and nothing else
			return Ignored
		}
		return Failed
	case events.Cancelled:
		return Cancelled
	case events.None, events.Omitted:
	}
	return Omitted
}
