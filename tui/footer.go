package tui

import (
	"slices"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/standing"
)

// footerKeys is the most keys a footer shows; all others are behind palette and help.
const footerKeys = 9

// footer is the last row: the keys that make sense now.
func (m *model) footer(b *draw.Brush) {
	b.Begin(m.width, draw.OnRow)
	defer b.End()
	lead, between := "  ", "   "
	if m.width < 100 {
		lead, between = "", "  "
	}
	if m.prompt != nil {
		b.Put(themes.Text, lead)
		m.prompt.draw(m, b)
		return
	}
	if m.fix != nil {
		b.Put(themes.Text, lead)
		m.drawHints(b, m.fixTips())
		return
	}
	if m.sequence != "" {
		b.Put(themes.Text, lead)
		m.pending(b)
		return
	}
	b.Put(themes.Text, lead)
	for i, t := range m.footerTips(len(lead), len(between)) {
		if i > 0 {
			b.Put(themes.Text, between)
		}
		from := b.X
		b.Put(draw.InkKey, m.keys.label(t.do))
		if t.words != "" {
			b.Put(themes.Text, " "+t.words)
		}
		b.Spot(from, draw.SpotKey, int(t.do))
	}
}

// footerTips are the tips that have room, without those that would be refused.
func (m *model) footerTips(lead, between int) []tip {
	last := tipOf(showHelp, "help")
	if m.width < 64 {
		last.words = ""
	}
	var tips []tip
	for _, t := range m.withKeys(m.tips()) {
		if len(tips) < footerKeys-1 && m.cannot(t.do) == "" {
			tips = append(tips, t)
		}
	}
	tips = append(tips, last)
	for len(tips) > 1 && m.tipsWidth(tips, lead, between) > m.width {
		tips = append(tips[:len(tips)-2], last)
	}
	return tips
}

func (m *model) tipsWidth(tips []tip, lead, between int) int {
	w := lead + between*(len(tips)-1)
	for _, t := range tips {
		w += len(m.keys.label(t.do)) + len(t.words)
		if t.words != "" {
			w++
		}
	}
	return w
}

// tips are the keys that make sense now, the most useful first.
func (m *model) tips() []tip {
	if m.matrixShown() {
		return m.matrixTips()
	}
	if m.focus() == paneDetail {
		if tips := m.detailTips(); tips != nil {
			return tips
		}
	}
	switch m.run.phase {
	case events.Review:
		return m.reviewTips()
	case events.Running:
		return m.runningTips()
	case events.Paused:
		return m.pausedTips()
	case events.Ended, events.Done:
	}
	return m.doneTips()
}

// decisions are the tips about the node under the cursor.
func (m *model) decisions() (tips []tip) {
	t, single := m.aimed()
	if t[standing.Asking] > 0 && single {
		return []tip{tipOf(gateApprove, "continue"), tipOf(gateExclude, "reject")}
	}
	tips = m.approvals()
	switch {
	case t[standing.Undecided]+t[standing.Confirm] == 0 && t[standing.Waiting] > 0:
		tips = append([]tip{tipOf(gateApprove, "unapprove")}, tips...)
	case !single && t[standing.Undecided] == 0 && t[standing.Waiting] > 0:
		tips = append(tips, tipOf(gateApprove, "unapprove"))
	}
	switch {
	case t.sum(standing.Waiting, standing.Undecided, standing.Confirm) > 0:
		tips = append(tips, tipOf(gateExclude, "exclude"))
	case t[standing.Excluded] > 0:
		tips = append(tips, tipOf(gateExclude, "restore"))
	}
	return tips
}

// approvals are the tips that approve what a decision would be about. What asks to be confirmed is confirmed by itself, wherever the
// cursor is.
func (m *model) approvals() []tip {
	t, single := m.aimed()
	switch {
	case single && t[standing.Confirm] > 0:
		return []tip{tipOf(gateApprove, "confirm")}
	case t[standing.Undecided] > 0:
		return []tip{tipOf(gateApprove, "approve")}
	case t[standing.Confirm] > 0 && m.tree.tallies[0].failed() == 0: // which would be gone to first
		return []tip{tipOf(needNext, "confirm each")}
	}
	return nil
}

func (m *model) reviewTips() []tip {
	tips := m.decisions()
	if m.tree.tallies[0].sum(standing.Undecided) > 0 {
		tips = append(tips, tipOf(gateApproveAll, "all"))
	}
	tips = append(tips, tipOf(gateBreak, "breakpoint"), tipOf(runStep, "step"), tipOf(runContinue, "run"), tipOf(findText, "find"))
	return m.withEdit(append(tips, m.paneTip()...), tipOf(showPalette, "commands"))
}

// paneTip is how to see the detail where it is not on the screen.
func (m *model) paneTip() []tip {
	if m.layout().kind == layoutOne {
		return []tip{tipOf(paneOther, "detail")}
	}
	return nil
}

func (m *model) withEdit(tips []tip, rest ...tip) []tip {
	if m.canEdit() {
		tips = append(tips, tipOf(sourceEdit, "editor"))
	}
	return append(tips, rest...)
}

func (m *model) runningTips() []tip {
	if m.tree.tally(m.at())[standing.Asking] > 0 && m.tree.step(m.at()) >= 0 {
		return append(m.decisions(), tipOf(runPause, "pause"), tipOf(copyMenu, "copy"), tipOf(showPalette, "commands"))
	}
	follow := "follow"
	if m.following {
		follow = "follow on"
	}
	tips := []tip{tipOf(runPause, "pause"), tipOf(cursorFollow, follow)}
	if m.layout().kind == layoutOne {
		tips = append(tips, tipOf(tabOutput, "output"))
	} else {
		tips = append(tips, tipOf(paneGrow, "larger"))
	}
	return append(tips, tipOf(gateBreak, "breakpoint"), tipOf(findText, "find"), tipOf(filterNext, "filter"), tipOf(copyMenu, "copy"), tipOf(showPalette, "commands"))
}

func (m *model) pausedTips() []tip {
	t, single := m.aimed()
	if m.onFailure() {
		var tips []tip
		if m.failedIn(m.tree.steps(m.at())) > 0 {
			tips = append(tips, tipOf(runRetry, "retry"))
		}
		return m.failureTips(tips)
	}
	var tips []tip
	switch {
	case m.mended() && m.failedIn(m.tree.steps(m.at())) > 0:
		tips = append(tips, tipOf(runRetry, "run it"))
	case t[standing.Asking] > 0 && single:
		tips = m.decisions()
	default:
		tips = m.approvals()
	}
	if m.asks() != "" && m.tree.step(m.at()) != m.run.pausedAt {
		tips = append(tips, tipOf(cursorPointer, "go to it")) // which nothing runs past
	}
	if m.decided() != "" {
		tips = append(tips, tipOf(runContinue, "continue")) // which is what the answer was for
	}
	tips = append(tips, tipOf(runStep, "step"), tipOf(runOver, "over"), tipOf(runOut, "out"), tipOf(runUntil, "until"))
	if m.decided() == "" {
		tips = append(tips, tipOf(runContinue, "continue"))
	}
	if m.breakAt(m.at()) {
		tips = append(tips, tipOf(gateBreakIf, "condition"), tipOf(gateBreak, "clear"))
		if m.cannotWatch() == "" {
			tips = append(tips, tipOf(watchAdd, "watch"))
		}
	}
	if t[standing.Outdated] > 0 {
		tips = append([]tip{tipOf(stepDone, "rerun or keep")}, tips...)
	}
	tips = m.withEdit(tips)
	for _, more := range m.decisions() {
		if !slices.ContainsFunc(tips, func(t tip) bool { return t.do == more.do }) {
			tips = append(tips, more)
		}
	}
	return tips
}

// failureTips are the ways out of a failure; those that matter most come first, as the last ones may not fit.
func (m *model) failureTips(tips []tip) []tip {
	here, brief := m.broken(m.tree.step(m.at())), m.width < 100
	words := map[bool][2]string{false: {"edit + retry", "continue without it"}, true: {"edit", "continue"}}[brief]
	if here {
		tips = append(tips, tipOf(nodeFix, words[0]))
	}
	tips = m.withEdit(tips)
	if here && !brief {
		tips = append(tips, tipOf(nodeShell, "shell"))
	}
	if here {
		tips = append(tips, tipOf(gateExclude, "skip"))
	}
	tips = append(append(tips, m.otherPaneTip()...), tipOf(runContinue, words[1]), tipOf(runLeave, "stop"), tipOf(needNext, "next problem"))
	return append(tips, tipOf(copyMenu, "copy"))
}

func (m *model) otherPaneTip() []tip {
	if m.layout().kind != layoutOne {
		return nil
	}
	if m.panes.focus == paneDetail {
		return []tip{tipOf(paneOther, "plan")}
	}
	return []tip{tipOf(paneOther, "step")}
}

func (m *model) doneTips() []tip {
	var tips []tip
	t := m.tree.tallies[0]
	if m.run.phase == events.Ended && t.failed() > 0 {
		tips = append(tips, tipOf(runRetry, "retry"), tipOf(runRetryAll, "retry all"))
	}
	if m.run.phase == events.Ended && m.tree.tally(m.at())[standing.Outdated] > 0 {
		tips = append(tips, tipOf(stepDone, "rerun or keep"))
	}
	if t.sum(standing.Failed, standing.Unreachable, standing.Ignored, standing.Rescued, standing.Outdated, standing.Cancelled) > 0 {
		tips = append(tips, tipOf(needNext, "next problem"))
	}
	tips = append(tips, tipOf(filterNext, m.filter.next().String()))
	tips = append(append(tips, m.otherPaneTip()...), tipOf(copyMenu, "copy"))
	if m.run.phase == events.Done && m.o.Again {
		tips = append(tips, tipOf(runRetryAll, "run again"))
	}
	return append(m.withEdit(append(tips, tipOf(findText, "find"))), tipOf(runLeave, "leave"))
}

// detailTips are the keys of the detail pane, unless the run has better ones.
func (m *model) detailTips() []tip {
	if m.panes.lent || m.run.phase == events.Paused && m.place() != inOutput {
		return nil
	}
	tips := []tip{tipOf(goBack, "back")}
	if m.place() == inOutput {
		tips = append(tips, tipOf(findText, "find"))
		if m.detail.search.text != "" {
			tips = append(tips, tipOf(findNext, "next"))
		}
		tips = append(tips, tipOf(outputWrap, "wrap"), tipOf(outputTimes, "times"), tipOf(cursorFollow, "follow"))
		if i := m.tree.step(m.at()); i >= 0 && m.attempts(i) > 1 {
			tips = append(tips, tipOf(outputEarlier, "attempt"))
		}
	}
	if m.layout().kind == layoutWide || m.layout().kind == layoutTall {
		tips = append(tips, tipOf(paneGrow, "larger"))
	}
	tips = append(tips, tipOf(copyMenu, "copy"))
	for _, t := range []tip{tipOf(tabStep, "step"), tipOf(tabOutput, "output"), tipOf(tabDiff, "diff"), tipOf(tabVars, "vars")} {
		if t.do != tabStep+intent(m.detail.tab) { // which is on the screen
			tips = append(tips, t)
		}
	}
	return tips
}

// attempts is how many attempts of a step have output.
func (m *model) attempts(step int) (n int) {
	m.store.read(func(run *events.Run) {
		if step >= 0 && step < len(run.Steps) {
			n = len(outsOf(&run.Steps[step]))
		}
	})
	return n
}
