package pane

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/view"
)

// StepPane is the tab Step.
type StepPane struct{ *view.State }

// stepTab is the first tab: before a step runs what it will do, afterwards what became of it.
func (m StepPane) stepTab(d *draw.Doc, s view.Subject) {
	if s.Step < 0 {
		// When all is over the root says what the run came to, and not what was planned.
		if s.Node == 0 && (m.Shot.Phase == events.Done || m.Shot.Phase == events.Ended) {
			SummaryPane(m).summaryTab(d)
			return
		}
		scopePane(m).scopeTab(d, s.Node)
		return
	}
	p := m.StepNow(s.Step)
	if OutcomePane(m).drawOutcome(d, p, &s.Of, s.Vars) {
		d.Blank()
	} else {
		d.Para(draw.InkTitle, 0, tree.RanTitle(p, s.Of.Name))
		d.Blank()
		WaitWords(m).whyField(d, s.Node)
		HostWords(m).missedField(d, p)
		if wrong := m.WrongNow(s.Step); wrong != "" {
			d.Field("by now", draw.Inked(themes.Failed, "cannot run: "+wrong))
		}
	}
	Origins(m).otherFilesField(d, s.Step)
	StepPane{m.State}.drawWhat(d, p, &s.Of)
	StepPane{m.State}.drawOrigin(d, p.Origin)
	StepPane{m.State}.drawSource(d, p.Origin)
	StepPane{m.State}.drawWhy(d, p, s.Of.By)
}

// drawWhat lists what the step does, as far as it is known.
func (m StepPane) drawWhat(d *draw.Doc, p *plan.Step, of *events.Step) {
	ran := of.Attempt > 0
	m.drawArguments(d, p, ran)
	Origins(m).overriddenFields(d, p)
	// The command that ran has the values that planning could not know. Where there were none, it would repeat the summary.
	if command := strings.TrimPrefix(strings.TrimSuffix(of.Command, ": "), p.Action+": "); command != p.Action && command != "" &&
		command != p.Summary {
		d.Value("ran", command)
	}
	HostWords(m).runsOn(d, p)
	if p.Become != nil {
		d.Value("runs as", p.Become.String())
	}
	if p.Cwd != "" && p.Cwd != m.Plan.Root {
		d.Value("cwd", p.Cwd)
	}
	for i, name := range slices.Sorted(maps.Keys(p.Env)) {
		label := ""
		if i == 0 {
			label = "env"
		}
		d.Field(label, draw.Inked(themes.Text, name+"="+p.Env[name]))
	}
	m.drawCondition(d, p, ran)
	HostWords(m).hangsOn(d, p)
	if Predicting(m).DefiesDryRun(p) {
		d.Field("dry run", draw.Inked(themes.Warn, "runs for real"), draw.Inked(themes.Dim, "  check_mode: false"))
	}
	// Once it has run, what it did takes the place of what was expected.
	if !ran {
		Predicting(m).addPrediction(d, p)
		m.lastRun(d, p)
	}
	if p.Loops() {
		d.Value("items", status.PlaceWords(p))
	} else {
		d.Value("open", status.PlaceWords(p))
	}
	d.Value("register", p.Register)
	if p.Retry.Max > 0 {
		words := fmt.Sprintf("up to %d attempts, %s apart", p.Retry.Max+1, p.Retry.Delay)
		if p.Retry.Until != "" {
			words += ", until " + p.Retry.Until
		}
		d.Value("retry", words)
	}
	if p.Timeout > 0 {
		d.Value("timeout", p.Timeout.String())
	}
	for _, line := range limitLines(m.State, p.Scope) {
		d.Value("limit", line)
	}
	if p.Queued > 0 {
		d.Value("queue", "waiting for a slot, at most "+p.Queued.String())
	}
	if p.Async != nil {
		d.Value("async", p.Async.String())
	}
	if p.Throttle > 0 {
		d.Value("throttle", plan.CountOf(p.Throttle, "host")+" at a time")
	}
	if of.BreakOn != "" {
		d.Value("stops", strings.TrimSpace(of.BreakOn))
	}
	d.Value("tags", strings.Join(p.Tags, ", "))
	if l := p.InnermostLoop(); l != nil {
		d.Field("item", draw.Inked(themes.Text, l.Label), draw.Inked(themes.Dim, m.ItemOf(p, l)))
	}
	for _, need := range m.Plan.NeedsOf(p.Index) {
		d.Value("needs", m.needName(need)+" ("+need.On+")")
	}
	if p.MayFail {
		d.Value("failure", "is ignored")
	}
	if o := m.Plan.OrphanOf(p); o != nil {
		d.Value("made by", o.MadeBy())
	}
	if p.Undo != nil {
		d.Value("undo", p.Undo.Action+": "+p.Undo.Summary)
	}
}

// needName is how a step or scope that is needed is called.
func (m StepPane) needName(n plan.Need) string {
	if n.Scope > 0 {
		return m.Plan.ScopeRef(n.Scope)
	}
	return m.StepName(n.Step)
}

// ItemOf says which item of a loop a step is for: one of how many, and of what if that has a name.
func (m StepPane) ItemOf(p *plan.Step, l *plan.LoopContext) string {
	of, over := "", l.Expression
	round := false
	for id := p.Scope; id >= 0; id = m.Plan.Scopes[id].Parent {
		s := &m.Plan.Scopes[id]
		if s.Kind == plan.ScopeLoop {
			of = fmt.Sprintf(" of %d", s.Items)
		}
		if s.Kind == plan.ScopeLoop || round { // in plays the rounds of an include have no loop around them
			break
		}
		round = s.Item != ""
	}
	// Items that were written out have no expression that names them, only their number, which is there already.
	if strings.HasPrefix(over, "list of ") || strings.HasPrefix(over, "map of ") {
		over = ""
	}
	return draw.Join(", ", fmt.Sprintf("  %d%s", l.Index+1, of), over)
}

// drawArguments shows the action and what it is given. The first line has the one argument that says most.
func (m StepPane) drawArguments(d *draw.Doc, p *plan.Step, ran bool) {
	if p.NoLog {
		d.Field(p.Action, draw.Inked(themes.Dim, "arguments hidden: no_log"))
		return
	}
	names, action := status.ArgNames(p), p.Action
	if p.Place != nil && (p.Place.What == "keys" || p.Place.What == "host") { // it loops over nothing
		names, action = nil, "finds"
	}
	if len(names) == 0 {
		d.Field(action, draw.Inked(themes.Text, p.Summary))
	}
	for i, name := range names {
		value, after := plan.Display(p.Args[name])
		if len(after) > 0 {
			value = m.WhenKnown(after)
		}
		switch {
		// A command says itself what it does. Of other actions the summary is better than any single argument.
		case i == 0 && (name == "cmd" || name == "argv" || name == "msg"):
			d.Field(p.Action, draw.Inked(themes.Text, argumentText(p, name, value)))
		case i == 0:
			d.Field(p.Action, draw.Inked(themes.Text, p.Summary))
			d.Field("  "+name, draw.Inked(themes.Text, value))
		default:
			d.Field("  "+name, draw.Inked(themes.Text, value))
		}
		m.drawUnknown(d, p, name, ran)
	}
	for _, u := range p.Unknowns {
		if ran {
			break
		}
		// Fields around the action wait for values, too, and have no row of their own. `when` has one below.
		if _, shown := p.Args[u.Field]; !shown && u.Field != "when" {
			d.Field(u.Field, draw.Inked(themes.Dim, u.Name+" "+m.WhenKnown(u.Steps)))
		}
	}
}

// argumentText is how the main argument shows: a list of words as the command line it is.
func argumentText(p *plan.Step, name, value string) string {
	if name == "argv" && p.Summary != "" {
		return p.Summary
	}
	return value
}

// drawUnknown says what a field still waits for. Once the step has run there is nothing of the kind.
func (m StepPane) drawUnknown(d *draw.Doc, p *plan.Step, field string, ran bool) {
	for _, u := range p.Unknowns {
		if u.Field == field && !ran {
			d.Field("", draw.Inked(themes.Dim, u.Name+" "+m.WhenKnown(u.Steps)))
		}
	}
}

func (m StepPane) drawCondition(d *draw.Doc, p *plan.Step, ran bool) {
	switch {
	case p.Excluded:
		d.Field("excluded", draw.Inked(themes.Dim, "by tags or selection"))
	// By now it is known what became of it, so a prediction could only contradict that.
	case ran, p.Lacks != nil:
		d.Value("when", p.When)
	case p.When != "" || p.Prediction != "" && p.Prediction != plan.WillRun:
		look := themes.Text
		if p.Prediction != plan.WillRun {
			look = themes.Changed
		}
		d.Field("when", draw.Inked(themes.Text, p.When), draw.Inked(look, "  "+m.Glyphs.Arrow+" "+string(p.Prediction)))
		m.drawUnknown(d, p, "when", ran)
	}
}

// lastRun says how a step ended in an earlier run.
func (m StepPane) lastRun(d *draw.Doc, p *plan.Step) {
	last := m.Countdown.Last(p.Index)
	// Outcomes that say something of the step itself. That it was skipped or excluded was up to that run.
	look := map[events.Outcome]draw.Sign{
		events.OK: draw.SignOK, events.Changed: draw.SignChanged, events.Failed: draw.SignFailed,
		events.Unreachable: draw.SignUnreachable,
	}[last.Outcome]
	if look == draw.SignNone {
		return
	}
	d.Field("last run", draw.Inked(themes.Text, last.At.Local().Format("2006-01-02 15:04")+"  "),
		draw.Inked(draw.SignLooks[look].Role, m.Glyphs.Signs[look]+" "+draw.SignLooks[look].Word),
		draw.Inked(themes.Text, "  "+draw.Precise(last.Took)))
}

// drawOrigin says where something comes from, with the including steps, innermost first.
func (m StepPane) drawOrigin(d *draw.Doc, o diag.Origin) {
	if o.File == "" {
		return
	}
	d.Blank()
	d.Field("origin", draw.Inked(themes.Text, o.String()))
	for _, from := range slices.Backward(o.Chain) {
		d.Field("  from", draw.Inked(themes.Dim, from))
	}
}

// excerptAround is how many lines of source are shown before and after.
const excerptAround = 2

func (m StepPane) drawSource(d *draw.Doc, o diag.Origin) {
	around := excerptAround
	// On a very wide terminal the text above takes few rows. Behind the source comes at most why a step asks for attention.
	if left := d.H - len(d.Lines) - rowsBehindSource; m.Width >= view.VeryWide {
		around = max(around, min(left/2, mostAround))
	}
	lines, first := m.Excerpt(o.File, o.Line, around)
	if len(lines) == 0 {
		return
	}
	d.Blank()
	digits := len(fmt.Sprint(first + len(lines) - 1))
	for i, line := range lines {
		number, mark, look := first+i, " ", themes.Dim
		if number == o.Line {
			mark, look = m.Glyphs.Pointer, themes.Text
		}
		d.Add(draw.Inked(themes.Accent, mark), draw.Inked(themes.Dim, fmt.Sprintf(" %*d ", digits, number)),
			draw.Inked(themes.Border, m.Glyphs.Down+" "), draw.Inked(look, draw.Plain(line)))
	}
}

// How much more of the source is shown if it fits, and the rows that are left behind it.
const (
	mostAround       = 12
	rowsBehindSource = 6
)

// drawWhy says why a step asks for attention.
func (m StepPane) drawWhy(d *draw.Doc, p *plan.Step, confirmedBy []string) {
	if l := m.MissingValue(p.Index); l != nil {
		d.Blank()
		d.Field("will skip", draw.Inked(themes.Warn, "It uses "+draw.Plain(l.Reason())+"."))
	}
	if p.Confirm == "" {
		return
	}
	d.Blank()
	asks := p.Confirmers.Asked(p.Confirm, confirmedBy)
	if m.Tree.Faces[p.Index] != status.Confirm || m.Shot.Phase != events.Review { // in a run, what it waits for has said it
		d.Field("confirm", draw.Inked(themes.Warn, asks))
		return
	}
	d.Field("confirm", draw.Inked(themes.Warn, asks), draw.Inked(themes.Text, "  "),
		draw.Inked(draw.InkKey, m.Keys.Label(keymap.GateApprove)), draw.Inked(themes.Text, " confirms it."))
}
