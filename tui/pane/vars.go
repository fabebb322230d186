package pane

import (
	"maps"
	"slices"

	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/view"
)

// varsPane is the tab Vars.
type varsPane struct{ *view.State }

// varsTab lists values: what a step uses, what is in effect for a scope, and what the run has set so far.
func (m varsPane) varsTab(d *draw.Doc, s view.Subject) {
	if s.Step >= 0 {
		p := m.StepNow(s.Step)
		switch {
		case p.NoLog:
			d.Hint("Its values are hidden: no_log.")
		case len(p.Uses) == 0:
			d.Hint("It uses no variables.")
		default:
			d.Heading("It uses")
			m.drawUses(d, p, s.Vars, 2)
		}
	}
	if len(s.Vars) > 0 {
		d.Heading("Set during this run")
		for _, name := range slices.Sorted(maps.Keys(s.Vars)) {
			value, _ := plan.Display(s.Vars[name])
			m.drawVariable(d, 2, 0, name, draw.Inked(themes.Text, value), "")
		}
	}
	if s.Step < 0 && len(m.Plan.Vars) > 0 {
		d.Heading("At the end of planning")
		for i := range m.Plan.Vars {
			v := &m.Plan.Vars[i]
			m.drawVariable(d, 2, 0, v.Name, m.knownText(v.Value), view.SourceText(v.From, v.Origin))
		}
	}
	if len(d.Lines) == 0 {
		d.Hint("There are no variables.")
	}
}

// drawUses lists the variables of a step. What the run has set since stands where planning knew no value.
func (m varsPane) drawUses(d *draw.Doc, p *plan.Step, set map[string]any, indent int) {
	widest := 0
	for i := range p.Uses {
		widest = max(widest, draw.Cells(draw.Plain(p.Uses[i].Name)))
	}
	for i := range p.Uses {
		u := &p.Uses[i]
		value := m.knownText(u.Value)
		if now, ok := set[u.Name]; ok && value.Ink == themes.Dim {
			s, _ := plan.Display(now)
			value = draw.Inked(themes.Text, s)
		}
		m.drawVariable(d, indent, widest, u.Name, value, view.SourceText(u.From, u.Origin))
	}
}

func (m varsPane) knownText(v any) draw.Text {
	s, after := plan.Display(v)
	if len(after) > 0 && after[0] >= 0 && after[0] < len(m.Plan.Steps) {
		return draw.Inked(themes.Dim, WatchPane(m).afterShort(after))
	}
	return draw.Inked(themes.Text, s)
}

// drawVariable draws a row of name, value and place.
func (m varsPane) drawVariable(d *draw.Doc, indent, widest int, name string, value draw.Text, place string) {
	at := []int{indent, indent + draw.NameColumn(d.W, widest), max(d.W-min(d.W/3, 26), d.W/2)}
	if place == "" {
		d.Columns([]int{0, at[0], at[1]}, draw.Inked(themes.Text, ""), draw.Inked(themes.Dim, name), value)
		return
	}
	d.Columns([]int{0, at[0], at[1], at[2]}, draw.Inked(themes.Text, ""), draw.Inked(themes.Dim, name), value, d.Place(at[2], place))
}
