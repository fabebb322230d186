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
	"moon/tui/view"
)

// syncStore brings the model up to date with the store. What matters is compared with the last time, so nothing that
// happened between two frames is lost: a pause that came and went still counts as one.
func (m *model) syncStore() tea.Cmd {
	news := replanning{m.State}.adoptPlan()
	before := m.Shot
	changed := m.Sync()
	if m.Shot.Phase != before.Phase && before.Steps > 0 { // at the first look it is what the screen opens with
		m.Message = "" // it was about something else
	}
	if news != "" {
		m.ShowMessage(news)
	}
	for _, note := range m.Shot.Notes {
		m.ShowMessage(note)
		if why, is := strings.CutPrefix(note, feed.Refused); is {
			fixPane{m.State}.fixRefused(why)
		}
	}
	cmd := m.followRun(before)
	if changed && m.Filter != tree.FilterAll && m.Filter != tree.FilterFound {
		m.RebuildRows()
	}
	m.filterAgain()
	m.Detail.Reel.Stale, m.Peek.Stale = true, true
	return tea.Batch(cmd, m.keepTicking())
}

// adoptPlan takes over another plan when the run has one, and says what is different in it.
func (m replanning) adoptPlan() (news string) {
	digest := m.Store.Digest()
	if digest == "" || digest == m.Plan.Digest || m.Tools.PlanFor == nil {
		return ""
	}
	p := m.Tools.PlanFor(digest)
	if p == nil {
		return ""
	}
	m.Others = m.Others.Replan(m.Plan, p)
	news = planChange(m.Plan, p, m.Others)
	if _, words, ok := strings.Cut(news, ": "); ok && m.SheetSent != nil {
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
			browsing{m.State}.showEnd(before.Phase)
		}
	case paused && m.Shot.Phase == events.Paused:
		cmd = browsing{m.State}.showPause()
	case before.Phase != events.Running && m.Shot.Phase == events.Running:
		m.AutoTab(view.TabOutputs)
		m.Panes.GiveBack()
	}
	if m.Following && m.Shot.Phase == events.Running {
		m.ToPointer(false)
	}
	if m.Shot.Phase == events.Done && (m.leaving || m.Shot.Stopped) {
		return tea.Quit
	}
	return cmd
}

// showPause reacts to a pause: it shows where and why, and rings once if nobody is looking.
func (m browsing) showPause() tea.Cmd {
	failed := m.Shot.Pause.Reason == events.PauseFailure
	if failed || m.Following {
		m.ToPointer(failed)
	}
	switch {
	case failed && !m.IsTyping():
		m.TabChosen = false
		m.Detail.OpenTab(view.TabSteps)
		m.Detail.Scroll = 0
		m.LendDetail()
	case !failed:
		m.AutoTab(view.TabSteps)
	}
	if failed && m.Unfocused {
		return tea.Raw("\a")
	}
	return nil
}

// showEnd reacts to the end of the run: the tree shows what is worth seeing, the root what it came to.
func (m browsing) showEnd(before events.Phase) {
	m.Summary = m.Summarize()
	if before == events.Ended {
		return // it was shown already
	}
	if m.Filter == tree.FilterAll &&
		m.Tree.Tallies[0].Sum(status.Changed, status.Failed, status.Unreachable, status.Ignored, status.Rescued,
			status.Outdated, status.Cancelled)+len(m.Tree.Drift) > 0 {
		m.SetFilter(tree.FilterNotable)
	}
	if m.IsTyping() || m.FocusedPane() == view.PaneDetail && !m.Panes.Lent {
		return
	}
	m.Cur.Node, m.Following, m.TabChosen = 0, false, false
	m.Detail.OpenTab(view.TabSteps)
	m.LendDetail()
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
