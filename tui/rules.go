package tui

import (
	"cmp"
	"fmt"
	"strings"

	"moon/events"
	"moon/themes"
)

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
	if m.fix != nil {
		m.fixRule(b)
		return
	}
	b.rule(m.glyphs, 1)
	b.put(themes.Text, " ")
	names, between := m.tabNames(b.left - 1)
	for t := range tabs {
		if t > 0 {
			b.put(themes.Text, between)
		}
		look := themes.Dim
		if t == m.detail.tab {
			look = inkTab
			if m.focus() == paneDetail {
				look = inkTabFocus
			}
		}
		from := b.x
		b.put(look, names[t])
		b.spot(from, spotTab, int(t))
	}
	b.put(themes.Text, " ")
	m.ruleEnd(b)
}

// tabNames are the tabs with their keys, and what stands between them, in so many cells: close together where they do not
// fit otherwise, and then the others by their keys alone.
func (m *model) tabNames(w int) (names [tabs]string, between string) {
	total := 0
	for t := range tabs {
		names[t] = m.tabKey(t) + m.tabName(t)
		total += cells(names[t])
	}
	switch gaps := int(tabs) - 1; {
	case total+2*gaps <= w:
		return names, "  "
	case total+gaps <= w:
		return names, " "
	}
	for t := range tabs {
		if t != m.detail.tab {
			names[t] = cmp.Or(strings.TrimSpace(m.tabKey(t)), head(m.tabName(t), 1))
		}
	}
	return names, " "
}

// titleRule is the rule above the detail where the tree is not on the screen: it names the node.
func (m *model) titleRule(b *brush) {
	if m.fix != nil {
		m.fixRule(b)
		return
	}
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
		words = m.outputTitle(b.left-4, true)
	} else if m.detail.scroll < m.detail.length-m.detail.height {
		words = "more"
	}
	if n := b.left - cells(words) - 3; words != "" && n > 0 {
		b.rule(m.glyphs, n)
		b.put(themes.Dim, " "+words+" ")
	}
	b.rule(m.glyphs, b.left)
}

// tabKey is the key of a tab as it stands before its name.
func (m *model) tabKey(t tab) string {
	if do := tabStep + intent(t); m.keys.bound(do) {
		return m.keys.label(do) + " "
	}
	return ""
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
	case m.fix != nil:
		b.put(themes.Text, count(m.fix.Changes(), "change"))
	case m.message != "":
		b.put(themes.Warn, cutRight(m.message, max(b.left-2, 0), m.glyphs.dots))
	case m.run.phase == events.Review:
		m.reviewState(b)
	case m.asks() != "":
		b.put(themes.Warn, cutRight(plain(m.asks()), max(b.left-2, 0), m.glyphs.dots))
	case m.breakState(b):
	default:
		m.tallyState(b)
	}
	b.put(themes.Text, " ")
	if n := divider - b.column(); n >= 0 {
		b.rule(m.glyphs, n)
		b.put(themes.Border, m.glyphs.teeUp)
	}
	m.outputState(b)
	b.rule(m.glyphs, b.left)
}

func (m *model) reviewState(b *brush) {
	t := m.tree.tally(0)
	if missed := m.unreached(); len(missed) > 0 {
		b.put(themes.Failed, cutRight(m.missedWords(missed), max(b.left-2, 0), m.glyphs.dots))
		return
	}
	switch ask, open := t.sum(faceConfirm), t.sum(faceUndecided); {
	case ask > 0:
		b.put(themes.Warn, needYou(ask))
		b.put(themes.Dim, "   "+m.keys.label(needNext)+" next")
	case open > 0:
		b.put(themes.Dim, fmt.Sprintf("%d not approved   %s approves all", open, m.keys.label(gateApproveAll)))
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
		{signUnreachable, t.sum(faceUnreachable), false},
		{signIgnored, t.sum(faceIgnored), false},
		{signRescued, t.sum(faceRescued), false},
		{signSkipped, t.sum(faceSkipped), false},
		{signKept, t.sum(faceKept), false},
		{signOutdated, t.sum(faceOutdated), false},
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
