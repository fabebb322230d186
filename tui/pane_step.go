package tui

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/plan"
	"moon/themes"
)

// stepTab is the first tab: before a step runs what it will do, afterwards what became of it.
func (m *model) stepTab(d *doc, s subject) {
	if s.step < 0 {
		if s.node == 0 && (m.run.phase == events.Done || m.run.phase == events.Ended) {
			m.summaryTab(d)
			return
		}
		m.scopeTab(d, s.node)
		return
	}
	p := &m.plan.Steps[s.step]
	if m.outcome(d, p, &s.of, s.vars) {
		d.blank()
	} else {
		d.para(inkTitle, 0, ranTitle(p, s.of.Name))
		d.blank()
	}
	m.what(d, p, &s.of)
	m.origin(d, p.Origin)
	m.source(d, p.Origin)
	m.why(d, p)
}

// outcome says what became of a step. It reports false for one that has not run.
func (m *model) outcome(d *doc, p *plan.Step, of *events.Step, vars map[string]any) bool {
	f := faceOf(of, p)
	if of.State != events.Settled && f != faceRunning {
		return false
	}
	if m.broken(p.Index) {
		f = faceFailed // whatever becomes of it, it has not become of it yet
	}
	look := faceSigns[f]
	head := []text{{signLooks[look].role, m.glyphs.signs[look] + " " + outcomeWord(of, f)}}
	for _, part := range m.facts(of, f) {
		head = append(head, text{themes.Text, "  " + part})
	}
	d.add(head...)
	if m.layout().kind != layoutOne { // there it stands in the rule above
		d.para(inkTitle, 0, ranTitle(p, of.Name))
	}
	switch {
	case of.Reason != "" && of.Error == "":
		d.blank()
		d.para(themes.Text, 2, of.Reason)
		if of.Cause >= 0 && of.Cause < len(m.plan.Steps) && of.Outcome == events.Omitted {
			d.para(themes.Dim, 2, "because of "+m.stepName(of.Cause))
		}
	case of.Error != "":
		d.blank()
		d.para(themes.Text, 2, of.Error)
		m.lastLines(d, of.Error)
	case of.Message != "":
		d.blank()
		d.para(themes.Text, 2, of.Message)
	}
	if of.Diff != nil && of.Diff.Summary != "" {
		d.blank()
		d.para(themes.Text, 2, of.Diff.Summary)
	}
	if f == faceFailed {
		m.whatNow(d, p)
		m.usedHere(d, p, vars)
	}
	return true
}

func outcomeWord(of *events.Step, f face) string {
	switch {
	case of.State == events.Backoff:
		return "waits for another attempt"
	case f == faceRunning:
		return "running"
	case of.Outcome == events.Timeout && f == faceFailed:
		return "FAILED: timeout"
	case of.Outcome == events.Rejected && f == faceFailed:
		return "FAILED: rejected"
	case of.Outcome == events.Lost:
		return "FAILED: lost, moon ended while it ran"
	case f == faceOmitted:
		return "not run"
	}
	return signLooks[faceSigns[f]].word
}

// facts are the small things that are known of a step that ran.
func (m *model) facts(of *events.Step, f face) []string {
	var facts []string
	if of.HasRC && (f == faceFailed || f == faceIgnored || f == faceRescued || of.RC != 0) {
		facts = append(facts, fmt.Sprintf("rc %d", of.RC))
	}
	if d := m.duration(of); of.Attempt > 0 {
		word := "after "
		if f == faceRunning {
			word = "for "
		}
		facts = append(facts, word+exact(d))
	}
	if of.Attempt > 1 || f == faceFailed && of.Attempt > 0 {
		facts = append(facts, fmt.Sprintf("(attempt %d)", of.Attempt))
	}
	if of.State == events.Backoff {
		facts = append(facts, "next in "+exact(max(of.Due.Sub(m.clockNow()), 0)))
	}
	return facts
}

// duration is how long a step took, or takes so far.
func (m *model) duration(of *events.Step) time.Duration {
	since := began(of)
	switch {
	case since.IsZero():
		return 0
	case of.State == events.Settled:
		return max(of.Ended.Sub(since), 0)
	}
	return max(m.clockNow().Sub(since), 0)
}

// began is when a step's last attempt started.
func began(of *events.Step) time.Time {
	switch {
	case of.Attempt == 0:
		return time.Time{}
	case of.Attempt > 1 && of.Due.After(of.Started):
		return of.Due
	}
	return of.Started
}

// clockNow is the time to count with: it stands still while nothing runs, so that nothing has to be drawn.
func (m *model) clockNow() time.Time {
	if m.moving() || m.run.last.IsZero() {
		return m.now()
	}
	return m.run.last
}

// shownEnd is how many of the last lines of output the Step tab shows, if there is room for what follows them.
const shownEnd = 8

// lastLines shows the end of the output of a step that failed, unless the error says the same.
func (m *model) lastLines(d *doc, already string) {
	r := &m.detail.reel
	var lines []textLine
	for _, l := range r.ends {
		if t := strings.TrimSpace(l.text); t != "" && !strings.Contains(already, t) {
			lines = append(lines, l)
		}
	}
	if len(lines) > 0 {
		d.blank()
		for _, l := range lines[max(len(lines)-min(shownEnd, max(d.h-14, 2)), 0):] {
			if strings.IndexByte(l.text, '\x1b') >= 0 {
				d.raw(2, l.text)
				continue
			}
			d.para(themes.Dim, 2, l.text)
		}
	}
	if r.total > 0 {
		hint := count(r.total, "line") + " in 2 Output"
		d.add(text{themes.Text, spaces(d.w - len(hint))}, text{themes.Dim, hint})
	}
}

// whatNow lists what a person can do about a failed step.
func (m *model) whatNow(d *doc, p *plan.Step) {
	halted := m.onFailure()
	if !halted && m.run.phase != events.Ended {
		return
	}
	d.heading("What now?")
	m.choices(d, m.waysOut(p, halted))
}

// choice is a key with what it does, in a sentence and in a word or two.
type choice struct {
	do           intent
	words, brief string
}

func (m *model) waysOut(p *plan.Step, halted bool) []choice {
	ways := []choice{{runRetry, "retry this step", "retry"}}
	if m.canEdit() {
		place := plain(p.Origin.String())
		ways = append(ways, choice{sourceEdit, "edit " + place + " in $EDITOR, then reload", "editor " + path.Base(place)})
	}
	if !halted {
		return append(ways, choice{runLeave, "leave", "leave"})
	}
	ways = append(ways, choice{gateExclude, "skip it and go on", "skip"})
	if m.rescued(p.Scope) {
		ways = append(ways, choice{runContinue, "give up here: run the rescue, then go on", "rescue, go on"})
	} else {
		ways = append(ways, choice{runContinue, "give up here: what needs it is not run", "give up, go on"})
	}
	return append(ways, choice{runLeave, "stop", "stop"})
}

// choices lists keys, one on a line, or two where lines are few.
func (m *model) choices(d *doc, list []choice) {
	for i := 0; i < len(list); i++ {
		c := list[i]
		if d.h >= 18 {
			d.add(text{themes.Text, "  "}, text{inkKey, m.keys.label(c.do)}, text{themes.Text, "  " + c.words})
			continue
		}
		line := []text{{inkKey, m.keys.label(c.do)}, {themes.Text, "  " + c.brief}}
		if i++; i < len(list) {
			line = append(line, text{themes.Text, spaces(d.w/2 - widthOf(line))}, text{inkKey, m.keys.label(list[i].do)},
				text{themes.Text, "  " + list[i].brief})
		}
		d.add(line...)
	}
}

// rescued reports whether a scope, or one around it, has a rescue.
func (m *model) rescued(scope int) bool {
	for id := scope; id > 0 && id < len(m.plan.Scopes); id = m.plan.Scopes[id].Parent {
		if m.plan.Scopes[id].Kind == plan.ScopeBranch {
			return false // a failure in a rescue is not rescued by it
		}
		for k := id + 1; k < len(m.plan.Scopes) && m.plan.Scopes[k].First <= m.plan.Scopes[id].Last; k++ {
			if m.plan.Scopes[k].Parent == id && m.plan.Scopes[k].Branch == "rescue" {
				return true
			}
		}
	}
	return false
}

func (m *model) usedHere(d *doc, p *plan.Step, set map[string]any) {
	if len(p.Uses) > 0 {
		d.heading("Variables it used")
		m.uses(d, p, set, 2)
	}
}

// mainArgs are the arguments that say most, in the order they are shown in.
var mainArgs = []string{"cmd", "argv", "msg", "name", "pkg", "src", "dest", "path", "url", "repo", "state", "mode"}

// what lists what the step does, as far as it is known.
func (m *model) what(d *doc, p *plan.Step, of *events.Step) {
	ran := of.Attempt > 0
	m.arguments(d, p, ran)
	if command := strings.TrimPrefix(of.Command, p.Action+": "); command != "" && command != p.Summary {
		d.value("ran", command)
	}
	d.value("runs on", p.Host)
	if p.Cwd != "" && p.Cwd != m.plan.Root {
		d.value("cwd", p.Cwd)
	}
	for i, name := range slices.Sorted(maps.Keys(p.Env)) {
		label := ""
		if i == 0 {
			label = "env"
		}
		d.field(label, text{themes.Text, name + "=" + p.Env[name]})
	}
	m.condition(d, p, ran)
	d.value("register", p.Register)
	if p.Retry.Max > 0 {
		words := fmt.Sprintf("up to %d attempts, %s apart", p.Retry.Max+1, p.Retry.Delay)
		if p.Retry.Until != "" {
			words += ", until " + p.Retry.Until
		}
		d.value("retry", words)
	}
	if p.Timeout > 0 {
		d.value("timeout", p.Timeout.String())
	}
	d.value("tags", strings.Join(p.Tags, ", "))
	if l := p.Loop; l != nil {
		d.field("item", text{themes.Text, l.Label}, text{themes.Dim, fmt.Sprintf("  %d of %s", l.Index+1, l.Expression)})
	}
	for _, need := range p.Needs {
		if need.Step >= 0 && need.Step < len(m.plan.Steps) {
			d.value("needs", m.stepName(need.Step)+" ("+need.On+")")
		}
	}
	if p.MayFail {
		d.value("failure", "is ignored")
	}
}

// arguments shows the action and what it is given. The first line has the one argument that says most.
func (m *model) arguments(d *doc, p *plan.Step, ran bool) {
	if p.NoLog {
		d.field(p.Action, text{themes.Dim, "arguments hidden: no_log"})
		return
	}
	names := slices.SortedFunc(maps.Keys(p.Args), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	if len(names) == 0 {
		d.field(p.Action, text{themes.Text, p.Summary})
	}
	for i, name := range names {
		value, after := plan.Display(p.Args[name])
		if len(after) > 0 {
			value = "known after " + m.stepNames(after)
		}
		switch {
		case i == 0 && (name == "cmd" || name == "argv" || name == "msg"):
			d.field(p.Action, text{themes.Text, argument(p, name, value)})
		case i == 0:
			d.field(p.Action, text{themes.Text, p.Summary})
			d.field("  "+name, text{themes.Text, value})
		default:
			d.field("  "+name, text{themes.Text, value})
		}
		m.unknown(d, p, name, ran)
	}
	for _, u := range p.Unknowns {
		if ran {
			break
		}
		if _, shown := p.Args[u.Field]; !shown && u.Field != "when" {
			d.field(u.Field, text{themes.Dim, u.Name + " known after " + m.stepNames(u.Steps)})
		}
	}
}

// argument is how the main argument shows: a list of words as the command line it is.
func argument(p *plan.Step, name, value string) string {
	if name == "argv" && p.Summary != "" {
		return p.Summary
	}
	return value
}

func rank(name string) int {
	if i := slices.Index(mainArgs, name); i >= 0 {
		return i
	}
	return len(mainArgs)
}

// unknown says what a field still waits for. Once the step has run there is nothing of the kind.
func (m *model) unknown(d *doc, p *plan.Step, field string, ran bool) {
	for _, u := range p.Unknowns {
		if u.Field == field && !ran {
			d.field("", text{themes.Dim, u.Name + " known after " + m.stepNames(u.Steps)})
		}
	}
}

func (m *model) condition(d *doc, p *plan.Step, ran bool) {
	switch {
	case p.Excluded:
		d.field("left out", text{themes.Dim, "by tags or selection"})
	case ran:
		d.value("when", p.When)
	case p.When != "" || p.Prediction != "" && p.Prediction != plan.WillRun:
		look := themes.Text
		if p.Prediction != plan.WillRun {
			look = themes.Changed
		}
		d.field("when", text{themes.Text, p.When}, text{look, "  " + m.glyphs.arrow + " " + string(p.Prediction)})
		m.unknown(d, p, "when", ran)
	}
}

// stepName refers to a step: step-0003 «read release file».
func (m *model) stepName(step int) string {
	p := &m.plan.Steps[step]
	return p.ID() + " " + m.glyphs.quote[0] + plain(stepTitle(p)) + m.glyphs.quote[1]
}

func (m *model) stepNames(steps []int) string {
	var names []string
	for _, s := range steps {
		if s >= 0 && s < len(m.plan.Steps) {
			names = append(names, m.stepName(s))
		}
	}
	const shown = 3
	if more := len(names) - shown; more > 0 {
		names = append(names[:shown], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// origin says where something comes from, with the including steps, innermost first.
func (m *model) origin(d *doc, o plan.Origin) {
	if o.File == "" {
		return
	}
	d.blank()
	d.field("origin", text{themes.Text, o.String()})
	for _, from := range slices.Backward(o.Chain) {
		d.field("  from", text{themes.Dim, from})
	}
}

// excerptAround is how many lines of source are shown before and after.
const excerptAround = 2

func (m *model) source(d *doc, o plan.Origin) {
	lines, first := m.excerpt(o.File, o.Line, excerptAround)
	if len(lines) == 0 {
		return
	}
	d.blank()
	digits := len(fmt.Sprint(first + len(lines) - 1))
	for i, line := range lines {
		number, mark, look := first+i, " ", themes.Dim
		if number == o.Line {
			mark, look = m.glyphs.pointer, themes.Text
		}
		d.add(text{themes.Accent, mark}, text{themes.Dim, fmt.Sprintf(" %*d ", digits, number)},
			text{themes.Border, m.glyphs.down + " "}, text{look, plain(line)})
	}
}

// why says why a step asks for attention.
func (m *model) why(d *doc, p *plan.Step) {
	if p.Confirm == "" {
		return
	}
	d.blank()
	d.field(`why "!"`, text{themes.Warn, p.Confirm}, text{themes.Text, " Approve it by itself, with "},
		text{inkKey, m.keys.label(gateApprove)}, text{themes.Text, "."})
}
