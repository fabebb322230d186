package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/status"
	"moon/tui/tree"
)

// syncStore brings the model up to date with the store. What matters is compared with the last time, so nothing that
// happened between two frames is lost: a pause that came and went still counts as one.
func (m *model) syncStore() tea.Cmd {
	news := replanning{m.view}.adoptPlan()
	before := m.Shot
	changed := m.Sync()
	if m.Shot.Phase != before.Phase && before.Steps > 0 { // at the first look it is what the screen opens with
		m.message = "" // it was about something else
	}
	if news != "" {
		m.showMessage(news)
	}
	for _, note := range m.Shot.Notes {
		m.showMessage(note)
		if why, is := strings.CutPrefix(note, feed.Refused); is {
			fixPane{m.view}.fixRefused(why)
		}
	}
	cmd := m.followRun(before)
	if changed && m.filter != tree.FilterAll && m.filter != tree.FilterFound {
		m.rebuildRows()
	}
	m.filterAgain()
	m.detail.reel.Stale, m.peek.Stale = true, true
	return tea.Batch(cmd, m.keepTicking())
}

// adoptPlan takes over another plan when the run has one, and says what is different in it.
func (m replanning) adoptPlan() (news string) {
	digest := m.Store.Digest()
	if digest == "" || digest == m.Plan.Digest || m.o.PlanFor == nil {
		return ""
	}
	p := m.o.PlanFor(digest)
	if p == nil {
		return ""
	}
	m.Others = m.Others.Replan(m.Plan, p)
	news = planChange(m.Plan, p, m.Others)
	if _, words, ok := strings.Cut(news, ": "); ok && m.fixSent != nil {
		news = "values changed: " + words
	}
	m.changePlan(p)
	m.Store.Forget()
	return news
}

// followRun reacts to what happened to the run since before.
func (m *model) followRun(before feed.Shot) tea.Cmd {
	var cmd tea.Cmd
	paused := m.Shot.Pauses != m.seen
	m.seen = m.Shot.Pauses
	switch {
	case m.Shot.Phase == events.Done || m.Shot.Phase == events.Ended:
		if before.Phase != m.Shot.Phase {
			browsing{m.view}.showEnd(before.Phase)
		}
	case paused && m.Shot.Phase == events.Paused:
		cmd = browsing{m.view}.showPause()
	case before.Phase != events.Running && m.Shot.Phase == events.Running:
		m.autoTab(tabOutputs)
		m.panes.giveBack()
	}
	if m.following && m.Shot.Phase == events.Running {
		m.toPointer(false)
	}
	if m.Shot.Phase == events.Done && (m.leaving || m.Shot.Stopped) {
		return tea.Quit
	}
	return cmd
}

// showPause reacts to a pause: it shows where and why, and rings once if nobody is looking.
func (m browsing) showPause() tea.Cmd {
	failed := m.Shot.Pause.Reason == events.PauseFailure
	if failed || m.following {
		m.toPointer(failed)
	}
	switch {
	case failed && !m.isTyping():
		m.tabChosen = false
		m.detail.openTab(tabSteps)
		m.detail.scroll = 0
		m.lendDetail()
	case !failed:
		m.autoTab(tabSteps)
	}
	if failed && m.unfocused {
		return tea.Raw("\a")
	}
	return nil
}

// showEnd reacts to the end of the run: the tree shows what is worth seeing, the root what it came to.
func (m browsing) showEnd(before events.Phase) {
	m.summary = summaryPane(m).makeSummary()
	if before == events.Ended {
		return // it was shown already
	}
	if m.filter == tree.FilterAll &&
		m.Tree.Tallies[0].Sum(status.Changed, status.Failed, status.Unreachable, status.Ignored, status.Rescued,
			status.Outdated, status.Cancelled)+len(m.Tree.Drift) > 0 {
		m.setFilter(tree.FilterNotable)
	}
	if m.isTyping() || m.focusedPane() == paneDetail && !m.panes.lent {
		return
	}
	m.cur.Node, m.following, m.tabChosen = 0, false, false
	m.detail.openTab(tabSteps)
	m.lendDetail()
}

// lendDetail shows the detail where there is room for one pane only, until the run goes on.
func (m *view) lendDetail() {
	if m.matrix == nil && m.currentLayout().kind == layoutOne && m.panes.focus == paneTree {
		m.panes.focus, m.panes.lent = paneDetail, true
	}
}

// autoTab shows a tab, unless a person chose another.
func (m *view) autoTab(t tab) {
	if !m.tabChosen && !m.isTyping() {
		m.detail.openTab(t)
	}
}

// toPointer moves the cursor to the step the engine is at, or to the row it is folded into.
func (m *view) toPointer(show bool) {
	step := m.Shot.Pointer
	if m.Shot.Phase == events.Paused && m.Shot.PausedAt >= 0 {
		step, show = m.Shot.PausedAt, true
	}
	if step < 0 || step >= len(m.Plan.Steps) || m.isTyping() {
		return
	}
	n := int(m.Tree.StepNode[step])
	if show {
		if m.rows.Keep != nil && !m.rows.Keep[n] {
			m.setFilter(tree.FilterAll)
		}
		m.rows.Reveal(n)
	}
	m.cur.Node = n
}

// planChange says what is different in a plan, and in which file if it is one.
func planChange(old, now *plan.Plan, others status.OtherFiles) string {
	d := status.Differ(old, now)
	words := draw.Count(len(d.Changed), "step") + " changed"
	if len(d.Added) > 0 {
		words += fmt.Sprintf(", %d added", len(d.Added))
	}
	if d.Gone > 0 {
		words += fmt.Sprintf(", %d removed", d.Gone)
	}
	if file := others.OnlyOne(now, slices.Concat(d.Changed, d.Added)); file != "" {
		return file + ": " + words // no step is in it
	}
	where := ""
	for _, i := range slices.Concat(d.Changed, d.Added) {
		switch file := now.Steps[i].Origin.File; {
		case file == "" || file == where:
		case where == "":
			where = file
		default:
			where = "replanned"
		}
	}
	return cmp.Or(where, "replanned") + ": " + words
}
