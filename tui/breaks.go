package tui

import (
	"fmt"
	"maps"
	"slices"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/known"
	"moon/tui/status"
)

// breakOn is the breakpoint that shows at a node: its own, or the first that is folded into it.
func (m *view) breakOn(n int) (events.Breakpoint, bool) {
	if len(m.Breaks) == 0 {
		return events.Breakpoint{}, false
	}
	if i := m.Tree.Step(n); i >= 0 {
		s, ok := m.Breaks[i]
		return s, ok
	}
	if !m.rows.Folded[n] {
		return events.Breakpoint{}, false
	}
	r, first := m.Tree.Steps(n), -1
	if r.To-r.From < len(m.Breaks) { // there may be one at every step
		for i := r.From; i < r.To; i++ {
			if s, ok := m.Breaks[i]; ok {
				return s, true
			}
		}
		return events.Breakpoint{}, false
	}
	for i := range m.Breaks {
		if r.Has(i) && (first < 0 || i < first) {
			first = i
		}
	}
	s, ok := m.Breaks[first]
	return s, ok
}

// breakAt reports whether a breakpoint shows at a node.
func (m *view) breakAt(n int) bool {
	_, ok := m.breakOn(n)
	return ok
}

// breakSign is how a breakpoint looks in the gutter.
func breakSign(set events.Break, g *draw.Glyphs) draw.Text {
	return g.BreakSign(set.Log != "", set.When != "" || set.After > 0)
}

// breakState says at a glance at which breakpoint the run is paused.
func (m deciding) breakState(b *draw.Brush) bool {
	s, ok := m.Breaks[m.Shot.PausedAt]
	if !ok || m.Shot.Phase != events.Paused || m.Shot.Pause.Reason != events.PauseBreakpoint {
		return false
	}
	sign := breakSign(s.Set, m.glyphs)
	b.Put(sign.Ink, sign.S)
	words := fmt.Sprintf(" here   hit %d   condition: %s", s.Hits, draw.Plain(orNone(s.Set.When)))
	if s.Set.After > 0 {
		words = fmt.Sprintf(" here   hit %d, after %d   condition: %s", s.Hits, s.Set.After, draw.Plain(orNone(s.Set.When)))
	}
	b.Put(themes.Text, draw.CutRight(words, max(b.Left-2, 0), m.glyphs.Dots))
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
	for _, n := range m.markedNodes() {
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
	m.cur.Clear()
}

// markedNodes are the nodes that a person has marked, or the one under the cursor.
func (m *view) markedNodes() []int {
	m.cur.CloseRange(m.rows)
	if len(m.cur.Marks) == 0 {
		return []int{m.cursorNode()}
	}
	return slices.Sorted(maps.Keys(m.cur.Marks))
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
		d.Columns([]int{0, 2, 4, at}, draw.Inked(themes.Text, ""), breakSign(p.Set, m.glyphs), draw.Inked(themes.Text, m.BreakTitle(&p)),
			d.Place(at, step.Origin.String()))
		if words := known.BreakText(&p); words != "" {
			d.Para(themes.Dim, 4, words)
		}
	}
}
