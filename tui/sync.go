package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/feed"
	"moon/tui/tree"
	"moon/tui/view"
)

// syncStore brings the model up to date with the store. What matters is compared with the last time, so nothing that
// happened between two frames is lost: a pause that came and went still counts as one.
func (m *model) syncStore() tea.Cmd {
	// Where the feed broke off, the process that had the run is gone, and nothing more comes.
	broke := m.Tools.Attached && !m.concluded && m.Store.Over() && m.Shot.Phase != events.Done
	if broke {
		m.concluded = true
		m.Store.Conclude()
	}
	news := replanning{m.State}.adoptPlan()
	before := m.Shot
	changed := m.Sync()
	if m.Shot.Phase != before.Phase && before.Steps > 0 { // at the first look it is what the screen opens with
		m.Message = "" // it was about something else
	}
	if news != "" {
		m.ShowMessage(news)
	}
	if broke {
		m.ShowMessage("the process that had the run is gone; moon resume continues it")
	}
	for _, note := range m.Shot.Notes {
		m.ShowMessage(note)
		if why, is := strings.CutPrefix(note, feed.Refused); is {
			fixPane{m.State}.fixRefused(why)
		}
	}
	cmd := m.followRun(before)
	// What a search has found does not depend on states, so only the other filters have other rows now.
	if changed && m.Filter != tree.FilterAll && m.Filter != tree.FilterFound {
		m.RebuildRows()
	}
	m.filterAgain()
	m.Detail.Reel.Stale, m.Peek.Stale = true, true
	return tea.Batch(cmd, m.keepTicking())
}

// followRun reacts to what happened to the run since before.
func (m *model) followRun(before feed.Shot) tea.Cmd {
	var cmd tea.Cmd
	// Counted, not compared by phase: a pause that came and went between two looks still counts.
	paused := m.Shot.Pauses != m.seen
	m.seen = m.Shot.Pauses
	switch {
	case m.Shot.Phase == events.Done || m.Shot.Phase == events.Ended:
		if before.Phase != m.Shot.Phase {
			cmd = browsing{m.State}.showEnd(before.Phase)
		}
	case paused && m.Shot.Phase == events.Paused:
		cmd = browsing{m.State}.showPause()
	case before.Phase != events.Running && m.Shot.Phase == events.Running:
		m.AutoTab(view.TabOutputs)
		m.Panes.GiveBack()
	}
	if m.Following && m.Shot.Phase == events.Running {
		m.ToPointer(false)
	}
	if m.Shot.Phase == events.Done && (m.leaving || m.Shot.Stopped) {
		return tea.Quit
	}
	return cmd
}

// filterAgain filters as before, when it is known what the steps are like. A filter that would show nothing now is left.
func (m *model) filterAgain() {
	if m.kept == tree.FilterAll || m.Shot.Steps == 0 {
		return
	}
	m.SetFilter(m.kept)
	if m.kept = tree.FilterAll; len(m.Rows.Rows) < 2 {
		m.SetFilter(tree.FilterAll)
	}
}

// openScreen is called the first time that the size of the screen is known. Where nobody has looked at this playbook before and it has
// more rows than fit, it is folded below the levels that do, but for what asks to be confirmed.
func (m *model) openScreen() {
	l := m.CurrentLayout()
	if m.opened || l.Kind == view.LayoutCard {
		return
	}
	m.opened = true
	if m.o.View == nil && (len(m.Rows.Rows) > l.TreeH || m.Tree.Over) && l.TreeH > 0 {
		m.Rows.Overview(l.TreeH)
	}
}
