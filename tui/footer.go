package tui

import (
	"slices"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
)

// tip is a key of the footer with what it does now, in a word or two.
type tip struct {
	do    intent
	words string
}

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
	last := tip{showHelp, "help"}
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
	if t[faceAsking] > 0 && single {
		return []tip{{gateApprove, "continue"}, {gateExclude, "reject"}}
	}
	tips = m.approvals()
	switch {
	case t[faceUndecided]+t[faceConfirm] == 0 && t[faceWaiting] > 0:
		tips = append([]tip{{gateApprove, "unapprove"}}, tips...)
	case !single && t[faceUndecided] == 0 && t[faceWaiting] > 0:
		tips = append(tips, tip{gateApprove, "unapprove"})
	}
	switch {
	case t.sum(faceWaiting, faceUndecided, faceConfirm) > 0:
		tips = append(tips, tip{gateExclude, "exclude"})
	case t[faceExcluded] > 0:
		tips = append(tips, tip{gateExclude, "restore"})
	}
	return tips
}

// approvals are the tips that approve what a decision would be about. What asks to be confirmed is confirmed by itself, wherever the
// cursor is.
func (m *model) approvals() []tip {
	t, single := m.aimed()
	switch {
	case single && t[faceConfirm] > 0:
		return []tip{{gateApprove, "confirm"}}
	case t[faceUndecided] > 0:
		return []tip{{gateApprove, "approve"}}
	case t[faceConfirm] > 0 && m.tree.tallies[0].failed() == 0: // which would be gone to first
		return []tip{{needNext, "confirm each"}}
	}
	return nil
}

func (m *model) reviewTips() []tip {
	tips := m.decisions()
	if m.tree.tallies[0].sum(faceUndecided) > 0 {
		tips = append(tips, tip{gateApproveAll, "all"})
	}
	tips = append(tips, tip{gateBreak, "breakpoint"}, tip{runStep, "step"}, tip{runContinue, "run"}, tip{findText, "find"})
	return m.withEdit(append(tips, m.paneTip()...), tip{showPalette, "commands"})
}

// paneTip is how to see the detail where it is not on the screen.
func (m *model) paneTip() []tip {
	if m.layout().kind == layoutOne {
		return []tip{{paneOther, "detail"}}
	}
	return nil
}

func (m *model) withEdit(tips []tip, rest ...tip) []tip {
	if m.canEdit() {
		tips = append(tips, tip{sourceEdit, "editor"})
	}
	return append(tips, rest...)
}

func (m *model) runningTips() []tip {
	if m.tree.tally(m.at())[faceAsking] > 0 && m.tree.step(m.at()) >= 0 {
		return append(m.decisions(), tip{runPause, "pause"}, tip{copyMenu, "copy"}, tip{showPalette, "commands"})
	}
	follow := "follow"
	if m.following {
		follow = "follow on"
	}
	tips := []tip{{runPause, "pause"}, {cursorFollow, follow}}
	if m.layout().kind == layoutOne {
		tips = append(tips, tip{tabOutput, "output"})
	} else {
		tips = append(tips, tip{paneGrow, "larger"})
	}
	return append(tips, tip{gateBreak, "breakpoint"}, tip{findText, "find"}, tip{filterNext, "filter"}, tip{copyMenu, "copy"}, tip{showPalette, "commands"})
}

func (m *model) pausedTips() []tip {
	t, single := m.aimed()
	if m.onFailure() {
		var tips []tip
		if m.failedIn(m.tree.steps(m.at())) > 0 {
			tips = append(tips, tip{runRetry, "retry"})
		}
		return m.failureTips(tips)
	}
	var tips []tip
	switch {
	case m.mended() && m.failedIn(m.tree.steps(m.at())) > 0:
		tips = append(tips, tip{runRetry, "run it"})
	case t[faceAsking] > 0 && single:
		tips = m.decisions()
	default:
		tips = m.approvals()
	}
	if m.asks() != "" && m.tree.step(m.at()) != m.run.pausedAt {
		tips = append(tips, tip{cursorPointer, "go to it"}) // which nothing runs past
	}
	if m.decided() != "" {
		tips = append(tips, tip{runContinue, "continue"}) // which is what the answer was for
	}
	tips = append(tips, tip{runStep, "step"}, tip{runOver, "over"}, tip{runOut, "out"}, tip{runUntil, "until"})
	if m.decided() == "" {
		tips = append(tips, tip{runContinue, "continue"})
	}
	if m.breakAt(m.at()) {
		tips = append(tips, tip{gateBreakIf, "condition"}, tip{gateBreak, "clear"})
		if m.cannotWatch() == "" {
			tips = append(tips, tip{watchAdd, "watch"})
		}
	}
	if t[faceOutdated] > 0 {
		tips = append([]tip{{stepDone, "rerun or keep"}}, tips...)
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
		tips = append(tips, tip{nodeFix, words[0]})
	}
	tips = m.withEdit(tips)
	if here && !brief {
		tips = append(tips, tip{nodeShell, "shell"})
	}
	if here {
		tips = append(tips, tip{gateExclude, "skip"})
	}
	tips = append(append(tips, m.otherPaneTip()...), tip{runContinue, words[1]}, tip{runLeave, "stop"}, tip{needNext, "next problem"})
	return append(tips, tip{copyMenu, "copy"})
}

func (m *model) otherPaneTip() []tip {
	if m.layout().kind != layoutOne {
		return nil
	}
	if m.panes.focus == paneDetail {
		return []tip{{paneOther, "plan"}}
	}
	return []tip{{paneOther, "step"}}
}

func (m *model) doneTips() []tip {
	var tips []tip
	t := m.tree.tallies[0]
	if m.run.phase == events.Ended && t.failed() > 0 {
		tips = append(tips, tip{runRetry, "retry"}, tip{runRetryAll, "retry all"})
	}
	if m.run.phase == events.Ended && m.tree.tally(m.at())[faceOutdated] > 0 {
		tips = append(tips, tip{stepDone, "rerun or keep"})
	}
	if t.sum(faceFailed, faceUnreachable, faceIgnored, faceRescued, faceOutdated, faceCancelled) > 0 {
		tips = append(tips, tip{needNext, "next problem"})
	}
	tips = append(tips, tip{filterNext, m.filter.next().String()})
	tips = append(append(tips, m.otherPaneTip()...), tip{copyMenu, "copy"})
	if m.run.phase == events.Done && m.o.Again {
		tips = append(tips, tip{runRetryAll, "run again"})
	}
	return append(m.withEdit(append(tips, tip{findText, "find"})), tip{runLeave, "leave"})
}

// detailTips are the keys of the detail pane, unless the run has better ones.
func (m *model) detailTips() []tip {
	if m.panes.lent || m.run.phase == events.Paused && m.place() != inOutput {
		return nil
	}
	tips := []tip{{goBack, "back"}}
	if m.place() == inOutput {
		tips = append(tips, tip{findText, "find"})
		if m.detail.search.text != "" {
			tips = append(tips, tip{findNext, "next"})
		}
		tips = append(tips, tip{outputWrap, "wrap"}, tip{outputTimes, "times"}, tip{cursorFollow, "follow"})
		if i := m.tree.step(m.at()); i >= 0 && m.attempts(i) > 1 {
			tips = append(tips, tip{outputEarlier, "attempt"})
		}
	}
	if m.layout().kind == layoutWide || m.layout().kind == layoutTall {
		tips = append(tips, tip{paneGrow, "larger"})
	}
	tips = append(tips, tip{copyMenu, "copy"})
	for _, t := range []tip{{tabStep, "step"}, {tabOutput, "output"}, {tabDiff, "diff"}, {tabVars, "vars"}} {
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
