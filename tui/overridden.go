package tui

import (
	"fmt"

	"moon/events"
	"moon/plan"
	"moon/themes"
)

// overridden counts the values that were put in the place of others for this run.
func (m *model) overridden() int { return len(m.plan.Overrides()) }

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
			if seen[o.Text()] || i >= len(ran) || ran[i].Attempt == 0 {
				continue
			}
			if len(seen) == 0 {
				d.heading("Overrides used (not in your files)")
			}
			seen[o.Text()] = true
			d.columns([]int{0, 2, max(d.w/2, 12)}, text{themes.Text, ""}, text{themes.Text, o.Text()}, text{themes.Dim, stepTitle(p)})
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
		d.field(label, text{themes.Changed, o.Text()}, text{themes.Dim, fmt.Sprintf("  this run only; %s changes it", m.keys.label(nodeFix))})
	}
}
