package tui

import (
	"cmp"
	"fmt"
	"strings"

	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/tree"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
)

// rulesBar are the lines between the panes, with what stands in them.
type rulesBar struct{ *view }

// treeRule is the rule above the tree.
func (m rulesBar) treeRule(b *draw.Brush) {
	b.Rule(m.glyphs, 1)
	look := themes.Dim
	if m.focusedPane() == paneTree {
		look = draw.InkTitle
	}
	b.Put(look, " Plan")
	words := ""
	if m.filter != tree.FilterAll || b.Wide >= narrowTree {
		words = "  " + m.filter.String()
	}
	if m.following && m.Shot.Phase == events.Running {
		words += " " + m.glyphs.Dot + " following"
	}
	if n := len(m.cur.Marks); n > 0 {
		words += fmt.Sprintf(" %s %d marked", m.glyphs.Dot, n)
	} else if m.cur.Anchor >= 0 {
		words += " " + m.glyphs.Dot + " marking"
	}
	b.Put(themes.Dim, words)
	b.Put(themes.Text, " ")
	b.Rule(m.glyphs, b.Left)
}

// tabRule is the rule above the detail, with its tabs.
func (m rulesBar) tabRule(b *draw.Brush) {
	if m.fix != nil {
		fixPane(m).fixRule(b)
		return
	}
	b.Rule(m.glyphs, 1)
	b.Put(themes.Text, " ")
	names, between := m.tabNames(b.Left - 1)
	for t := range tabs {
		if t > 0 {
			b.Put(themes.Text, between)
		}
		look := themes.Dim
		if t == m.detail.tab {
			look = draw.InkTab
			if m.focusedPane() == paneDetail {
				look = draw.InkTabFocus
			}
		}
		from := b.X
		b.Put(look, names[t])
		b.Spot(from, draw.SpotTab, int(t))
	}
	b.Put(themes.Text, " ")
	m.ruleEnd(b)
}

// tabNames are the tabs with their keys, and what stands between them, in so many cells: close together where they do not
// fit otherwise, and then the others by their keys alone.
func (m rulesBar) tabNames(w int) (names [tabs]string, between string) {
	total := 0
	for t := range tabs {
		names[t] = m.tabKey(t) + m.tabName(t)
		total += draw.Cells(names[t])
	}
	switch gaps := int(tabs) - 1; {
	case total+2*gaps <= w:
		return names, "  "
	case total+gaps <= w:
		return names, " "
	}
	for t := range tabs {
		if t != m.detail.tab {
			names[t] = cmp.Or(strings.TrimSpace(m.tabKey(t)), draw.Head(m.tabName(t), 1))
		}
	}
	return names, " "
}

// titleRule is the rule above the detail where the tree is not on the screen: it names the node.
func (m rulesBar) titleRule(b *draw.Brush) {
	if m.fix != nil {
		fixPane(m).fixRule(b)
		return
	}
	b.Rule(m.glyphs, 1)
	b.Put(themes.Text, " ")
	b.Put(draw.InkTabFocus, m.tabName(m.detail.tab))
	title := draw.Plain(m.Tree.Title(m.cursorNode()))
	b.Put(themes.Dim, "  "+draw.CutMiddle(title, max(b.Left-12, 4), m.glyphs.Dots)+" ")
	m.ruleEnd(b)
}

// ruleEnd finishes a rule, with what the Output tab has to say near its end.
func (m rulesBar) ruleEnd(b *draw.Brush) {
	words := ""
	if m.detail.tab == tabOutputs {
		words = m.outputTitle(b.Left-4, true)
	} else if m.detail.scroll < m.detail.length-m.detail.height {
		words = "more"
	}
	if n := b.Left - draw.Cells(words) - 3; words != "" && n > 0 {
		b.Rule(m.glyphs, n)
		b.Put(themes.Dim, " "+words+" ")
	}
	b.Rule(m.glyphs, b.Left)
}

// tabKey is the key of a tab as it stands before its name.
func (m *view) tabKey(t tab) string {
	if do := keymap.TabStep + keymap.Intent(t); m.keys.Bound(do) {
		return m.keys.Label(do) + " "
	}
	return ""
}

func (m *view) tabName(t tab) string {
	if t == tabSteps && m.cursorNode() == 0 && (m.Shot.Phase == events.Done || m.Shot.Phase == events.Ended) {
		return "Summary"
	}
	return tabNames[t]
}

// stateRule is the rule below the panes: a message, or what there is to know at a glance. The divider of the panes
// ends in it, if there is one.
func (m rulesBar) stateRule(b *draw.Brush, divider int) {
	b.Rule(m.glyphs, 1)
	b.Put(themes.Text, " ")
	switch {
	case m.fix != nil:
		b.Put(themes.Text, draw.Count(m.fix.Changes(), "change"))
	case m.message != "":
		b.Put(themes.Warn, draw.CutRight(m.message, max(b.Left-2, 0), m.glyphs.Dots))
	case m.Shot.Phase == events.Review:
		m.reviewState(b)
	case m.pauseQuestion() != "":
		b.Put(themes.Warn, draw.CutRight(draw.Plain(m.pauseQuestion()), max(b.Left-2, 0), m.glyphs.Dots))
	case deciding(m).breakState(b):
	default:
		m.tallyState(b)
	}
	b.Put(themes.Text, " ")
	if n := divider - b.Column(); n >= 0 {
		b.Rule(m.glyphs, n)
		b.Put(themes.Border, m.glyphs.TeeUp)
	}
	outputPane(m).outputState(b)
	b.Rule(m.glyphs, b.Left)
}

func (m rulesBar) reviewState(b *draw.Brush) {
	t := m.Tree.Tally(0)
	if missed := m.ListUnreached(); len(missed) > 0 {
		b.Put(themes.Failed, draw.CutRight(hostWords(m).missedWords(missed), max(b.Left-2, 0), m.glyphs.Dots))
		return
	}
	switch ask, open := t.Sum(status.Confirm), t.Sum(status.Undecided); {
	case ask > 0:
		b.Put(themes.Warn, needYou(ask))
		b.Put(themes.Dim, "   "+m.keys.Label(keymap.NeedNext)+" next")
	case open > 0:
		b.Put(themes.Dim, fmt.Sprintf("%d not approved   %s approves all", open, m.keys.Label(keymap.GateApproveAll)))
	default:
		b.Put(themes.Dim, "all approved   "+m.keys.Label(keymap.RunContinue)+" runs")
	}
}

// pauseQuestion is what the run is paused to be told.
func (m *view) pauseQuestion() string {
	at := m.Shot.PausedAt
	if m.Shot.Phase != events.Paused || at < 0 || at >= len(m.Tree.Faces) {
		return ""
	}
	approve := m.keys.Label(keymap.GateApprove)
	switch m.Tree.Faces[at] {
	case status.Confirm:
		return m.Plan.Steps[at].Confirm + "   " + approve + " confirms it"
	case status.Undecided:
		if m.Shot.Pause.Reason == events.PauseUndecided {
			return "not approved: " + approve + " approves it, " + m.keys.Label(keymap.GateApproveAll) + " approves all"
		}
	default:
	}
	return ""
}

// tallyState counts the outcomes so far. Ok, changed and failed are always there, so that nothing jumps.
func (m rulesBar) tallyState(b *draw.Brush) {
	t := m.Tree.Tally(0)
	between := "   "
	space := " "
	if b.Wide < 64 {
		between, space = " ", ""
	}
	first := true
	for _, part := range []struct {
		look  draw.Sign
		n     int
		keeps bool
	}{
		// Outcomes first, then what is still open.
		{draw.SignOK, t.Sum(status.OK), true},
		{draw.SignChanged, t.Sum(status.Changed), true},
		{draw.SignFailed, t.Sum(status.Failed), true},
		{draw.SignUnreachable, t.Sum(status.Unreachable), false},
		{draw.SignIgnored, t.Sum(status.Ignored), false},
		{draw.SignRescued, t.Sum(status.Rescued), false},
		{draw.SignSkipped, t.Sum(status.Skipped), false},
		{draw.SignKept, t.Sum(status.Kept), false},
		{draw.SignOutdated, t.Sum(status.Outdated), false},
		{draw.SignCancelled, t.Sum(status.Cancelled), false},
		{draw.SignExcluded, t.Sum(status.Excluded), false},
		{draw.SignRunning, t.Sum(status.Running), false},
		{draw.SignPaused, t.Sum(status.Asking), false},
		{draw.SignConfirm, t.Sum(status.Confirm), false},
		{draw.SignUnapproved, t.Sum(status.Undecided), false},
		{draw.SignWaiting, t.Sum(status.Waiting, status.Omitted), false},
	} {
		if part.n == 0 && !part.keeps {
			continue
		}
		if !first {
			b.Put(themes.Text, between)
		}
		first = false
		look := draw.SignLooks[part.look].Role
		if part.n == 0 {
			look = themes.Dim
		}
		b.Put(look, m.glyphs.Signs[part.look]+space+fmt.Sprint(part.n))
	}
}
