package pane

import (
	"fmt"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/known"
	"moon/tui/view"
)

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
		d.Columns([]int{0, 2, 4, at}, draw.Inked(themes.Text, ""), view.BreakSign(p.Set, m.Glyphs),
			draw.Inked(themes.Text, m.BreakTitle(&p)),
			d.Place(at, step.Origin.String()))
		if words := known.BreakText(&p); words != "" {
			d.Para(themes.Dim, 4, words)
		}
	}
}
