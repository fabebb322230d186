package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/status"
	"moon/tui/view"
)

// breakNamed sets breakpoints as --break does.
func (m deciding) breakNamed(text string) tea.Cmd {
	p, parse := m.Plan, m.Tools.ParseBreak
	return func() tea.Msg {
		list, why := parse(p, text)
		return view.Came{Then: func(m *view.State) tea.Cmd {
			// The list names steps by their numbers, which mean others in another plan.
			if m.Plan != p {
				why = "the plan has changed; try again"
			}
			if why != "" {
				m.ShowMessage(why)
				return nil
			}
			for _, c := range list {
				m.Send(c)
			}
			return nil
		}}
	}
}

func (m deciding) openBreaks() {
	if len(m.Breaks) == 0 {
		m.ShowMessage("there are no breakpoints; " + m.Keys.Label(keymap.GateBreak) + " sets one")
		return
	}
	m.Overlay = overlay.NewBreaks()
}

// toggleBreakpoint sets a breakpoint before the first step of the node, or of each mark, or clears it where there is one. On the row of a
// task over several hosts it is before the task on each of them.
func (m deciding) toggleBreakpoint() {
	var steps []int
	var rows [][]int
	all := true
	for _, n := range m.MarkedNodes() {
		var row []int
		for _, step := range status.FirstSteps(m.Plan, m.Tree.Steps(n)) {
			if slices.Contains(steps, step) {
				continue
			}
			_, set := m.Breaks[step]
			steps, row, all = append(steps, step), append(row, step), all && set
		}
		rows = append(rows, row)
	}
	// Only now is it known whether all are set. If one is missing, the key sets the missing ones and clears none, so that pressing it
	// twice clears them all.
	for _, row := range rows {
		row = slices.DeleteFunc(row, func(step int) bool { _, set := m.Breaks[step]; return set != all })
		for _, c := range status.Breaks(row, all) {
			m.Send(c)
		}
	}
	m.Cur.Clear()
}
