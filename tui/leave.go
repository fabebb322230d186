package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/keymap"
	"moon/tui/overlay"
)

// askToLeave leaves, and asks first if that would stop something.
func (m *model) askToLeave() tea.Cmd {
	if m.Tools.Attached && m.Shot.Phase != events.Done {
		m.Overlay = overlay.Leave{Attached: true}
		return m.quitIfOver()
	}
	switch m.Shot.Phase {
	case events.Done:
		return tea.Quit
	// Nothing runs, but failed steps could still be retried: leaving is what ends the run. The TUI closes when the feed says so.
	case events.Ended:
		m.leaving = true
		m.Stopping++
		m.Send(events.Leave{})
	case events.Review:
		m.stopRun(events.StopInterrupt, false)
	case events.Running, events.Paused:
		m.Overlay = overlay.Leave{}
	}
	return m.quitIfOver()
}

// quitIfOver leaves where the feed has ended without the end of the run: there is no answer to wait for.
func (m *model) quitIfOver() tea.Cmd {
	if m.Store.Over() {
		return tea.Quit
	}
	return nil
}

// handleInterrupt is ctrl+c: it asks like askToLeave, and does not ask again.
func (m *model) handleInterrupt() tea.Cmd {
	if _, asked := m.Overlay.(overlay.Leave); !asked && m.Stopping == 0 {
		m.Overlay, m.Prompt = nil, nil
		return m.askToLeave()
	}
	if m.Tools.Attached {
		return tea.Quit // the run is another process's, and continues
	}
	// The second time there is nothing left to ask: the run is to end now.
	m.Overlay = nil
	m.stopRun(events.StopNow, true)
	if m.Stopping > 2 || m.Store.Over() {
		m.forced = m.Shot.Phase != events.Done
		return tea.Quit // whatever keeps the run must not keep the terminal
	}
	return nil
}

// stopRun ends the run before its end.
func (m *model) stopRun(how events.StopHow, signal bool) {
	m.leaving = true
	m.Stopping++
	m.Send(events.Stop{How: how, Signal: signal})
}

// retryOrAgain retries what failed. When the run is over there is nothing of the kind, and it is the whole that is run again.
func (m *model) retryOrAgain() tea.Cmd {
	if m.Shot.Phase == events.Done && m.Tools.Again {
		m.again = &AgainError{}
		return tea.Quit
	}
	m.sendIntent(keymap.RunRetryAll)
	return nil
}
