package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/draw"
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
	var ring tea.Cmd
	if failed && m.Unfocused {
		ring = tea.Raw("\a")
	}
	return tea.Batch(ring, m.notify(pauseWords[m.Shot.Pause.Reason]))
}

// pauseWords are what a notice says of a pause. Those that the user has asked for a moment ago have none.
var pauseWords = map[events.PauseReason]string{
	events.PauseUndecided: "needs a decision", events.PauseConfirm: "needs a confirmation",
	events.PauseBreakpoint: "stopped at a breakpoint",
	events.PauseFailure:    "paused: a step has failed", events.PauseEnd: "has ended, and a step has failed",
}

// notify says something to a person who is looking elsewhere, with the name of the playbook.
func (m browsing) notify(words string) tea.Cmd {
	if words == "" || !m.Unfocused || m.Tools.Notify == nil || m.Plan == nil {
		return nil
	}
	return m.Tools.Notify(draw.Plain(m.Plan.RootFile) + " " + words)
}

// showEnd reacts to the end of the run: the tree shows what is worth seeing, the root what it came to.
func (m browsing) showEnd(before events.Phase) tea.Cmd {
	m.Summary = m.Summarize()
	if before == events.Ended {
		return nil // it was shown already
	}
	words := "is done"
	if m.Tree.Tallies[0].Sum(status.Failed, status.Unreachable) > 0 {
		words = "has ended, and steps have failed"
	} else if m.Shot.Stopped {
		words = "was stopped"
	}
	cmd := m.notify(words)
	if m.Filter == tree.FilterAll &&
		m.Tree.Tallies[0].Sum(status.Changed, status.Failed, status.Unreachable, status.Ignored, status.Rescued,
			status.Outdated, status.Cancelled)+len(m.Tree.Drift) > 0 {
		m.SetFilter(tree.FilterNotable)
	}
	// The user reads or types something; the end of the run must not take that away.
	if m.IsTyping() || m.FocusedPane() == view.PaneDetail && !m.Panes.Lent {
		return cmd
	}
	m.Cur.Node, m.Following, m.TabChosen = 0, false, false
	m.Detail.OpenTab(view.TabSteps)
	m.LendDetail()
	return cmd
}
