package pane

import (
	"fmt"
	"time"

	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/view"
)

// scopePane is the tab Step for a scope.
type scopePane struct{ *view.State }

// listed is how many steps a list in the detail names before it counts the rest.
const listed = 12

// scopeTab is the first tab for an inner node: what it is, how far it is, and what in it needs a person.
func (m scopePane) scopeTab(d *draw.Doc, n int) {
	d.Para(draw.InkTitle, 0, m.Tree.Title(n))
	d.Blank()
	WaitWords(m).whyField(d, n)
	t := m.Tree.Tally(n)
	scopePane{m.State}.drawCounts(d, &t)
	s := m.Tree.Scope(n)
	if s == nil {
		return
	}
	switch {
	case n == 0:
		d.Value("name", m.Plan.Name)
		d.Value("plan", feed.Short(m.Plan.Digest))
		d.Value("strategy", m.Plan.Strategy)
	case s.Kind == plan.ScopeLoop:
		d.Value("loop", fmt.Sprintf("%s  %s %d", s.Loop, m.Glyphs.Times, s.Items))
	}
	d.Value("item", s.Item)
	HostWords(m).hostsField(d, s)
	HostWords(m).decidedField(d, s)
	if s.When != "" {
		d.Value("when", s.When)
	}
	if s.Skipped != "" {
		d.Field("skipped", draw.Inked(themes.Changed, s.WhySkipped()))
	}
	for _, need := range s.Needs {
		d.Value("needs", StepPane(m).needName(need)+" ("+need.On+")")
	}
	switch {
	// One at a time is the order of the file, which needs no words.
	case s.Parallel >= plan.Unlimited:
		d.Value("order", "none: all at once")
	case s.Parallel > 1:
		d.Value("order", fmt.Sprintf("none: %d at once", s.Parallel))
	}
	for _, line := range limitLines(m.State, s.ID) {
		d.Value("limit", line)
	}
	if n == 0 {
		scopePane{m.State}.drawPlaybook(d)
	} else {
		StepPane(m).drawOrigin(d, s.Origin)
		StepPane(m).drawSource(d, s.Origin)
	}
	if n == 0 {
		m.breakList(d)
	}
	scopePane{m.State}.drawList(d, n, "Failed", status.State.Bad)
	scopePane{m.State}.drawList(d, n, "Needs attention", func(f status.State) bool { return f == status.Confirm })
}

// limitLines say how long a scope and those around it may take, and how much of that is left while anything in them runs.
func limitLines(m *view.State, scope int) (lines []string) {
	for at := range m.Plan.LimitsFrom(scope) {
		s := &m.Plan.Scopes[at]
		most, of := s.Timeout, m.Plan.ScopeRef(at)
		if at == 0 && m.Shot.Timeout > 0 {
			most, of = m.Shot.Timeout, "the run"
		}
		if most == 0 {
			continue
		}
		words := fmt.Sprintf("%s for %s", most, of)
		t := &m.Tree.Tallies[at]
		// What a process before this one has used of the time is not known here.
		if from := m.Tree.Spans[at].From; from != 0 && t[status.Running] > 0 && t[status.Kept] == 0 {
			spent := m.Shot.Times.Between(time.Unix(0, from), m.ClockNow())
			words += ", " + draw.Clock(max(most-spent, 0)) + " left"
		}
		lines = append(lines, words)
	}
	return lines
}

// drawCounts says how many steps there are of each kind.
func (m scopePane) drawCounts(d *draw.Doc, t *status.Tally) {
	line := []draw.Text{draw.Inked(themes.Text, draw.Count(t.Total(), "step"))}
	add := func(look draw.Sign, n int, words string) {
		if n > 0 {
			line = append(line, draw.Inked(themes.Text, "   "), draw.Inked(draw.SignLooks[look].Role, m.Glyphs.Signs[look]),
				draw.Inked(themes.Text, fmt.Sprintf(" %d %s", n, words)))
		}
	}
	add(draw.SignFailed, t.Sum(status.Failed), "failed")
	add(draw.SignUnreachable, t.Sum(status.Unreachable), "unreachable")
	add(draw.SignRunning, t.Sum(status.Running), "running")
	add(draw.SignOK, t.Sum(status.OK), "ok")
	add(draw.SignChanged, t.Sum(status.Changed), "changed")
	add(draw.SignSkipped, t.Sum(status.Skipped), "skipped")
	// Approval matters until something has run. From then on the outcomes do.
	if t.Done() == 0 {
		add(draw.SignApproved, t.Sum(status.Waiting), "approved")
	}
	add(draw.SignConfirm, t.Sum(status.Confirm), "to confirm")
	add(draw.SignExcluded, t.Sum(status.Excluded), "excluded")
	d.Lines = append(d.Lines, d.Flow(line)...)
}

// drawPlaybook lists what planning warned of and the files of the plan.
func (m scopePane) drawPlaybook(d *draw.Doc) {
	if len(m.Plan.Diagnostics) > 0 {
		d.Heading("Warnings")
		for _, w := range m.Plan.Diagnostics {
			d.Para(themes.Warn, 2, fmt.Sprintf("%s:%d", w.Pos.File, w.Pos.Line))
			d.Para(themes.Text, 4, w.Message)
			if w.Hint != "" {
				d.Para(themes.Dim, 4, w.Hint)
			}
		}
	}
	m.drawOrphans(d)
	if len(m.Plan.Inputs) > 0 {
		d.Heading("Files")
		for i, in := range m.Plan.Inputs {
			if i == listed {
				d.Add(draw.Inked(themes.Dim, fmt.Sprintf("  and %d more", len(m.Plan.Inputs)-i)))
				break
			}
			d.Add(draw.Inked(themes.Text, "  "), draw.Inked(themes.Text, draw.Plain(in.Path)))
		}
	}
}

var fateWords = map[plan.OrphanFate]string{
	plan.OrphanKept: "kept", plan.OrphanForgotten: "forgotten", plan.OrphanStuck: "cannot be removed",
}

// drawOrphans lists what earlier runs have made, no step gives any more, and no step of the plan removes.
func (m scopePane) drawOrphans(d *draw.Doc) {
	shown := 0
	for i := range m.Plan.Orphans {
		o := &m.Plan.Orphans[i]
		if o.Removed() {
			continue
		}
		if shown == 0 {
			d.Heading("Not given by any step")
		}
		if shown++; shown > listed {
			d.Add(draw.Inked(themes.Dim, "  and more"))
			return
		}
		word := fateWords[o.Fate]
		if o.Why != "" {
			word += ", as " + o.Why
		}
		d.Para(themes.Text, 2, o.What())
		d.Para(themes.Dim, 4, word+"; by "+o.MadeBy())
	}
}

// drawList names the steps below a node that have a certain face.
func (m scopePane) drawList(d *draw.Doc, n int, title string, is func(status.State) bool) {
	r, shown := m.Tree.Steps(n), 0
	for i := r.From; i < r.To; i++ {
		if !is(m.Tree.Faces[i]) {
			continue
		}
		if shown == 0 {
			d.Heading(title)
		}
		if shown++; shown > listed {
			d.Add(draw.Inked(themes.Dim, "  and more"))
			return
		}
		look := tree.FaceSigns[m.Tree.Faces[i]]
		p := &m.Plan.Steps[i]
		m.drawEntry(d, look, p)
	}
}

// drawEntry draws a line of a list of steps: how it is, its name, its place.
func (m scopePane) drawEntry(d *draw.Doc, look draw.Sign, p *plan.Step) {
	at := max(d.W-20, d.W/2)
	d.Columns([]int{0, 2, 4, at}, draw.Inked(themes.Text, ""), draw.Inked(draw.SignLooks[look].Role, m.Glyphs.Signs[look]),
		draw.Inked(themes.Text, m.StepTitle(p.Index)), d.Place(at, p.Origin.String()))
}
