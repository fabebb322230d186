package lines

import (
	"fmt"

	"moon/events"
	"moon/tui/standing"
)

// waitWords say why a step has not begun, as the engine knows it; "" where it says nothing.
func (d *desk) waitWords(i int) string {
	if d.o.Why == nil || d.run.Phase != events.Running && d.run.Phase != events.Paused {
		return ""
	}
	list := d.o.Why(d.plan.Digest, []int{i})
	if len(list) != 1 {
		return ""
	}
	w := list[0]
	words := d.waitReason(w, "approve "+d.outline.stepNumber(i))
	if words == "" {
		return ""
	}
	if w.Limit > 0 {
		words += ", for at most " + lasted(w.Limit)
	}
	switch w.Held {
	case events.WaitApproval:
		words += ". then it is not approved"
	case events.WaitConfirm:
		words += ". then it asks to be confirmed"
	case events.WaitBreakpoint:
		words += ". then it stops at a breakpoint"
	default:
	}
	return d.called(i) + " " + words + "."
}

func (d *desk) waitReason(w events.Wait, approve string) string {
	switch w.For {
	case events.WaitSteps:
		return "waits for " + d.waitSteps(w) + d.atTheEnd(w)
	case events.WaitValue:
		return "waits for the value of " + clean(w.Name) + ", which comes from " + d.waitSteps(w) + d.atTheEnd(w)
	case events.WaitOutcome:
		return "waits for how it ends: " + d.waitSteps(w) + d.atTheEnd(w)
	case events.WaitPool:
		return fmt.Sprintf("waits for a slot of %s; all %d are taken, by %s", clean(w.Name), w.Slots, d.waitSteps(w))
	case events.WaitForks:
		return fmt.Sprintf("waits for a slot; all %d (--forks) are taken, by %s", w.Slots, d.waitSteps(w))
	case events.WaitTerminal:
		return "waits for the terminal, which has " + d.waitSteps(w)
	case events.WaitTurn:
		return "waits for nothing: it is about to begin"
	case events.WaitRetry:
		if in := lasted(w.Due.Sub(d.now())); in != "" {
			return "waits for its next attempt, in " + in
		}
		return "waits for its next attempt, which is due"
	case events.WaitApproval:
		return "is undecided; " + approve + " lets it run"
	case events.WaitConfirm:
		return "asks to be confirmed; " + approve + " confirms it"
	case events.WaitBreakpoint:
		return "waits at a breakpoint; run goes on"
	case events.WaitAnswer:
		return "asks whether to go on: yes or no"
	case events.WaitFailed:
		return "failed and waits for you: retry, skip or run"
	case events.WaitStepping:
		return "waits because only what you chose was run; run goes on"
	case events.WaitStopping:
		return "will not run: the run is being stopped"
	case events.WaitPaused:
		if w.Root < 0 || w.Root >= len(d.plan.Steps) {
			return "waits because the run is paused; run goes on"
		}
		words := "waits because the run is paused at " + d.called(w.Root)
		if doing := d.doing(w.Root, w.Is); doing != "" {
			words += ", which " + doing
		}
		return words
	case events.WaitRuns:
	}
	return ""
}

// waitSteps names what is waited for.
func (d *desk) waitSteps(w events.Wait) string {
	return standing.Awaited(w, len(d.plan.Steps), d.called)
}

// atTheEnd says what all of that waits for in turn.
func (d *desk) atTheEnd(w events.Wait) string {
	if w.Root < 0 || w.Root >= len(d.plan.Steps) || len(w.Steps) == 0 {
		return ""
	}
	doing := d.doing(w.Root, w.Is)
	switch {
	case doing == "":
		return ""
	case standing.OnlyFor(w):
		return ", which " + doing
	}
	return ". at the end of that, " + d.called(w.Root) + " " + doing
}

// doing is what a step does that others wait for, or what holds it up.
func (d *desk) doing(i int, is events.WaitFor) string {
	switch is {
	case events.WaitRuns:
		if t := lasted(d.of(i).Lasted(d.now())); t != "" && d.of(i).State == events.Active {
			return "has been running for " + t
		}
		return "is running"
	case events.WaitAnswer:
		return "asks whether to go on"
	case events.WaitPaused, events.WaitStepping:
		return "has not begun"
	default:
		return standing.Doing(is)
	}
}
