package tui

import "moon/events"

// pointToNext points to what comes next in a run that goes on where an earlier process has left it.
func (m *knownRun) pointToNext() {
	if m.run.Phase == events.Paused && m.run.Pointer < 0 {
		m.run.Pointer = m.position().Next()
	}
}

// goneOn reports whether the run was resumed, and nothing has been asked for since.
func (m *knownRun) goneOn() bool {
	return m.run.Phase == events.Paused && m.run.Pause.Reason == events.PauseUser && m.run.Pause.Message != ""
}
