package console

import (
	"fmt"

	"moon/events"
	"moon/tui/status"
)

// waitWords say why a step has not begun, as the engine knows it; "" where it says nothing.
func (c *titles) waitWords(i int) string {
	if c.sources.Why == nil || c.run.Phase != events.Running && c.run.Phase != events.Paused {
		return ""
	}
	list := c.sources.Why(c.plan.Digest, []int{i})
	// The engine says nothing about a plan that is not its own.
	if len(list) != 1 {
		return ""
	}
	w := list[0]
	words := c.waitReason(w, "approve "+c.outline.stepNumber(i))
	if words == "" {
		return ""
	}
	if w.Limit > 0 {
		words += ", for at most " + lastedWords(w.Limit)
	}
	switch w.Held {
	case events.WaitApproval:
		words += ". it is also not approved"
	case events.WaitConfirm:
		words += ". then it needs confirmation"
	case events.WaitBreakpoint:
		words += ". then it stops at a breakpoint"
	default:
	}
	return c.called(i) + " " + words + "."
}

// scopeWords name a scope that is waited for, with the steps that follow.
func scopeWords(w events.Wait) string {
	if w.Name == "" {
		return ""
	}
	return clean(w.Name) + ": "
}

func (c *titles) waitReason(w events.Wait, approve string) string {
	// These are not the words of the TUI: it names keys, and what can be typed is said here.
	switch w.For {
	case events.WaitSteps:
		return "is waiting for " + scopeWords(w) + c.waitSteps(w) + c.atTheEnd(w)
	case events.WaitValue:
		return "is waiting for the value of " + clean(w.Name) + " from " + c.waitSteps(w) + c.atTheEnd(w)
	case events.WaitOutcome:
		return "is waiting for the outcome of " + scopeWords(w) + c.waitSteps(w) + c.atTheEnd(w)
	case events.WaitPool:
		return fmt.Sprintf("is waiting for a slot of %s; all %d are in use by %s", clean(w.Name), w.Slots, c.waitSteps(w))
	case events.WaitForks:
		return fmt.Sprintf("is waiting for a slot; all %d (--forks) are in use by %s", w.Slots, c.waitSteps(w))
	case events.WaitTerminal:
		return "is waiting for the terminal, used by " + c.waitSteps(w)
	case events.WaitTurn:
		return "is about to start"
	case events.WaitRetry:
		if in := lastedWords(w.Due.Sub(c.now())); in != "" {
			return "is waiting for its next attempt in " + in
		}
		return "is about to be tried again"
	case events.WaitApproval:
		return "is not approved; " + approve + " lets it run"
	case events.WaitConfirm:
		return "needs confirmation; " + approve + " confirms it"
	case events.WaitBreakpoint:
		return "is at a breakpoint; run continues"
	case events.WaitAnswer:
		return "asks whether to continue: yes or no"
	case events.WaitFailed:
		return "failed and is waiting for you: retry, skip or run"
	case events.WaitStepping:
		return "is waiting for you; run continues"
	case events.WaitStopping:
		return "will not run: the run is being stopped"
	case events.WaitPaused:
		if w.Root < 0 || w.Root >= len(c.plan.Steps) {
			return "is waiting for you: the run is paused; run continues"
		}
		words := "is waiting for you: the run is paused at " + c.called(w.Root)
		if doing := c.doingWords(w.Root, w.Is); doing != "" {
			words += ", which " + doing
		}
		return words
	case events.WaitRuns:
	}
	return ""
}

// waitSteps names what is waited for.
func (c *titles) waitSteps(w events.Wait) string {
	return status.Awaited(w, len(c.plan.Steps), c.called)
}

// atTheEnd says what all of that waits for in turn.
func (c *titles) atTheEnd(w events.Wait) string {
	if w.Root < 0 || w.Root >= len(c.plan.Steps) || len(w.Steps) == 0 {
		return ""
	}
	doing := c.doingWords(w.Root, w.Is)
	switch {
	case doing == "":
		return ""
	case status.OnlyFor(w):
		// The sentence has just named it.
		return ", which " + doing
	}
	return ". " + c.called(w.Root) + " " + doing
}

// doingWords is what a step does that others wait for, or what holds it up.
func (c *titles) doingWords(i int, is events.WaitFor) string {
	switch is {
	case events.WaitRuns:
		if t := lastedWords(c.stepAt(i).Lasted(c.now())); t != "" && c.stepAt(i).State == events.Active {
			return "has been running for " + t
		}
		return "is running"
	case events.WaitAnswer:
		return "needs your answer"
	case events.WaitPaused, events.WaitStepping:
		return "has not started: the run is paused"
	default:
		return status.Doing(is)
	}
}
