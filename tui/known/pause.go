package known

import (
	"moon/events"
	"moon/tui/status"
)

// RetryingText says how a retry goes, where the run was paused on a failure.
func (m *Run) RetryingText() string {
	if m.Shot.Pause.Reason != events.PauseFailure || m.Position().OnFailure() {
		return ""
	}
	switch {
	case m.Tree.Faces[m.Shot.PausedAt] == status.Running:
		return "retrying"
	case m.Position().Edited():
		return "after an edit"
	}
	return "after a retry"
}

// DecidedText says what the user has answered to the question that the run is paused at.
func (m *Run) DecidedText() string {
	at := m.Shot.PausedAt
	switch m.Shot.Pause.Reason {
	case events.PauseUndecided, events.PauseConfirm:
	default:
		return ""
	}
	if m.Shot.Phase != events.Paused || at < 0 || at >= len(m.Tree.Faces) {
		return ""
	}
	switch m.Tree.Faces[at] {
	case status.Waiting:
		return "approved"
	case status.Excluded:
		return "excluded"
	default:
		return ""
	}
}

// WasResumed reports whether the run was resumed, and nothing has been asked for since.
func (m *Run) WasResumed() bool {
	return m.Shot.Phase == events.Paused && m.Shot.Pause.Reason == events.PauseUser && m.Shot.Pause.Message != ""
}
