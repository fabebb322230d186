package tui

import (
	"cmp"
	"maps"
	"slices"

	"moon/plan"
	"moon/themes"
)

// varsTab lists values: what a step uses, what is in effect for a scope, and what the run has set so far.
func (m *model) varsTab(d *doc, s subject) {
	if s.step >= 0 {
		p := m.stepNow(s.step)
		switch {
		case p.NoLog:
			d.hint("Its values are hidden: no_log.")
		case len(p.Uses) == 0:
			d.hint("It uses no variables.")
		default:
			d.heading("It uses")
			m.uses(d, p, s.vars, 2)
		}
	}
	if len(s.vars) > 0 {
		d.heading("Set during this run")
		for _, name := range slices.Sorted(maps.Keys(s.vars)) {
			value, _ := plan.Display(s.vars[name])
			m.variable(d, 2, 0, name, inked(themes.Text, value), "")
		}
	}
	if s.step < 0 && len(m.plan.Vars) > 0 {
		d.heading("At the end of planning")
		for i := range m.plan.Vars {
			v := &m.plan.Vars[i]
			m.variable(d, 2, 0, v.Name, m.known(v.Value), from(v.From, v.Origin))
		}
	}
	if len(d.lines) == 0 {
		d.hint("There are no variables.")
	}
}

// uses lists the variables of a step. What the run has set since stands where planning knew no value.
func (m *model) uses(d *doc, p *plan.Step, set map[string]any, indent int) {
	widest := 0
	for i := range p.Uses {
		widest = max(widest, cells(plain(p.Uses[i].Name)))
	}
	for i := range p.Uses {
		u := &p.Uses[i]
		value := m.known(u.Value)
		if now, ok := set[u.Name]; ok && value.ink == themes.Dim {
			s, _ := plan.Display(now)
			value = inked(themes.Text, s)
		}
		m.variable(d, indent, widest, u.Name, value, from(u.From, u.Origin))
	}
}

func (m *model) known(v any) text {
	s, after := plan.Display(v)
	if len(after) > 0 && after[0] >= 0 && after[0] < len(m.plan.Steps) {
		return inked(themes.Dim, m.afterShort(after))
	}
	return inked(themes.Text, s)
}

// nameColumn is how wide the column of names is where the widest is known: as it must be, in bounds.
func nameColumn(w, widest int) int { return min(max(w/4, 10, min(widest+2, w/3)), 22) }

// variable is a row of name, value and place.
func (m *model) variable(d *doc, indent, widest int, name string, value text, place string) {
	at := []int{indent, indent + nameColumn(d.w, widest), max(d.w-min(d.w/3, 26), d.w/2)}
	if place == "" {
		d.columns([]int{0, at[0], at[1]}, inked(themes.Text, ""), inked(themes.Dim, name), value)
		return
	}
	d.columns([]int{0, at[0], at[1], at[2]}, inked(themes.Text, ""), inked(themes.Dim, name), value, d.place(at[2], place))
}

// from is where a value comes from: the place, or in words where it has none.
func from(source string, o plan.Origin) string { return cmp.Or(o.String(), source) }
