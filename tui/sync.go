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
	before := m.run
	changed := false
	m.run = m.store.Take(func(times events.Times) { m.timeline.Times = times }, func(step int, of *events.Step) {
		if step < len(m.plan.Steps) {
			m.seeStep(step, of)
			changed = true
		}
	}, func(steps []events.Step) {
		m.seeAll(steps)
		changed = true
	})
	m.holdFailure()
	m.pointToNext()
	m.countdown.Refresh(m.clockNow())
	m.timeline.Advance(m.clockNow())
	m.waiting.stale = m.waiting.stale || !m.isMoving()   // while something does, the tick asks
	if m.run.Phase != before.Phase && before.Steps > 0 { // at the first look it is what the screen opens with
		m.message = "" // it was about something else
	}
	if news != "" {
		m.showMessage(news)
	}
	for _, note := range m.run.Notes {
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
	m.predictAll()
	return tea.Batch(cmd, m.keepTicking())
}

// adoptPlan takes over another plan when the run has one, and says what is different in it.
func (m replanning) adoptPlan() (news string) {
	digest := m.store.Digest()
	if digest == "" || digest == m.plan.Digest || m.o.PlanFor == nil {
		return ""
	}
	p := m.o.PlanFor(digest)
	if p == nil {
		return ""
	}
	m.others = m.others.Replan(m.plan, p)
	news = planChange(m.plan, p, m.others)
	if _, words, ok := strings.Cut(news, ": "); ok && m.fixSent != nil {
		news = "values changed: " + words
	}
	m.setPlan(p)
	m.store.Forget()
	return news
}

func (m *knownRun) seeStep(step int, of *events.Step) {
	m.tree.Set(step, status.Of(of, &m.plan.Steps[step]))
	m.breakAtStep(step, of)
	m.countdown.See(step, of)
	m.timeline.See(step, of)
	m.lacking.seeStep(step, of)
	m.tree.RanAs(step, of)
	if from, to := stepTimes(of); from != 0 {
		m.tree.Ran(step, from, to)
	}
}

func (m *knownRun) seeAll(steps []events.Step) {
	var none events.Step
	clear(m.breaks)
	m.places = nil
	m.tree.Recount(func(i int) (status.State, int64, int64) {
		of := &none
		if i < len(steps) {
			of = &steps[i]
		}
		m.breakAtStep(i, of)
		m.countdown.See(i, of)
		m.timeline.See(i, of)
		m.lacking.seeStep(i, of)
		m.tree.RanAs(i, of)
		from, to := stepTimes(of)
		return status.Of(of, &m.plan.Steps[i]), from, to
	})
}

// stepTimes is when a step that ran started and ended, in nanoseconds.
func stepTimes(s *events.Step) (from, to int64) {
	if s.Attempt == 0 || s.Started.IsZero() || s.Kept { // when it was kept is not when it ran
		return 0, 0
	}
	if s.State == events.Settled {
		to = s.Ended.UnixNano()
	}
	return s.Started.UnixNano(), to
}

// followRun reacts to what happened to the run since before.
func (m *model) followRun(before feed.Shot) tea.Cmd {
	var cmd tea.Cmd
	paused := m.run.Pauses != m.seen
	m.seen = m.run.Pauses
	switch {
	case m.run.Phase == events.Done || m.run.Phase == events.Ended:
		if before.Phase != m.run.Phase {
			browsing{m.view}.showEnd(before.Phase)
		}
	case paused && m.run.Phase == events.Paused:
		cmd = browsing{m.view}.showPause()
	case before.Phase != events.Running && m.run.Phase == events.Running:
		m.autoTab(tabOutputs)
		m.panes.giveBack()
	}
	if m.following && m.run.Phase == events.Running {
		m.toPointer(false)
	}
	if m.run.Phase == events.Done && (m.leaving || m.run.Stopped) {
		return tea.Quit
	}
	return cmd
}

// showPause reacts to a pause: it shows where and why, and rings once if nobody is looking.
func (m browsing) showPause() tea.Cmd {
	failed := m.run.Pause.Reason == events.PauseFailure
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
		m.tree.Tallies[0].Sum(status.Changed, status.Failed, status.Unreachable, status.Ignored, status.Rescued,
			status.Outdated, status.Cancelled)+len(m.tree.Drift) > 0 {
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
	step := m.run.Pointer
	if m.run.Phase == events.Paused && m.run.PausedAt >= 0 {
		step, show = m.run.PausedAt, true
	}
	if step < 0 || step >= len(m.plan.Steps) || m.isTyping() {
		return
	}
	n := int(m.tree.StepNode[step])
	if show {
		if m.rows.Keep != nil && !m.rows.Keep[n] {
			m.setFilter(tree.FilterAll)
		}
		m.rows.Reveal(n)
	}
	m.cur.Node = n
}

// holdFailure lets the step that the run is paused on count as failed, also where a rescue will follow or the failure be
// ignored: while a person decides, neither has happened.
func (m *knownRun) holdFailure() {
	at := -1
	if m.position().OnFailure() {
		at = m.run.PausedAt
	}
	if was := m.failing; was >= 0 && was != at {
		m.store.Read(func(run *events.Run) {
			if was < len(run.Steps) && was < len(m.plan.Steps) {
				m.tree.Set(was, status.Of(&run.Steps[was], &m.plan.Steps[was]))
			}
		})
	}
	if m.failing = at; at >= 0 && at < len(m.tree.Faces) && !m.tree.Faces[at].Bad() {
		m.tree.Set(at, status.Failed)
	}
}

// retryingText says how a retry goes, where the run was paused on a failure.
func (m *knownRun) retryingText() string {
	if m.run.Pause.Reason != events.PauseFailure || m.position().OnFailure() {
		return ""
	}
	switch {
	case m.tree.Faces[m.run.PausedAt] == status.Running:
		return "retrying"
	case m.position().Edited():
		return "after an edit"
	}
	return "after a retry"
}

// isMoving reports whether there is something to watch.
func (m *knownRun) isMoving() bool {
	return m.run.Phase != events.Done && (m.run.Phase == events.Running || m.run.Counts.Running > 0)
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
