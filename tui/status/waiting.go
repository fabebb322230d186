package status

import (
	"fmt"
	"strings"

	"moon/events"
)

// Awaited names the steps that are waited for, of a plan of n steps. called is how one of them is called.
func Awaited(w events.Wait, n int, called func(step int) string) string {
	var names []string
	for _, step := range w.Steps {
		if step >= 0 && step < n {
			names = append(names, called(step))
		}
	}
	if w.More > 0 {
		names = append(names, fmt.Sprintf("%d more", w.More))
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

// Doing is what a step does that others wait for, or what holds it up, where there is one way to say it; otherwise "".
func Doing(is events.WaitFor) string {
	switch is {
	case events.WaitRetry:
		return "is waiting for the next attempt"
	case events.WaitPool, events.WaitForks:
		return "is waiting for a slot"
	case events.WaitTerminal:
		return "is waiting for the terminal"
	case events.WaitTurn:
		return "is next"
	case events.WaitApproval:
		return "is not approved"
	case events.WaitConfirm:
		return "needs confirmation"
	case events.WaitBreakpoint:
		return "has a breakpoint"
	case events.WaitFailed:
		return "failed"
	case events.WaitStopping:
		return "will not run"
	case events.WaitSteps, events.WaitValue, events.WaitOutcome:
		return "is waiting as well"
	case events.WaitRuns, events.WaitAnswer, events.WaitPaused, events.WaitStepping:
	}
	return ""
}

// OnlyFor reports whether what is at the end of the chain is the one step that is waited for.
func OnlyFor(w events.Wait) bool { return len(w.Steps) == 1 && w.Steps[0] == w.Root && w.More == 0 }
