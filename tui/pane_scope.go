package tui

import (
	"fmt"

	"moon/plan"
	"moon/themes"
)

// listed is how many steps a list in the detail names before it counts the rest.
const listed = 12

// scopeTab is the first tab for an inner node: what it is, how far it is, and what in it needs a person.
func (m *model) scopeTab(d *doc, n int) {
	d.para(inkTitle, 0, m.tree.title(n))
	d.blank()
	m.whyField(d, n)
	t := m.tree.tally(n)
	m.counts(d, &t)
	s := m.tree.scope(n)
	if s == nil {
		return
	}
	switch {
	case n == 0:
		d.value("name", m.plan.Name)
		d.value("plan", short(m.plan.Digest))
		d.value("strategy", m.plan.Strategy)
	case s.Kind == plan.ScopeLoop:
		d.value("loop", fmt.Sprintf("%s  %s %d", s.Loop, m.glyphs.times, s.Items))
	}
	d.value("item", s.Item)
	m.hostsField(d, s)
	m.decidedField(d, s)
	if s.When != "" {
		d.value("when", s.When)
	}
	if s.Skipped != "" {
		d.field("skipped", inked(themes.Changed, s.Skipped+" is false"))
	}
	switch {
	case s.Parallel >= plan.Unlimited:
		d.value("order", "none: all at once")
	case s.Parallel > 1:
		d.value("order", fmt.Sprintf("none: %d at once", s.Parallel))
	}
	if n == 0 {
		m.playbook(d)
	} else {
		m.origin(d, s.Origin)
		m.source(d, s.Origin)
	}
	if n == 0 {
		m.breakList(d)
	}
	m.list(d, n, "Failed", face.Bad)
	m.list(d, n, "Needs attention", func(f face) bool { return f == faceConfirm })
}

// counts says how many steps there are of each kind.
func (m *model) counts(d *doc, t *tally) {
	line := []text{inked(themes.Text, count(t.total(), "step"))}
	add := func(look sign, n int, words string) {
		if n > 0 {
			line = append(line, inked(themes.Text, "   "), inked(signLooks[look].role, m.glyphs.signs[look]),
				inked(themes.Text, fmt.Sprintf(" %d %s", n, words)))
		}
	}
	add(signFailed, t.sum(faceFailed), "failed")
	add(signUnreachable, t.sum(faceUnreachable), "unreachable")
	add(signRunning, t.sum(faceRunning), "running")
	add(signOK, t.sum(faceOK), "ok")
	add(signChanged, t.sum(faceChanged), "changed")
	add(signSkipped, t.sum(faceSkipped), "skipped")
	if t.done() == 0 {
		add(signApproved, t.sum(faceWaiting), "approved")
	}
	add(signConfirm, t.sum(faceConfirm), "to confirm")
	add(signExcluded, t.sum(faceExcluded), "excluded")
	d.lines = append(d.lines, d.flow(line)...)
}

// playbook lists what planning warned of and the files of the plan.
func (m *model) playbook(d *doc) {
	if len(m.plan.Diagnostics) > 0 {
		d.heading("Warnings")
		for _, w := range m.plan.Diagnostics {
			d.para(themes.Warn, 2, fmt.Sprintf("%s:%d", w.Pos.File, w.Pos.Line))
			d.para(themes.Text, 4, w.Message)
			if w.Hint != "" {
				d.para(themes.Dim, 4, w.Hint)
			}
		}
	}
	if len(m.plan.Inputs) > 0 {
		d.heading("Files")
		for i, in := range m.plan.Inputs {
			if i == listed {
				d.add(inked(themes.Dim, fmt.Sprintf("  and %d more", len(m.plan.Inputs)-i)))
				break
			}
			d.add(inked(themes.Text, "  "), inked(themes.Text, plain(in.Path)))
		}
	}
}

// list names the steps below a node that have a certain face.
func (m *model) list(d *doc, n int, title string, is func(face) bool) {
	r, shown := m.tree.steps(n), 0
	for i := r.From; i < r.To; i++ {
		if !is(m.tree.faces[i]) {
			continue
		}
		if shown == 0 {
			d.heading(title)
		}
		if shown++; shown > listed {
			d.add(inked(themes.Dim, "  and more"))
			return
		}
		look := faceSigns[m.tree.faces[i]]
		p := &m.plan.Steps[i]
		m.entry(d, look, p)
	}
}

// entry is a line of a list of steps: how it is, its name, its place.
func (m *model) entry(d *doc, look sign, p *plan.Step) {
	at := max(d.w-20, d.w/2)
	d.columns([]int{0, 2, 4, at}, inked(themes.Text, ""), inked(signLooks[look].role, m.glyphs.signs[look]),
		inked(themes.Text, m.stepTitle(p.Index)), d.place(at, p.Origin.String()))
}
