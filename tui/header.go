package tui

import (
	"cmp"
	"fmt"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/themes"
)

// header is the first row: what is run, and at the right end in what state it is, as much of it as fits.
func (m *model) header(b *brush) {
	b.begin(m.width, onRow)
	b.put(inkTitle, " moon")
	name := plain(cmp.Or(m.plan.RootFile, m.plan.Name))
	b.put(themes.Text, "  "+cutLeft(name, max(m.width/3, 8), m.glyphs.dots))
	if m.o.Mode != "" {
		b.put(themes.Text, "  ")
		b.put(inkMark, " "+plain(m.o.Mode)+" ")
	}
	var spans []text
	room, w := b.left-3, 0
	for level := range 3 {
		spans = m.headline(level)
		if w = widthOf(spans); w <= room {
			break
		}
	}
	b.at(b.wide - w - 1)
	for _, s := range spans {
		b.put(s.ink, s.s)
	}
	b.end()
	b.newline()
}

func widthOf(spans []text) (w int) {
	for _, s := range spans {
		w += cells(s.s)
	}
	return w
}

// headline is the state of the run: 0 is all of it, 2 the least.
func (m *model) headline(level int) []text {
	switch m.run.phase {
	case events.Review:
		return m.reviewLine(level)
	case events.Running:
		return m.runningLine(level)
	case events.Paused:
		return m.pausedLine(level)
	case events.Ended, events.Done:
	}
	return m.doneLine(level)
}

func (m *model) reviewLine(level int) []text {
	t := m.tree.tally(0)
	total, approved, ask := t.total(), t.sum(faceWaiting), t.sum(faceConfirm)
	line := []text{{themes.Accent, "REVIEW"}}
	dot := " " + m.glyphs.dot + " "
	if level > 0 {
		line = append(line, text{themes.Text, fmt.Sprintf(" %d/%d", approved, total)})
		if ask > 0 && level == 1 {
			line = append(line, text{themes.Warn, fmt.Sprintf("  %s", needYou(ask))})
		}
		return line
	}
	words := "  "
	if n := m.kinds(plan.ScopePlay); n > 1 {
		words += count(n, "play") + dot
	}
	if all := len(m.plan.Steps); all != total {
		words += fmt.Sprintf("%d of %s", total, count(all, "step"))
	} else {
		words += count(total, "step")
	}
	line = append(line, text{themes.Text, words + dot + fmt.Sprintf("%d approved", approved)})
	if ask > 0 {
		line = append(line, text{themes.Text, dot}, text{themes.Warn, needYou(ask)})
	}
	return line
}

func needYou(n int) string {
	if n == 1 {
		return "1 needs you"
	}
	return fmt.Sprintf("%d need you", n)
}

func (m *model) kinds(k plan.ScopeKind) (n int) {
	for i := range m.plan.Scopes {
		if m.plan.Scopes[i].Kind == k {
			n++
		}
	}
	return n
}

// progress is how many steps have ended, of how many.
func (m *model) progress() (done, total int) {
	t := m.tree.tally(0)
	return t.done() + t.sum(faceOmitted), t.total()
}

func (m *model) runningLine(level int) []text {
	done, total := m.progress()
	part := float64(done) / float64(max(total, 1))
	percent := fmt.Sprintf("%d%%", int(part*100))
	word := "RUNNING"
	if m.stopping > 0 {
		word = "STOPPING"
	}
	switch level {
	case 0:
		const w = 20
		bar := m.glyphs.gauge(part, w)
		return []text{
			{themes.Running, word},
			{themes.Text, "  "},
			{themes.BarFill, bar},
			{themes.BarRest, spaces(w - cells(bar))},
			{themes.Text, fmt.Sprintf("  %d/%d  %s   %s", done, total, percent, m.elapsed())},
		}
	case 1:
		return []text{{themes.Running, word}, {themes.Text, " " + percent + "  " + m.elapsed()}}
	}
	return []text{{themes.Running, word}, {themes.Text, " " + percent}}
}

// elapsed is how long the run has taken.
func (m *model) elapsed() string {
	if m.run.started.IsZero() {
		return "00:00"
	}
	if !m.run.ended.IsZero() {
		return clock(m.run.ended.Sub(m.run.started))
	}
	return clock(m.clockNow().Sub(m.run.started))
}

// running says whether something still runs although the run is paused.
func (m *model) runningWords() string {
	if n := m.run.counts.Running; n > 0 {
		return fmt.Sprintf("%d still finishing", n)
	}
	return "nothing is running"
}

func (m *model) pausedLine(level int) []text {
	done, total := m.progress()
	failed := m.onFailure()
	look := themes.Accent
	if failed {
		look = themes.Failed
	}
	line := []text{{look, "PAUSED"}}
	amount := fmt.Sprintf("%d/%d", done, total)
	if level > 0 {
		if failed {
			line = append(line, text{look, " " + m.glyphs.signs[signFailed]})
		} else if level == 1 {
			line = append(line, text{themes.Text, " " + cmp.Or(m.retrying(), pauseShort(m.run.pause.Reason))})
		}
		return append(line, text{themes.Text, map[int]string{1: "  " + amount + "  " + m.elapsed(), 2: " " + amount}[level]})
	}
	line = append(line, text{themes.Text, " " + m.pauseLong()})
	return append(line, text{themes.Text, "   " + amount + "   " + m.elapsed() + "   " + m.runningWords()})
}

func pauseShort(r events.PauseReason) string {
	switch r {
	case events.PauseFailure:
		return "on failure"
	case events.PauseBreakpoint:
		return "at breakpoint"
	case events.PauseUndecided:
		return "at undecided"
	case events.PauseConfirm:
		return "to confirm"
	case events.PauseUser:
		return "by you"
	case events.PauseReview, events.PauseStep, events.PauseEnd:
	}
	return "step by step"
}

// pauseLong says why the run is paused, and before what.
func (m *model) pauseLong() string {
	why, before := pauseShort(m.run.pause.Reason), ""
	if how := m.retrying(); how != "" {
		return how
	}
	if at := m.run.pausedAt; at >= 0 && at < len(m.plan.Steps) {
		before = cutMiddle(plain(stepTitle(&m.plan.Steps[at])), max(m.width/4, 8), m.glyphs.dots)
	}
	switch m.run.pause.Reason {
	case events.PauseFailure, events.PauseUser:
		return why
	case events.PauseUndecided, events.PauseConfirm:
		return why + "  " + before
	case events.PauseBreakpoint:
		why += ","
	case events.PauseStep, events.PauseReview, events.PauseEnd:
		if before != "" {
			why = ""
		}
	}
	if before == "" {
		return strings.TrimSuffix(why, ",")
	}
	return strings.TrimSpace(why + " before  " + before)
}

func (m *model) doneLine(level int) []text {
	c := m.run.counts
	how, look := "", themes.OK
	switch {
	case c.Failed+c.Lost > 0 || m.run.result.Outcome == events.RunFailed:
		how, look = "failed", themes.Failed
	case m.run.result.Outcome == events.RunStopped:
		how, look = "stopped by you", themes.Warn
	case m.run.result.Outcome == events.RunInterrupted:
		how, look = "interrupted", themes.Warn
	case c.Changed > 0:
		how, look = "with changes", themes.Changed
	default:
		how = "nothing changed"
	}
	done, total := m.progress()
	t := m.tree.tally(0)
	done -= t.sum(faceOmitted)
	line := []text{{look, "DONE " + how}}
	switch level {
	case 0:
		words := fmt.Sprintf("   %d/%d   %s", done, total, m.elapsed())
		if m.summary.retried > 0 {
			words += fmt.Sprintf("   %d retried", m.summary.retried)
		}
		return append(line, text{themes.Text, words})
	case 1:
		return append(line, text{themes.Text, "  " + m.elapsed()})
	}
	return line
}

// treeRule is the rule above the tree.
func (m *model) treeRule(b *brush) {
	b.rule(m.glyphs, 1)
	look := themes.Dim
	if m.focus() == paneTree {
		look = inkTitle
	}
	b.put(look, " Plan")
	words := ""
	if m.filter != filterAll || b.wide >= narrowTree {
		words = "  " + m.filter.String()
	}
	if m.following && m.run.phase == events.Running {
		words += " " + m.glyphs.dot + " following"
	}
	if n := len(m.cur.marks); n > 0 {
		words += fmt.Sprintf(" %s %d marked", m.glyphs.dot, n)
	} else if m.cur.anchor >= 0 {
		words += " " + m.glyphs.dot + " marking"
	}
	b.put(themes.Dim, words)
	b.put(themes.Text, " ")
	b.rule(m.glyphs, b.left)
}

// tabRule is the rule above the detail, with its tabs.
func (m *model) tabRule(b *brush) {
	b.rule(m.glyphs, 1)
	b.put(themes.Text, " ")
	for t := range tabs {
		if t > 0 {
			b.put(themes.Text, "  ")
		}
		look := themes.Dim
		if t == m.detail.tab {
			look = inkTab
			if m.focus() == paneDetail {
				look = inkTabFocus
			}
		}
		b.put(look, fmt.Sprintf("%d %s", t+1, m.tabName(t)))
	}
	b.put(themes.Text, " ")
	m.ruleEnd(b)
}

// titleRule is the rule above the detail where the tree is not on the screen: it names the node.
func (m *model) titleRule(b *brush) {
	b.rule(m.glyphs, 1)
	b.put(themes.Text, " ")
	b.put(inkTabFocus, m.tabName(m.detail.tab))
	title := plain(m.tree.title(m.at()))
	b.put(themes.Dim, "  "+cutMiddle(title, max(b.left-12, 4), m.glyphs.dots)+" ")
	m.ruleEnd(b)
}

// ruleEnd finishes a rule, with what the Output tab has to say near its end.
func (m *model) ruleEnd(b *brush) {
	words := ""
	if m.detail.tab == tabOutputs {
		if words = m.outputTitle(); b.left < cells(words)+3 && m.detail.reel.total > 0 {
			words = fmt.Sprint(m.detail.reel.total)
		}
	} else if m.detail.scroll < m.detail.length-m.detail.height {
		words = "more"
	}
	if n := b.left - cells(words) - 3; words != "" && n > 0 {
		b.rule(m.glyphs, n)
		b.put(themes.Dim, " "+words+" ")
	}
	b.rule(m.glyphs, b.left)
}

func (m *model) tabName(t tab) string {
	if t == tabSteps && m.at() == 0 && (m.run.phase == events.Done || m.run.phase == events.Ended) {
		return "Summary"
	}
	return tabNames[t]
}

// stateRule is the rule below the panes: a message, or what there is to know at a glance. The divider of the panes
// ends in it, if there is one.
func (m *model) stateRule(b *brush, divider int) {
	b.rule(m.glyphs, 1)
	b.put(themes.Text, " ")
	switch {
	case m.message != "":
		b.put(themes.Warn, cutRight(m.message, max(b.left-2, 0), m.glyphs.dots))
	case m.run.phase == events.Review:
		m.reviewState(b)
	case m.asks() != "":
		b.put(themes.Warn, cutRight(plain(m.asks()), max(b.left-2, 0), m.glyphs.dots))
	default:
		m.tallyState(b)
	}
	b.put(themes.Text, " ")
	if n := divider - b.column(); n >= 0 {
		b.rule(m.glyphs, n)
		b.put(themes.Border, m.glyphs.teeUp)
	}
	b.rule(m.glyphs, b.left)
}

func (m *model) reviewState(b *brush) {
	t := m.tree.tally(0)
	switch ask, open := t.sum(faceConfirm), t.sum(faceUndecided); {
	case ask > 0:
		b.put(themes.Warn, needYou(ask))
		b.put(themes.Dim, "   "+m.keys.label(needNext)+" next")
	case open > 0:
		b.put(themes.Dim, fmt.Sprintf("%d undecided   %s approves all", open, m.keys.label(gateApproveAll)))
	default:
		b.put(themes.Dim, "all approved   "+m.keys.label(runContinue)+" runs")
	}
}

// asks is what the run is paused to be told.
func (m *model) asks() string {
	at := m.run.pausedAt
	if m.run.phase != events.Paused || at < 0 || at >= len(m.tree.faces) {
		return ""
	}
	approve := m.keys.label(gateApprove)
	switch m.tree.faces[at] {
	case faceConfirm:
		return m.plan.Steps[at].Confirm + "   " + approve + " confirms it"
	case faceUndecided:
		if m.run.pause.Reason == events.PauseUndecided {
			return "not approved: " + approve + " approves it, " + m.keys.label(gateApproveAll) + " approves all"
		}
	default:
	}
	return ""
}

// tallyState counts the outcomes so far. Ok, changed and failed are always there, so that nothing jumps.
func (m *model) tallyState(b *brush) {
	t := m.tree.tally(0)
	between := "   "
	space := " "
	if b.wide < 64 {
		between, space = " ", ""
	}
	first := true
	for _, part := range []struct {
		look  sign
		n     int
		keeps bool
	}{
		{signOK, t.sum(faceOK), true},
		{signChanged, t.sum(faceChanged), true},
		{signFailed, t.sum(faceFailed), true},
		{signIgnored, t.sum(faceIgnored), false},
		{signRescued, t.sum(faceRescued), false},
		{signSkipped, t.sum(faceSkipped), false},
		{signKept, t.sum(faceKept), false},
		{signCancelled, t.sum(faceCancelled), false},
		{signExcluded, t.sum(faceExcluded), false},
		{signRunning, t.sum(faceRunning), false},
		{signPaused, t.sum(faceAsking), false},
		{signConfirm, t.sum(faceConfirm), false},
		{signUndecided, t.sum(faceUndecided), false},
		{signWaiting, t.sum(faceWaiting, faceOmitted), false},
	} {
		if part.n == 0 && !part.keeps {
			continue
		}
		if !first {
			b.put(themes.Text, between)
		}
		first = false
		look := signLooks[part.look].role
		if part.n == 0 {
			look = themes.Dim
		}
		b.put(look, m.glyphs.signs[part.look]+space+fmt.Sprint(part.n))
	}
}
