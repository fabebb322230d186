package pane

import (
	tea "charm.land/bubbletea/v2"

	"moon/events/steplog"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/view"
)

// DetailPane is the pane beside the tree: one of its tabs.
type DetailPane struct{ *view.State }

// FetchOutput asks for the output that is on the screen and not there yet.
func (m OutputPane) FetchOutput() tea.Cmd {
	if m.Tools.OutDir == nil {
		return nil
	}
	l := m.CurrentLayout()
	var cmds []tea.Cmd
	if l.DetailH > 0 {
		cmds = append(cmds, m.fetchDetail(l))
	}
	// The peek shows what the run prints, the detail what the cursor is on: these may be two steps, hence two reels.
	if l.PeekH > 0 || l.Kind == view.LayoutCard {
		m.Peek.Show(m.Tools.OutDir(), m.AttemptPrefix(m.Shot.Pointer, -1))
		cmds = append(cmds, m.Peek.Need(-1, feed.EndLines))
	}
	return tea.Batch(cmds...)
}

func (m OutputPane) fetchDetail(l view.Layout) tea.Cmd {
	d := &m.Detail
	n := m.CursorNode()
	d.LookAt(n)
	// Another attempt has other lines, so hits found before would mark the wrong ones.
	changed := false
	if woven := m.WovenName(n); woven != "" && d.Tab == view.TabOutputs {
		changed = d.Reel.ShowAll(m.Tools.OutDir(), woven, func() []steplog.Part { return m.PartsOf(n) })
	} else {
		changed = d.Reel.Show(m.Tools.OutDir(), m.AttemptPrefix(m.OutputOf(n), d.Output.Attempt))
	}
	if changed {
		d.Search = d.Search.RestartIn()
	}
	// Below zero the reel reads the end. A view that follows cannot name its first line before it knows where the output ends.
	from := -1
	if !d.Output.Follow && d.Tab == view.TabOutputs {
		from = d.Output.Top
	}
	return tea.Batch(d.Reel.Need(from, l.DetailH), m.SeekNext())
}

// drawDetail makes the text of the tab; the rows are drawn one by one.
func (m DetailPane) detailDoc(w, h int) *draw.Doc {
	s := m.DetailSubject()
	d := draw.NewDoc(w, h, m.Glyphs)
	switch m.Detail.Tab {
	case view.TabSteps:
		StepPane(m).stepTab(d, s)
	case view.TabDiffs:
		if s.Step < 0 && !(m.Tree.Over && m.Tree.Task(s.Node)) {
			watches := WatchPane(m).watchLines(d)
			(&scopeDiffs{diffPane: diffPane(m), d: d}).scopeTab(s.Node, len(watches))
			d.Pin(watches, m.Detail.Scroll)
			return d
		}
		diffPane(m).diffTab(d, s)
	case view.TabVariables:
		varsPane(m).varsTab(d, s)
	case view.TabHistory:
		eventsPane(m).eventsTab(d, s)
	case view.TabOutputs, view.Tabs:
		return nil
	}
	watches := WatchPane(m).watchLines(d)
	// The watches cover the last rows. They count as part of the text, or its own last lines could not be scrolled clear of them.
	m.Detail.Length, m.Detail.Height = len(d.Lines)+len(watches), h
	m.Detail.ScrollBy(0)
	d.Pin(watches, m.Detail.Scroll)
	return d
}
