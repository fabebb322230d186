package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/view"
)

// showPause reacts to a pause: it shows where and why, and rings once if nobody is looking.
func (m browsing) showPause() tea.Cmd {
	failed := m.Shot.Pause.Reason == events.PauseFailure
	if failed || m.Following {
		m.ToPointer(failed)
	}
	switch {
	// A pause opens what explains it, but never takes the keys from a text that is being typed.
	case failed && !m.IsTyping():
		m.TabChosen = false
		m.Detail.OpenTab(view.TabSteps)
		m.Detail.Scroll = 0
		m.LendDetail()
	case !failed:
		m.AutoTab(view.TabSteps)
	}
	if failed && m.Unfocused {
		return tea.Raw("\a")
	}
	return nil
}

// showEnd reacts to the end of the run: the tree shows what is worth seeing, the root what it came to.
func (m browsing) showEnd(before events.Phase) {
	m.Summary = m.Summarize()
	if before == events.Ended {
		return // it was shown already
	}
	if m.Filter == tree.FilterAll &&
		m.Tree.Tallies[0].Sum(status.Changed, status.Failed, status.Unreachable, status.Ignored, status.Rescued,
			status.Outdated, status.Cancelled)+len(m.Tree.Drift) > 0 {
		m.SetFilter(tree.FilterNotable)
	}
	// The user reads or types something; the end of the run must not take that away.
	if m.IsTyping() || m.FocusedPane() == view.PaneDetail && !m.Panes.Lent {
		return
	}
	m.Cur.Node, m.Following, m.TabChosen = 0, false, false
	m.Detail.OpenTab(view.TabSteps)
	m.LendDetail()
}
