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
	"moon/tui/standing"
)

// sync brings the model up to date with the store. What matters is compared with the last time, so nothing that
// happened between two frames is lost: a pause that came and went still counts as one.
func (m *model) sync() tea.Cmd {
	news := m.adoptPlan()
	before := m.run
	changed := false
	m.run = m.store.take(func(times events.Times) { m.timeline.times = times }, func(step int, of *events.Step) {
		if step < len(m.plan.Steps) {
			m.see(step, of)
			changed = true
		}
	}, func(steps []events.Step) {
		m.seeAll(steps)
		changed = true
	})
	m.holdFailure()
	m.point()
	m.countdown.refresh(m.clockNow())
	m.timeline.advance(m.clockNow())
	m.waiting.stale = m.waiting.stale || !m.moving()     // while something does, the tick asks
	if m.run.phase != before.phase && before.steps > 0 { // at the first look it is what the screen opens with
		m.message = "" // it was about something else
	}
	if news != "" {
		m.say(news)
	}
	for _, note := range m.run.notes {
		m.say(note)
		if why, is := strings.CutPrefix(note, refused); is {
			m.fixRefused(why)
		}
	}
	cmd := m.follow(before)
	if changed && m.filter != filterAll && m.filter != filterFound {
		m.refilter()
	}
	m.filterAgain()
	m.detail.reel.stale, m.peek.stale = true, true
	m.foretell()
	return tea.Batch(cmd, m.keepTicking())
}

// adoptPlan takes over another plan when the run has one, and says what is different in it.
func (m *model) adoptPlan() (news string) {
	digest := m.store.digest()
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
	m.store.forget()
	return news
}

func (m *model) see(step int, of *events.Step) {
	m.tree.set(step, standing.Of(of, &m.plan.Steps[step]))
	m.breakAtStep(step, of)
	m.countdown.see(step, of)
	m.timeline.see(step, of)
	m.lacking.see(step, of)
	m.tree.ranAs(step, of)
	if from, to := times(of); from != 0 {
		m.tree.ran(step, from, to)
	}
}

func (m *model) seeAll(steps []events.Step) {
	var none events.Step
	clear(m.breaks)
	m.places = nil
	m.tree.recount(func(i int) (standing.State, int64, int64) {
		of := &none
		if i < len(steps) {
			of = &steps[i]
		}
		m.breakAtStep(i, of)
		m.countdown.see(i, of)
		m.timeline.see(i, of)
		m.lacking.see(i, of)
		m.tree.ranAs(i, of)
		from, to := times(of)
		return standing.Of(of, &m.plan.Steps[i]), from, to
	})
}

// times is when a step that ran started and ended, in nanoseconds.
func times(s *events.Step) (from, to int64) {
	if s.Attempt == 0 || s.Started.IsZero() || s.Kept { // when it was kept is not when it ran
		return 0, 0
	}
	if s.State == events.Settled {
		to = s.Ended.UnixNano()
	}
	return s.Started.UnixNano(), to
}

// follow reacts to what happened to the run since before.
func (m *model) follow(before shot) tea.Cmd {
	var cmd tea.Cmd
	paused := m.run.pauses != m.seen
	m.seen = m.run.pauses
	switch {
	case m.run.phase == events.Done || m.run.phase == events.Ended:
		if before.phase != m.run.phase {
			m.arrive(before.phase)
		}
	case paused && m.run.phase == events.Paused:
		cmd = m.halted()
	case before.phase != events.Running && m.run.phase == events.Running:
		m.autoTab(tabOutputs)
		m.panes.giveBack()
	}
	if m.following && m.run.phase == events.Running {
		m.toPointer(false)
	}
	if m.run.phase == events.Done && (m.leaving || m.run.stopped) {
		return tea.Quit
	}
	return cmd
}

// halted reacts to a pause: it shows where and why, and rings once if nobody is looking.
func (m *model) halted() tea.Cmd {
	failed := m.run.pause.Reason == events.PauseFailure
	if failed || m.following {
		m.toPointer(failed)
	}
	switch {
	case failed && !m.typing():
		m.tabChosen = false
		m.detail.open(tabSteps)
		m.detail.scroll = 0
		m.lend()
	case !failed:
		m.autoTab(tabSteps)
	}
	if failed && m.unfocused {
		return tea.Raw("\a")
	}
	return nil
}

// arrive reacts to the end of the run: the tree shows what is worth seeing, the root what it came to.
func (m *model) arrive(before events.Phase) {
	m.summary = m.summarize()
	if before == events.Ended {
		return // it was shown already
	}
	if m.filter == filterAll && m.tree.tallies[0].sum(standing.Changed, standing.Failed, standing.Unreachable, standing.Ignored, standing.Rescued, standing.Outdated, standing.Cancelled)+len(m.tree.drift) > 0 {
		m.setFilter(filterNotable)
	}
	if m.typing() || m.focus() == paneDetail && !m.panes.lent {
		return
	}
	m.cur.node, m.following, m.tabChosen = 0, false, false
	m.detail.open(tabSteps)
	m.lend()
}

// lend shows the detail where there is room for one pane only, until the run goes on.
func (m *model) lend() {
	if m.matrix == nil && m.layout().kind == layoutOne && m.panes.focus == paneTree {
		m.panes.focus, m.panes.lent = paneDetail, true
	}
}

// autoTab shows a tab, unless a person chose another.
func (m *model) autoTab(t tab) {
	if !m.tabChosen && !m.typing() {
		m.detail.open(t)
	}
}

// toPointer moves the cursor to the step the engine is at, or to the row it is folded into.
func (m *model) toPointer(show bool) {
	step := m.run.pointer
	if m.run.phase == events.Paused && m.run.pausedAt >= 0 {
		step, show = m.run.pausedAt, true
	}
	if step < 0 || step >= len(m.plan.Steps) || m.typing() {
		return
	}
	n := int(m.tree.stepNode[step])
	if show {
		if m.rows.keep != nil && !m.rows.keep[n] {
			m.setFilter(filterAll)
		}
		m.rows.reveal(n)
	}
	m.cur.node = n
}

// onFailure reports whether the run is paused on a step that is still failed. After a retry the pause stays, but not
// its reason.
func (m *model) onFailure() bool {
	at := m.run.pausedAt
	if m.run.phase != events.Paused || m.run.pause.Reason != events.PauseFailure {
		return false
	}
	if at < 0 || at >= len(m.tree.faces) {
		return true
	}
	switch m.tree.faces[at] {
	case standing.Failed, standing.Unreachable, standing.Rescued, standing.Ignored: // the rescue has not begun
		return true
	default:
		return false
	}
}

// holdFailure lets the step that the run is paused on count as failed, also where a rescue will follow or the failure be
// ignored: while a person decides, neither has happened.
func (m *model) holdFailure() {
	at := -1
	if m.onFailure() {
		at = m.run.pausedAt
	}
	if was := m.failing; was >= 0 && was != at {
		m.store.read(func(run *events.Run) {
			if was < len(run.Steps) && was < len(m.plan.Steps) {
				m.tree.set(was, standing.Of(&run.Steps[was], &m.plan.Steps[was]))
			}
		})
	}
	if m.failing = at; at >= 0 && at < len(m.tree.faces) && !m.tree.faces[at].Bad() {
		m.tree.set(at, standing.Failed)
	}
}

// broken reports whether a step has failed and a person may still decide what becomes of it.
func (m *model) broken(step int) bool {
	return step >= 0 && (m.tree.faces[step].Bad() || step == m.run.pausedAt && m.onFailure())
}

// retrying says how a retry goes, where the run was paused on a failure.
func (m *model) retrying() string {
	if m.run.pause.Reason != events.PauseFailure || m.onFailure() {
		return ""
	}
	switch {
	case m.tree.faces[m.run.pausedAt] == standing.Running:
		return "retrying"
	case m.mended():
		return "after an edit"
	}
	return "after a retry"
}

// moving reports whether there is something to watch.
func (m *model) moving() bool {
	return m.run.phase != events.Done && (m.run.phase == events.Running || m.run.counts.Running > 0)
}

// planChange says what is different in a plan, and in which file if it is one.
func planChange(old, now *plan.Plan, others standing.OtherFiles) string {
	d := standing.Differ(old, now)
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
