package show

import (
	"fmt"
	"strings"

	"moon/internal/termtext"
	"moon/plan"
)

// orphanJSON is what runs have made and no step gives any more, in the plan document.
type orphanJSON struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Host    string `json:"host"`
	Fate    string `json:"fate"`
	Why     string `json:"why,omitempty"`
	Step    string `json:"step"` // that has made it: its path
	Run     string `json:"run,omitempty"`
	Deposed bool   `json:"deposed,omitempty"`
	By      string `json:"removed_by,omitempty"` // the step of this plan that removes it
}

func orphansJSON(p *plan.Plan) []orphanJSON {
	list := make([]orphanJSON, len(p.Orphans))
	for i := range p.Orphans {
		o := &p.Orphans[i]
		list[i] = orphanJSON{
			Type: o.Thing.Type, Name: o.Thing.Name, Host: o.Thing.Host, Fate: string(o.Fate), Why: o.Why, Step: o.Thing.Step,
			Run: o.Thing.Run, Deposed: o.Deposed,
		}
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Orphan > 0 {
			list[s.Orphan-1].By = s.ID()
		}
	}
	return list
}

func (d *dump) writeOrphan(o *plan.Orphan) {
	d.at = "orphan " + o.Thing.Host + " " + o.What()
	d.writeField("fate", string(o.Fate))
	d.writeField("why", o.Why)
	d.writeField("made by", o.MadeBy())
	if o.Deposed {
		d.writeField("deposed", true)
	}
}

// orphanNotes are lines about what is not given by any step: what is removed has steps, and is only counted.
func orphanNotes(p *plan.Plan) string {
	var out strings.Builder
	for _, group := range []struct {
		fate plan.OrphanFate
		head string
		end  string
	}{
		{plan.OrphanKept, "made by earlier runs, and not given by any step now; kept", "--orphans remove takes these away, --orphans forget only drops the record"},
		{plan.OrphanForgotten, "no longer recorded after this run", ""},
		{plan.OrphanStuck, "cannot be removed", "moon state rm drops what you remove by hand"},
	} {
		var lines []string
		for i := range p.Orphans {
			if o := &p.Orphans[i]; o.Fate == group.fate {
				lines = append(lines, termtext.CleanName(orphanLine(o)))
			}
		}
		if len(lines) == 0 {
			continue
		}
		const most = 10
		fmt.Fprintf(&out, "\n%s:\n", group.head)
		for i, line := range lines {
			if i == most && len(lines) > most+1 {
				fmt.Fprintf(&out, "  and %d more\n", len(lines)-most)
				break
			}
			out.WriteString("  " + line + "\n")
		}
		if group.end != "" {
			out.WriteString("  " + group.end + "\n")
		}
	}
	return out.String()
}

func orphanLine(o *plan.Orphan) string {
	text := o.What()
	if o.Thing.Host != "localhost" {
		text = o.Thing.Host + ": " + text
	}
	text += "  by " + o.MadeBy()
	if o.Why != "" {
		text += ": " + o.Why
	}
	return text
}
