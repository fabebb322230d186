package known

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/status"
)

// waiting is the question why steps have not begun. Only the engine knows; it is asked in the background, one question at a
// time, and not more often than a person can read.
type waiting struct {
	asked []int // the steps of the last question
	open  bool  // it has not been answered
	stale bool  // what was said may have changed
}

// AskWaits asks about some steps, if there is anything new to ask.
func (m *Run) AskWaits(about func() []int) tea.Cmd {
	w := &m.waiting
	if m.Engine.Why == nil || w.open || m.Shot.Phase != events.Running && m.Shot.Phase != events.Paused {
		return nil
	}
	steps := about()
	if len(steps) == 0 || !w.stale && slices.Equal(steps, w.asked) {
		return nil
	}
	// stale is taken back before the question, so what changes while it is open counts as new.
	w.open, w.stale, w.asked = true, false, steps
	digest, why := m.Plan.Digest, m.Engine.Why
	return func() tea.Msg {
		waits := why(digest, steps)
		return Answer{func() string {
			m.TakeWaits(digest, steps, waits)
			return ""
		}}
	}
}

// TakeWaits keeps an answer, which may be none: then nothing is said. It may be about the plan before.
func (m *Run) TakeWaits(digest string, steps []int, waits []events.Wait) {
	m.waiting.open, m.Waits = false, map[int]events.Wait{}
	for i := range waits {
		if m.Plan.Digest == digest {
			m.Waits[steps[i]] = waits[i]
		}
	}
}

// IsWaiting reports whether a step waits, for whatever it is.
func (m *Run) IsWaiting(step int) bool {
	f := m.Tree.Faces[step]
	return f.Pending() || f == status.Asking
}

// HeldStep is the first step at or below a node that has not begun, or -1. A scope in which something runs is not held up.
func (m *Run) HeldStep(n int) int {
	if t := m.Tree.Tally(n); t[status.Running] > 0 ||
		t.Sum(status.Waiting, status.Undecided, status.Confirm, status.Asking) == 0 {
		return -1
	}
	r := m.Tree.Steps(n)
	for i := r.From; i < r.To; i++ {
		if m.IsWaiting(i) {
			return i
		}
	}
	return -1
}

// LastWait is what was last said of a step.
func (m *Run) LastWait(step int) events.Wait {
	if !m.IsWaiting(step) || m.Shot.Phase != events.Running && m.Shot.Phase != events.Paused {
		return events.Wait{}
	}
	return m.Waits[step]
}
