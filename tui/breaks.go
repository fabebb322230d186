package tui

import (
	"fmt"
	"slices"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/known"
	"moon/tui/status"
	"moon/tui/view"
)

// breakState says at a glance at which breakpoint the run is paused.
func (m deciding) breakState(b *draw.Brush) bool {
	s, ok := m.Breaks[m.Shot.PausedAt]
	if !ok || m.Shot.Phase != events.Paused || m.Shot.Pause.Reason != events.PauseBreakpoint {
		return false
	}
	sign := view.BreakSign(s.Set, m.Glyphs)
	b.Put(sign.Ink, sign.S)
	words := fmt.Sprintf(" here   hit %d   condition: %s", s.Hits, draw.Plain(orNone(s.Set.When)))
	if s.Set.After > 0 {
		words = fmt.Sprintf(" here   hit %d, after %d   condition: %s", s.Hits, s.Set.After, draw.Plain(orNone(s.Set.When)))
	}
	b.Put(themes.Text, draw.CutRight(words, max(b.Left-2, 0), m.Glyphs.Dots))
	return true
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
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
	for _, row := range rows {
		row = slices.DeleteFunc(row, func(step int) bool { _, set := m.Breaks[step]; return set != all })
		for _, c := range status.Breaks(row, all) {
			m.Send(c)
		}
	}
	m.Cur.Clear()
}

// breakList names the breakpoints of the run.
func (m scopePane) breakList(d *draw.Doc) {
	for i, p := range m.BreakPlaces() {
		switch i {
		case 0:
			d.Heading("Breakpoints")
		case listed:
			d.Add(draw.Inked(themes.Dim, fmt.Sprintf("  and %d more: :breaks", len(m.BreakPlaces())-i)))
			return
		}
		step := &m.Plan.Steps[p.Steps[0]]
		at := max(d.W-20, d.W/2)
		d.Columns([]int{0, 2, 4, at}, draw.Inked(themes.Text, ""), view.BreakSign(p.Set, m.Glyphs), draw.Inked(themes.Text, m.BreakTitle(&p)),
			d.Place(at, step.Origin.String()))
		if words := known.BreakText(&p); words != "" {
			d.Para(themes.Dim, 4, words)
		}
	}
}
