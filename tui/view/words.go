package view

import (
	"cmp"
	"fmt"
	"strings"

	"moon/events"
	"moon/internal/diag"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/status"
)

// StepName refers to a step: step-0003 «read release file».
func (m *State) StepName(step int) string {
	p := &m.Plan.Steps[step]
	return p.ID() + " " + m.Glyphs.Quote[0] + draw.Plain(m.StepTitle(step)) + m.Glyphs.Quote[1]
}

// StepNames refers to steps: the first three by name, the others by their number.
func (m *State) StepNames(steps []int) string {
	if len(steps) == 0 {
		return m.Plan.After(nil)
	}
	var names []string
	for _, s := range steps {
		if s >= 0 && s < len(m.Plan.Steps) {
			names = append(names, m.StepName(s))
		}
	}
	const shown = 3
	if more := len(names) - shown; more > 0 {
		names = append(names[:shown], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// WhenKnown says what a value waits for: the steps that will give it. Of those that have ended it says what became of them.
func (m *State) WhenKnown(steps []int) string {
	switch from := m.Position().SourcesOf(steps); {
	case len(from.Pending) > 0:
		return "known after " + m.StepNames(from.Pending)
	case len(from.Gone) > 0:
		return "has no value: " + m.StepName(from.Gone[0]) + " " + status.Fate(m.Tree.Faces[from.Gone[0]])
	case len(from.Given) > 0 && !m.IsRecorded():
		return "given by " + m.StepNames(from.Given)
	case len(from.Given) > 0:
		return "was given by " + m.StepNames(from.Given)
	case m.Shot.Phase != events.Review:
		return "known when the step starts"
	}
	return "known after " + m.StepNames(steps)
}

// TabKey is the key of a tab as it stands before its name.
func (m *State) TabKey(t Tab) string {
	if do := keymap.TabStep + keymap.Intent(t); m.Keys.Bound(do) {
		return m.Keys.Label(do) + " "
	}
	return ""
}

// TabName is the name of a tab. The first one of a run that is over, at the root, is its summary.
func (m *State) TabName(t Tab) string {
	if t == TabSteps && m.CursorNode() == 0 && (m.Shot.Phase == events.Done || m.Shot.Phase == events.Ended) {
		return "Summary"
	}
	return TabNames[t]
}

// PauseWord says why the run is paused, as it stands behind PAUSED.
func (m *State) PauseWord() string {
	if m.WasResumed() {
		return "after resuming"
	}
	return PauseShort(m.Shot.Pause.Reason)
}

// PauseShort says in two words why a run paused.
func PauseShort(r events.PauseReason) string {
	switch r {
	case events.PauseFailure:
		return "on failure"
	case events.PauseBreakpoint:
		return "at breakpoint"
	case events.PauseUndecided:
		return "not approved"
	case events.PauseConfirm:
		return "to confirm"
	case events.PauseUser:
		return "by you"
	case events.PauseReview, events.PauseStep, events.PauseEnd:
	}
	return "step by step"
}

// PauseQuestion is what the run is paused to ask.
func (m *State) PauseQuestion() string {
	at := m.Shot.PausedAt
	if m.Shot.Phase != events.Paused || at < 0 || at >= len(m.Tree.Faces) {
		return ""
	}
	approve := m.Keys.Label(keymap.GateApprove)
	switch m.Tree.Faces[at] {
	case status.Confirm:
		return m.Plan.Steps[at].Confirm + "   " + approve + " confirms it"
	case status.Undecided:
		if m.Shot.Pause.Reason == events.PauseUndecided {
			reason := ""
			if m.Shot.Pause.Message != "" {
				reason = "   (" + m.Shot.Pause.Message + ")"
			}
			return "not approved: " + approve + " approves it, " + m.Keys.Label(keymap.GateApproveAll) + " approves all" + reason
		}
	default:
	}
	return ""
}

// SourceText is where a value comes from: the place, or in words where it has none.
func SourceText(source string, o diag.Origin) string { return cmp.Or(o.String(), source) }
