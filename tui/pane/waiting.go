package pane

import (
	"fmt"
	"slices"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/view"
)

// WaitWords say what a step waits for.
type WaitWords struct{ *view.State }

// StepsToAsk are the steps to ask about: the one the detail is about first, then those in the rows.
func (m WaitWords) StepsToAsk() (steps []int) {
	if step := m.HeldStep(m.CursorNode()); step >= 0 {
		steps = append(steps, step)
	}
	for _, i := range m.ShownSteps() {
		if m.IsWaiting(i) && !slices.Contains(steps, i) {
			steps = append(steps, i)
		}
	}
	return steps
}

// WaitNote is the reason in a row, where it is another than that the steps before it have not ended.
func (m WaitWords) WaitNote(step int) string {
	switch w := m.LastWait(step); w.For {
	case events.WaitPool:
		return fmt.Sprintf("waiting (%d of %d in use)", w.Slots, w.Slots)
	case events.WaitForks:
		return fmt.Sprintf("waiting (forks %d)", w.Slots)
	case events.WaitTerminal:
		return "waiting (terminal)"
	case events.WaitValue:
		return "waiting for " + draw.Plain(w.Name)
	case events.WaitStopping:
		return "will not run"
	default:
		return ""
	}
}

// whyField says in the detail why a node has not begun.
func (m WaitWords) whyField(d *draw.Doc, n int) {
	step := m.HeldStep(n)
	if step < 0 {
		return
	}
	w := m.LastWait(step)
	if w.For == "" {
		return
	}
	d.Field("waiting", draw.Inked(themes.Text, m.WaitWords(w)+"."))
	d.Blank()
}

// WaitWords says a reason, without the full stop: waiting …
func (m WaitWords) WaitWords(w events.Wait) string {
	words := m.waitReason(w)
	if w.Limit > 0 {
		words += ", for at most " + w.Limit.String()
	}
	// A step may be held up by the user as well. Said only afterwards, the second wait would come as a surprise.
	switch w.Held {
	case events.WaitApproval:
		words += "; also not approved"
	case events.WaitConfirm:
		words += "; then needs confirmation"
	case events.WaitBreakpoint:
		words += "; then stops at a breakpoint"
	default:
	}
	return words
}

// scopeWords name a scope that is waited for, with the steps that follow.
func scopeWords(w events.Wait) string {
	if w.Name == "" {
		return ""
	}
	return draw.Plain(w.Name) + ": "
}

func (m WaitWords) waitReason(w events.Wait) string {
	approve := m.Keys.Label(keymap.GateApprove)
	switch w.For {
	case events.WaitSteps:
		return "for " + scopeWords(w) + m.waitSteps(w) + m.chainText(w)
	case events.WaitValue:
		return "for the value of " + draw.Plain(w.Name) + " from " + m.waitSteps(w) + m.chainText(w)
	case events.WaitOutcome:
		return "for the outcome of " + scopeWords(w) + m.waitSteps(w) + m.chainText(w)
	case events.WaitPool:
		return fmt.Sprintf("for a slot of %s: %d of %d are in use by %s", draw.Plain(w.Name), w.Slots, w.Slots, m.waitSteps(w))
	case events.WaitForks:
		return fmt.Sprintf("for a slot: all %d (--forks) are in use by %s", w.Slots, m.waitSteps(w))
	case events.WaitTerminal:
		return "for the terminal, used by " + m.waitSteps(w)
	case events.WaitTurn:
		return "about to start"
	case events.WaitRetry:
		return "for its next attempt in " + draw.Exact(max(w.Due.Sub(m.ClockNow()), 0))
	case events.WaitApproval:
		return "not approved (" + approve + " approves)"
	case events.WaitConfirm:
		return "needs confirmation (" + approve + " confirms)"
	case events.WaitBreakpoint:
		return "at a breakpoint (" + m.Keys.Label(keymap.RunContinue) + " continues)"
	case events.WaitAnswer:
		return "for your answer (" + approve + " continues, " + m.Keys.Label(keymap.GateExclude) + " rejects)"
	case events.WaitFailed:
		return "for you: it failed"
	case events.WaitStepping:
		return "for you (" + m.Keys.Label(keymap.RunContinue) + " continues)"
	case events.WaitStopping:
		return "the run is stopping; this step will not run"
	case events.WaitPaused:
		if w.Root < 0 || w.Root >= len(m.Plan.Steps) {
			return "for you: the run is paused (" + m.Keys.Label(keymap.RunContinue) + " continues)"
		}
		at := "for you: the run is paused at " + m.StepName(w.Root)
		if doing := m.DoingText(w.Root, w.Is); doing != "" {
			at += ", which " + doing
		}
		return at
	// A step that runs waits for nothing.
	case events.WaitRuns:
	}
	return ""
}

// waitSteps names the steps of a wait.
func (m WaitWords) waitSteps(w events.Wait) string {
	return status.Awaited(w, len(m.Plan.Steps), m.StepName)
}

// chainText says what the steps that are waited for wait for themselves.
func (m WaitWords) chainText(w events.Wait) string {
	if w.Root < 0 || w.Root >= len(m.Plan.Steps) || len(w.Steps) == 0 {
		return ""
	}
	doing := m.DoingText(w.Root, w.Is)
	switch {
	case doing == "":
		return ""
	case status.OnlyFor(w):
		return ", which " + doing
	}
	return "; " + m.StepName(w.Root) + " " + doing
}

// DoingText is what a step at the end of a chain does, or what holds it up.
func (m WaitWords) DoingText(step int, is events.WaitFor) string {
	switch is {
	case events.WaitRuns:
		if since, ok := m.Timeline.Active[step]; ok {
			if spent := draw.Took(m.ClockNow().Sub(since)); spent != "" {
				return "has been running for " + spent
			}
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
