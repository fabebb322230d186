package tui

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/themes"
)

// overridden counts the values that were put in the place of others for this run.
func (m *model) overridden() int { return len(m.plan.Overrides()) }

// overrideText says what was overridden, in the glyphs of this screen.
func (m *model) overrideText(o plan.Overridden) string {
	return strings.Replace(o.Text(), "→", m.glyphs.arrow, 1)
}

// overrideMark is the mark of a row whose step has values of its own for this run.
func (m *model) overrideMark(p *plan.Step) text {
	if len(p.Overridden) == 0 {
		return text{}
	}
	return text{themes.Changed, m.keys.label(nodeFix)}
}

// overridesList names them for the summary, each once, with the places in which to keep them.
func (m *model) overridesList(d *doc) {
	if m.overridden() == 0 {
		return
	}
	seen := map[string]bool{}
	var ran []events.Step
	m.store.read(func(run *events.Run) { ran = run.Steps })
	for i := range m.plan.Steps {
		p := &m.plan.Steps[i]
		for _, o := range p.Overridden {
			if seen[o.Text()] || i >= len(ran) || ran[i].Attempt == 0 && !ran[i].Kept {
				continue
			}
			if len(seen) == 0 {
				d.heading("Overrides used (not in your files)")
			}
			seen[o.Text()] = true
			what := "  " + cutRight(plain(m.overrideText(o)), max(d.w-2, 0), m.glyphs.dots)
			d.add(text{themes.Changed, what}, text{themes.Dim, "   " + cutMiddle(plain(stepTitle(p)), max(d.w-cells(what)-3, 0), m.glyphs.dots)})
			if place := o.Origin.String(); place != "" {
				d.para(themes.Dim, 2, "keep it:  "+place)
			}
		}
	}
}

// overriddenFields says in the Step tab what is not as the playbook has it.
func (m *model) overriddenFields(d *doc, p *plan.Step) {
	for i, o := range p.Overridden {
		label := ""
		if i == 0 {
			label = "override"
		}
		d.field(label, text{themes.Changed, m.overrideText(o)}, text{themes.Dim, fmt.Sprintf("  this run only; %s changes it", m.keys.label(nodeFix))})
	}
}
