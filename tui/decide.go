package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/pane"
	"moon/tui/status"
	"moon/tui/view"
)

// deciding turns what a person wants into commands. Whether they could do anything was asked before: see cannot.
type deciding struct{ *view.State }

// carryOut does what act was asked to, and what a name was typed for.
func (m deciding) carryOut(do keymap.Intent) {
	switch do {
	case keymap.GateApprove:
		m.toggleApproval()
	case keymap.GateApproveAll:
		m.Send(events.Approve{Range: m.Position().Everything(), Digest: m.Plan.Digest})
	case keymap.GateExclude:
		m.toggleExclusion()
	case keymap.GateExcludeHost:
		m.excludeHost()
	case keymap.GateBreak:
		m.toggleBreakpoint()
	case keymap.RunContinue:
		m.continueRun()
	case keymap.RunStep:
		m.sendAdvance(events.Advance{Verb: "step", Approve: true})
	case keymap.RunOver:
		m.stepOver()
	case keymap.RunOut:
		m.stepOut()
	case keymap.RunUntil:
		m.runUntil()
	case keymap.RunPause:
		m.pauseOrResume()
	case keymap.RunRetry:
		m.retryMarked()
	case keymap.RunRetryAll:
		m.retryAll()
	default:
	}
}

// toggleApproval approves, or unapproves where everything is approved. A step that asks to be confirmed is confirmed only
// when the cursor is on it: approving what it is in confirms nothing.
func (m deciding) toggleApproval() {
	ranges, single := m.DecisionTargets()
	t := m.Position().Tally(ranges...)
	// A confirmation counts only for a single step, so marks cannot confirm one in passing.
	ask := t.Sum(status.Confirm)
	switch {
	case single && t[status.Asking] > 0:
		m.Send(events.Answer{Step: ranges[0].From})
		return
	case single && (pane.WhyNot{State: m.State}).MayAccept(ranges[0].From): // by itself, as a confirmation: it was looked at
		m.Send(events.Accept{Range: ranges[0]})
		return
	case t.Sum(status.Undecided) == 0 && (!single || ask == 0) && t.Sum(status.Waiting) > 0:
		for _, r := range ranges {
			m.Send(events.Withdraw{Range: r})
		}
	default:
		// One that has failed is confirmed again before it is retried, if it takes certain people.
		confirm := single && (ask > 0 || m.Plan.Steps[ranges[0].From].Confirmers != nil)
		for _, r := range ranges {
			// The digest names the plan that was seen: if another has replaced it by the time this arrives, the engine refuses it.
			m.Send(events.Approve{Range: r, Digest: m.Plan.Digest, Confirm: confirm})
		}
		if !single && ask > 0 {
			m.ShowMessage(fmt.Sprintf("%s to confirm one by one: %s goes to the next", draw.Count(ask, "step"),
				m.Keys.Label(keymap.NeedNext)))
		}
	}
	m.Cur.Clear()
}

// toggleExclusion excludes, or includes where everything is excluded. A failed step is skipped instead.
func (m deciding) toggleExclusion() {
	ranges, single := m.DecisionTargets()
	t := m.Position().Tally(ranges...)
	switch {
	case single && m.Position().Failed(ranges[0].From):
		m.Send(events.Skip{Step: ranges[0].From})
		return
	case single && t[status.Asking] > 0:
		m.Send(events.Answer{Step: ranges[0].From, Reject: true})
		return
	case t.Begins() > 0:
		m.TellLacking()
		for _, r := range slices.Backward(ranges) { // what was planned with the value of a step before the step itself
			m.Send(events.Exclude{Range: r})
		}
	default:
		m.TellLacking()
		m.RestoreSteps(ranges)
	}
	m.Cur.Clear()
}

// continueRun continues. It approves nothing, so it says how to.
func (m deciding) continueRun() {
	m.Following = true
	m.Send(events.Continue{})
	if n := m.Tree.Tallies[0].Sum(status.Undecided); n > 0 {
		m.ShowMessage(fmt.Sprintf("%s not approved; %s approves all", draw.Count(n, "step"), m.Keys.Label(keymap.GateApproveAll)))
	}
}

func (m deciding) sendAdvance(a events.Advance) {
	m.Following = true
	m.Send(a)
}

// stepOver runs the node at the pointer whole. That is the step, or a scope the cursor is on that begins with it. It is
// never the playbook: the cursor is on that from the start, and one key must not approve and run everything.
func (m deciding) stepOver() {
	r, _ := m.aheadRange(true)
	m.sendAdvance(events.Advance{Verb: "over", Range: r, Approve: true})
}

// aheadRange is what comes next: the step, or with whole what over runs.
func (m deciding) aheadRange(whole bool) (events.Range, bool) {
	next := m.Position().Next()
	if next < 0 {
		return events.Range{}, false
	}
	here := m.Tree.Steps(m.CursorNode())
	if whole && m.CursorNode() > 0 && m.Tree.Step(m.CursorNode()) < 0 && here.Has(next) && m.Position().FirstLeft(here) == next {
		return here, true
	}
	return events.Range{From: next, To: next + 1}, true
}

// stepOut runs from the pointer to the end of the scope around it.
func (m deciding) stepOut() {
	var r events.Range // none after a failure that nothing follows
	if next := m.Position().Next(); next >= 0 {
		parent := m.Tree.Parent[m.Tree.StepNode[next]]
		r = events.Range{From: next, To: m.Tree.Steps(int(parent)).To}
	}
	m.sendAdvance(events.Advance{Verb: "out", Range: r})
}

// runUntil runs up to the node under the cursor.
func (m deciding) runUntil() {
	m.sendAdvance(events.Advance{Verb: "until", Range: events.Range{From: 0, To: m.Tree.Steps(m.CursorNode()).From}})
}

func (m deciding) pauseOrResume() {
	if m.Shot.Phase == events.Running {
		m.Send(events.Pause{})
		m.ShowMessage("pausing: running steps finish first")
		return
	}
	m.continueRun()
}

// retryMarked retries what failed at the cursor, or below the marks.
func (m deciding) retryMarked() {
	ranges, _ := m.DecisionTargets()
	for _, r := range ranges {
		if m.Position().Retryable(r) > 0 {
			m.Send(events.Retry{Range: r})
		}
	}
	m.Cur.Clear()
}

// retryAll retries what failed below the cursor; on a step, or where nothing did, all of it. At the end nothing else is left to decide, so
// that what hung on them follows.
func (m deciding) retryAll() {
	r := m.Tree.Steps(m.CursorNode())
	if m.Tree.Step(m.CursorNode()) >= 0 || m.Position().Retryable(r) == 0 {
		r = m.Position().Everything()
	}
	atEnd := m.Shot.Phase == events.Ended
	m.Following = m.Following || atEnd
	m.Send(events.Retry{Range: r, Continue: atEnd})
}

// connectAgain asks the hosts once more that did not answer, by planning again.
func (m deciding) connectAgain() tea.Cmd {
	return replanning(m).planAgain(pane.Connecting)
}

// excludeHost excludes what is left of the host under the cursor, or includes it where all of that is excluded.
func (m deciding) excludeHost() {
	host := m.HostHere()
	ranges := m.StepsOf(host)
	t := m.Position().Tally(ranges...)
	if t.Begins() > 0 {
		for _, r := range slices.Backward(ranges) { // as in exclude
			if one := m.Position().Tally(r); one.Sum(status.Undecided, status.Waiting, status.Confirm) > 0 {
				m.Send(events.Exclude{Range: r})
			}
		}
		m.ShowMessage(fmt.Sprintf("%s is excluded; %s restores it", draw.Plain(host), m.Keys.Label(keymap.GateExcludeHost)))
		return
	}
	m.RestoreSteps(ranges)
	m.ShowMessage(draw.Plain(host) + " is restored")
}
