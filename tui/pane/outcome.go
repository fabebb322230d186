package pane

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/view"
)

// OutcomePane is how a step has ended, and the ways out of a failure.
type OutcomePane struct{ *view.State }

// drawOutcome says what became of a step. It reports false for one that has not run.
func (m OutcomePane) drawOutcome(d *draw.Doc, p *plan.Step, of *events.Step, vars map[string]any) bool {
	f := status.Of(of, p)
	if of.State != events.Settled && f != status.Running {
		return false
	}
	if m.Position().Failed(p.Index) && f != status.Unreachable {
		f = status.Failed // whatever becomes of it, it has not become of it yet
	}
	look := tree.FaceSigns[f]
	head := []draw.Text{draw.Inked(draw.SignLooks[look].Role, m.Glyphs.Signs[look]+" "+outcomeWord(of, f))}
	for _, part := range (OutcomePane{m.State}).smallFacts(p.Index, of, f) {
		head = append(head, draw.Inked(themes.Text, "  "+part))
	}
	d.Add(head...)
	if m.CurrentLayout().Kind != view.LayoutOne { // there it stands in the rule above
		d.Para(draw.InkTitle, 0, tree.RanTitle(p, of.Name))
	}
	switch {
	case of.Reason != "" && of.Error == "":
		d.Blank()
		d.Para(themes.Text, 2, status.WhySkipped(of.Reason))
		if of.Cause >= 0 && of.Cause < len(m.Plan.Steps) && of.Outcome == events.Omitted {
			d.Para(themes.Dim, 2, "because of "+m.StepName(of.Cause))
		}
	case of.Error != "":
		d.Blank()
		d.Para(themes.Text, 2, of.Error)
		OutcomePane{m.State}.lastLines(d, of.Error)
	case of.Message != "":
		d.Blank()
		d.Para(themes.Text, 2, of.Message)
	}
	if of.Diff != nil && of.Diff.Summary != "" {
		d.Blank()
		d.Para(themes.Text, 2, of.Diff.Summary)
	}
	if f == status.Outdated {
		d.Blank()
		d.Para(themes.Warn, 2, "Its definition has changed since it ran. It does not run again automatically: "+m.Keys.Label(keymap.StepDone)+" reruns it or keeps it.")
	}
	// What can be done stands above what was used: the ways out should be seen without scrolling.
	if f.Bad() {
		m.whatNow(d, p)
		OutcomePane{m.State}.usedHere(d, p, vars)
	}
	return true
}

func outcomeWord(of *events.Step, f status.State) string {
	switch {
	case of.State == events.Backoff:
		return "waiting for the next attempt"
	case f == status.Running:
		return "running"
	case of.Marked:
		return status.ByHand
	case of.Drifted && f == status.Failed:
		return "DRIFTED: not done"
	case of.Outcome == events.Timeout && f == status.Failed:
		return "FAILED: timeout"
	case of.Outcome == events.Rejected && f == status.Failed:
		return "FAILED: rejected"
	case of.Outcome == events.Lost && of.Error != "" && f == status.Failed:
		return "FAILED: lost while it ran"
	case of.Outcome == events.Lost && f == status.Failed:
		return "FAILED: lost, moon ended while it ran"
	case f == status.Omitted:
		return "not run"
	}
	return draw.SignLooks[tree.FaceSigns[f]].Word
}

// smallFacts are the small things that are known of a step that ran.
func (m OutcomePane) smallFacts(step int, of *events.Step, f status.State) []string {
	var facts []string
	// That it ended with 0 says nothing new of a step that succeeded.
	if of.HasRC && (f.Bad() || f == status.Ignored || f == status.Rescued || of.RC != 0) {
		facts = append(facts, fmt.Sprintf("rc %d", of.RC))
	}
	if d := m.StepDuration(of); of.Attempt > 0 {
		word := "after "
		if f == status.Running {
			word = "for "
		}
		facts = append(facts, word+draw.Exact(d))
		if host := m.Plan.Steps[step].Host; host != "" && host != "localhost" {
			facts = append(facts, "on "+draw.Plain(host))
		}
	}
	if of.Attempt > 1 || f.Bad() && of.Attempt > 0 {
		facts = append(facts, fmt.Sprintf("(attempt %d)", of.Attempt))
	}
	if left := of.Due.Sub(m.ClockNow()); of.State == events.Backoff && left > 0 {
		facts = append(facts, "next in "+draw.Exact(left))
	}
	return facts
}

// shownEnd is how many of the last lines of output the Step tab shows, if there is room for what follows them.
const shownEnd = 8

// lastLines shows the end of the output of a step that failed, unless the error says the same.
func (m OutcomePane) lastLines(d *draw.Doc, already string) {
	r := &m.Detail.Reel
	var lines []feed.TextLine
	for _, l := range r.Ends {
		// Many programs end with the message that the action quotes as its error. It should not stand there twice.
		if t := strings.TrimSpace(l.Text); t != "" && !strings.Contains(already, t) {
			lines = append(lines, l)
		}
	}
	if len(lines) > 0 {
		d.Blank()
		// The ways out below take about so many rows; on a small terminal the output gives way to them.
		for _, l := range lines[max(len(lines)-min(shownEnd, max(d.H-14, 2)), 0):] {
			if strings.IndexByte(l.Text, '\x1b') >= 0 {
				d.Raw(2, l.Text)
				continue
			}
			d.Para(themes.Dim, 2, l.Text)
		}
	}
	if r.Total > 0 {
		hint := draw.Count(r.Total, "line") + " in " + m.TabKey(view.TabOutputs) + view.TabNames[view.TabOutputs]
		d.Add(draw.Inked(themes.Text, draw.Spaces(d.W-draw.Cells(hint))), draw.Inked(themes.Dim, hint))
	}
}

// whatNow lists what a person can do about a failed step.
func (m OutcomePane) whatNow(d *draw.Doc, p *plan.Step) {
	halted := m.Position().OnFailure()
	if !halted && m.Shot.Phase != events.Ended {
		return
	}
	d.Heading("What now?")
	m.DrawChoices(d, m.ChoicesNow(p))
}

// ChoicesNow are the ways out of a failure that would not be refused.
func (m OutcomePane) ChoicesNow(p *plan.Step) []view.Choice {
	ways := OutcomePane{m.State}.waysOut(p, m.Position().OnFailure())
	return slices.DeleteFunc(ways, func(c view.Choice) bool { return WhyNot(m).WhyCannot(c.Do) != "" })
}

func (m OutcomePane) waysOut(p *plan.Step, halted bool) []view.Choice {
	away := m.Tree.Faces[p.Index] == status.Unreachable
	again := "retry this step"
	if away {
		again = "reconnect and retry this step"
	}
	ways := []view.Choice{
		{Do: keymap.RunRetry, Words: again, Brief: "retry"},
		{Do: keymap.NodeFix, Words: "edit variables, then retry (this run only)", Brief: "edit variables, retry"},
	}
	if WhyNot(m).MayAccept(p.Index) {
		ways = []view.Choice{
			{Do: keymap.GateApprove, Words: "accept what it would do now, and do it", Brief: "accept"},
			{Do: keymap.RunRetry, Words: "retry, and do it if it matches again", Brief: "retry"},
		}
	}
	if m.CanEdit() {
		at := m.Plan.WrittenAt(p)
		place := draw.Plain(at.String())
		words := "edit " + place + " in $EDITOR"
		if !m.Tools.Attached { // the TUI that started the run reloads
			words += ", reload"
		}
		ways = append(ways, view.Choice{
			Do: keymap.SourceEdit, Words: words,
			Brief: "editor " + path.Base(place),
		})
	}
	// A shell there needs the connection that is lost.
	if m.Tools.Shell != nil && !away {
		shell := "shell"
		if p.Host != "localhost" {
			shell += " on " + draw.Plain(p.Host)
		}
		ways = append(ways, view.Choice{Do: keymap.NodeShell, Words: shell + m.shellPlace(p), Brief: shell})
	}
	if !halted {
		return append(ways, view.Choice{Do: keymap.RunLeave, Words: "quit", Brief: "quit"})
	}
	if !m.IsOpen(p.Index) { // it was given up before; the run is paused on another
		return append(ways, view.Choice{Do: keymap.CursorPointer, Words: "go to the failure the run is paused on", Brief: "to the pause"})
	}
	ways = append(ways, view.Choice{Do: keymap.GateExclude, Words: "skip it and continue", Brief: "skip"})
	overHosts := m.Plan.Dialect.Rules().OverHosts
	switch {
	// As in Ansible, no rescue catches a host that cannot be reached, so this is asked before the rescue.
	case overHosts && (away || !m.isRescued(p.Scope)):
		ways = append(ways, HostWords(m).givingUp(p, away))
	case m.isRescued(p.Scope):
		ways = append(ways, view.Choice{Do: keymap.RunContinue, Words: "run the rescue, then continue", Brief: "rescue"})
	default:
		ways = append(ways, view.Choice{Do: keymap.RunContinue, Words: "continue without it (dependents are skipped)", Brief: "continue"})
	}
	step := view.Choice{Do: keymap.RunStep, Words: "continue without it, and pause before what comes next", Brief: "continue, pause"}
	switch {
	case m.isRescued(p.Scope):
		step.Words = "pause before the rescue"
	case m.cleansUp(p.Scope):
		step.Words = "pause before the always"
	case !overHosts: // nothing is left to run
		step.Words, step.Brief = "same as "+m.Keys.Label(keymap.RunContinue), "continue"
	}
	ways = append(ways, step)
	if m.Tools.Attached {
		return append(ways, view.Choice{Do: keymap.RunLeave, Words: "detach, or stop the run", Brief: "detach or stop"})
	}
	return append(ways, view.Choice{Do: keymap.RunLeave, Words: "stop; resume later with moon resume", Brief: "stop, resume later"})
}

// shellPlace says where a shell would begin, unless that is where everybody would think.
func (m OutcomePane) shellPlace(p *plan.Step) string {
	if p.Cwd == "" || p.Cwd == m.Plan.Root {
		return " in the step's directory"
	}
	return " in " + draw.CutLeft(draw.Plain(p.Cwd), 30, m.Glyphs.Dots)
}

// cleansUp reports whether an always runs after a failure in a scope: one of a block around it, and not the one that it is in.
func (m OutcomePane) cleansUp(scope int) bool {
	around := map[int]bool{}
	for id := scope; id > 0 && id < len(m.Plan.Scopes); id = m.Plan.Scopes[id].Parent {
		around[id] = true
	}
	return slices.ContainsFunc(m.Plan.Scopes, func(s plan.Scope) bool {
		return s.Branch == "always" && around[s.Parent] && !around[s.ID]
	})
}

// isRescued reports whether a scope, or one around it, has a rescue.
func (m OutcomePane) isRescued(scope int) bool {
	for id := scope; id > 0 && id < len(m.Plan.Scopes); id = m.Plan.Scopes[id].Parent {
		if m.Plan.Scopes[id].Kind == plan.ScopeBranch {
			return false // a failure in a rescue is not rescued by it
		}
		// A branch is a child of its block and begins before the block ends, so there is no need to look further.
		for k := id + 1; k < len(m.Plan.Scopes) && m.Plan.Scopes[k].First <= m.Plan.Scopes[id].Last; k++ {
			if m.Plan.Scopes[k].Parent == id && m.Plan.Scopes[k].Branch == "rescue" {
				return true
			}
		}
	}
	return false
}

func (m OutcomePane) usedHere(d *draw.Doc, p *plan.Step, set map[string]any) {
	if len(p.Uses) > 0 {
		d.Heading("Variables it used")
		varsPane(m).drawUses(d, p, set, 2)
	}
}
