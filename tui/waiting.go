package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/status"
)

// waitWords say what a step waits for.
type waitWords struct{ *view }

// waiting is why the steps on the screen have not begun. Only the engine knows; it is asked off the screen's goroutine, one
// question at a time, and not more often than a person can read.
type waiting struct {
	of    map[int]events.Wait // by step, as of the last answer
	asked []int               // the steps of the last question
	open  bool                // it has not been answered
	stale bool                // what was said may have changed
	rows  []int32             // nodes on the screen, as last drawn
}

// waited is an answer.
type waited struct {
	digest string
	steps  []int
	waits  []events.Wait
}

// askWaits asks about the steps that are on the screen now, if there is anything new to ask.
func (m waitWords) askWaits() tea.Cmd {
	w := &m.waiting
	if m.o.Why == nil || w.open || m.run.Phase != events.Running && m.run.Phase != events.Paused {
		return nil
	}
	steps := m.stepsToAsk()
	if len(steps) == 0 || !w.stale && slices.Equal(steps, w.asked) {
		return nil
	}
	w.open, w.stale, w.asked = true, false, steps
	digest, why := m.plan.Digest, m.o.Why
	return func() tea.Msg { return waited{digest, steps, why(digest, steps)} }
}

// takeAnswer keeps an answer, which may be none: then nothing is said.
func (w *waiting) takeAnswer(a waited, digest string) {
	w.open, w.of = false, map[int]events.Wait{}
	for i := range a.waits {
		if a.digest == digest {
			w.of[a.steps[i]] = a.waits[i]
		}
	}
}

// stepsToAsk are the steps to ask about: the one the detail is about first, then those in the rows.
func (m waitWords) stepsToAsk() (steps []int) {
	if step := m.heldStep(m.cursorNode()); step >= 0 {
		steps = append(steps, step)
	}
	for _, n := range m.waiting.rows {
		if int(n) >= m.tree.Len() { // of the plan before
			break
		}
		if i := m.tree.Step(int(n)); i >= 0 && m.isWaiting(i) && !slices.Contains(steps, i) {
			steps = append(steps, i)
		}
	}
	return steps
}

// isWaiting reports whether a step waits, for whatever it is.
func (m waitWords) isWaiting(step int) bool {
	f := m.tree.Faces[step]
	return f.Pending() || f == status.Asking
}

// heldStep is the first step at or below a node that has not begun, or -1. A scope in which something runs is not held up.
func (m waitWords) heldStep(n int) int {
	if t := m.tree.Tally(n); t[status.Running] > 0 ||
		t.Sum(status.Waiting, status.Undecided, status.Confirm, status.Asking) == 0 {
		return -1
	}
	r := m.tree.Steps(n)
	for i := r.From; i < r.To; i++ {
		if m.isWaiting(i) {
			return i
		}
	}
	return -1
}

// lastWait is what was last said of a step.
func (m waitWords) lastWait(step int) events.Wait {
	if !m.isWaiting(step) || m.run.Phase != events.Running && m.run.Phase != events.Paused {
		return events.Wait{}
	}
	return m.waiting.of[step]
}

// waitNote is the reason in a row, where it is another than that the steps before it have not ended.
func (m waitWords) waitNote(step int) string {
	switch w := m.lastWait(step); w.For {
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
func (m waitWords) whyField(d *draw.Doc, n int) {
	step := m.heldStep(n)
	if step < 0 {
		return
	}
	w := m.lastWait(step)
	if w.For == "" {
		return
	}
	d.Field("waiting", draw.Inked(themes.Text, m.waitWords(w)+"."))
	d.Blank()
}

// waitWords says a reason, without the full stop: waiting …
func (m waitWords) waitWords(w events.Wait) string {
	words := m.waitReason(w)
	if w.Limit > 0 {
		words += ", for at most " + w.Limit.String()
	}
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

func (m waitWords) waitReason(w events.Wait) string {
	approve := m.keys.Label(keymap.GateApprove)
	switch w.For {
	case events.WaitSteps:
		return "for " + m.waitSteps(w) + m.chainText(w)
	case events.WaitValue:
		return "for the value of " + draw.Plain(w.Name) + " from " + m.waitSteps(w) + m.chainText(w)
	case events.WaitOutcome:
		return "for the outcome of " + m.waitSteps(w) + m.chainText(w)
	case events.WaitPool:
		return fmt.Sprintf("for a slot of %s: %d of %d are in use by %s", draw.Plain(w.Name), w.Slots, w.Slots, m.waitSteps(w))
	case events.WaitForks:
		return fmt.Sprintf("for a slot: all %d (--forks) are in use by %s", w.Slots, m.waitSteps(w))
	case events.WaitTerminal:
		return "for the terminal, used by " + m.waitSteps(w)
	case events.WaitTurn:
		return "about to start"
	case events.WaitRetry:
		return "for its next attempt in " + draw.Exact(max(w.Due.Sub(m.clockNow()), 0))
	case events.WaitApproval:
		return "not approved (" + approve + " approves)"
	case events.WaitConfirm:
		return "needs confirmation (" + approve + " confirms)"
	case events.WaitBreakpoint:
		return "at a breakpoint (" + m.keys.Label(keymap.RunContinue) + " continues)"
	case events.WaitAnswer:
		return "for your answer (" + approve + " continues, " + m.keys.Label(keymap.GateExclude) + " rejects)"
	case events.WaitFailed:
		return "for you: it failed"
	case events.WaitStepping:
		return "for you (" + m.keys.Label(keymap.RunContinue) + " continues)"
	case events.WaitStopping:
		return "the run is stopping; this step will not run"
	case events.WaitPaused:
		if w.Root < 0 || w.Root >= len(m.plan.Steps) {
			return "for you: the run is paused (" + m.keys.Label(keymap.RunContinue) + " continues)"
		}
		at := "for you: the run is paused at " + m.stepName(w.Root)
		if doing := m.doingText(w.Root, w.Is); doing != "" {
			at += ", which " + doing
		}
		return at
	// A step that runs waits for nothing.
	case events.WaitRuns:
	}
	return ""
}

// waitSteps names the steps of a wait.
func (m waitWords) waitSteps(w events.Wait) string {
	return status.Awaited(w, len(m.plan.Steps), m.stepName)
}

// chainText says what the steps that are waited for wait for themselves.
func (m waitWords) chainText(w events.Wait) string {
	if w.Root < 0 || w.Root >= len(m.plan.Steps) || len(w.Steps) == 0 {
		return ""
	}
	doing := m.doingText(w.Root, w.Is)
	switch {
	case doing == "":
		return ""
	case status.OnlyFor(w):
		return ", which " + doing
	}
	return "; " + m.stepName(w.Root) + " " + doing
}

// doingText is what a step at the end of a chain does, or what holds it up.
func (m waitWords) doingText(step int, is events.WaitFor) string {
	switch is {
	case events.WaitRuns:
		if since, ok := m.timeline.Active[step]; ok {
			if spent := draw.Took(m.clockNow().Sub(since)); spent != "" {
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
