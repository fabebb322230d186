package pane

import (
	"fmt"
	"strings"

	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/view"
)

// Origins say what is not as the files of the playbook have it now: overrides, and files that have changed.
type Origins struct{ *view.State }

// CountOverridden counts the values that were put in the place of others for this run.
func (m Origins) CountOverridden() int { return len(m.Plan.Overrides()) }

// overrideText says what was overridden, in the glyphs of this screen.
func (m Origins) overrideText(o plan.Overridden) string {
	text := strings.Replace(o.Text(), "→", m.Glyphs.Arrow, 1)
	if o.Host != "" {
		text += "  on " + o.Host
	}
	return text
}

// OverrideMark is the mark of a row whose step has values of its own for this run.
func (m Origins) OverrideMark(p *plan.Step) draw.Text {
	if len(p.Overridden) == 0 {
		return draw.Text{}
	}
	return draw.Inked(themes.Changed, m.Keys.Label(keymap.NodeFix))
}

// overridesList names them for the summary, with the places in which to keep them.
func (m Origins) overridesList(d *draw.Doc) {
	for i, o := range m.Summary.Overrides {
		if i == 0 {
			d.Heading("Overrides used (not in your files)")
		}
		what := "  " + draw.CutRight(draw.Plain(m.overrideText(o.Overridden)), max(d.W-2, 0), m.Glyphs.Dots)
		d.Add(draw.Inked(themes.Changed, what),
			draw.Inked(themes.Dim, "   "+draw.CutMiddle(draw.Plain(m.TitleOn(o.Step)), max(d.W-draw.Cells(what)-3, 0), m.Glyphs.Dots)))
		if place := o.Origin.String(); place != "" {
			d.Para(themes.Dim, 2, "to keep it, edit "+place)
		}
	}
}

// overriddenFields says in the Step tab what is not as the playbook has it.
func (m Origins) overriddenFields(d *draw.Doc, p *plan.Step) {
	for i, o := range p.Overridden {
		label := ""
		if i == 0 {
			label = "override"
		}
		d.Field(label, draw.Inked(themes.Changed, m.overrideText(o)),
			draw.Inked(themes.Dim, fmt.Sprintf("  this run only; %s changes it", m.Keys.Label(keymap.NodeFix))))
	}
}
