package frame

import (
	"cmp"
	"fmt"
	"strings"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/pane"
	"moon/tui/status"
	"moon/tui/tree"
	"moon/tui/view"
)

// Rules are the lines between the panes, with what stands in them.
type Rules struct{ *view.State }

// treeRule is the rule above the tree.
func (m Rules) treeRule(b *draw.Brush) {
	b.Rule(m.Glyphs, 1)
	look := themes.Dim
	if m.FocusedPane() == view.PaneTree {
		look = draw.InkTitle
	}
	b.Put(look, " Plan")
	words := ""
	if m.Filter != tree.FilterAll || b.Wide >= narrowTree {
		words = "  " + m.Filter.String()
	}
	if m.Following && m.Shot.Phase == events.Running {
		words += " " + m.Glyphs.Dot + " following"
	}
	if m.Files.On {
		words += " " + m.Glyphs.Dot + " watching files"
	}
	if n := len(m.Cur.Marks); n > 0 {
		words += fmt.Sprintf(" %s %d marked", m.Glyphs.Dot, n)
	} else if m.Cur.Anchor >= 0 {
		words += " " + m.Glyphs.Dot + " marking"
	}
	b.Put(themes.Dim, words)
	b.Put(themes.Text, " ")
	b.Rule(m.Glyphs, b.Left)
}

// tabRule is the rule above the detail, with its tabs.
func (m Rules) tabRule(b *draw.Brush) {
	if m.Sheet != nil {
		m.Sheet.DrawRule(m.Glyphs, b)
		return
	}
	b.Rule(m.Glyphs, 1)
	b.Put(themes.Text, " ")
	names, between := m.TabNames(b.Left - 1)
	for t := range view.Tabs {
		if t > 0 {
			b.Put(themes.Text, between)
		}
		look := themes.Dim
		if t == m.Detail.Tab {
			look = draw.InkTab
			if m.FocusedPane() == view.PaneDetail {
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

// TabNames are the tabs with their keys, and what stands between them, in so many cells: close together where they do not
// fit otherwise, and then the others by their keys alone.
func (m Rules) TabNames(w int) (names [view.Tabs]string, between string) {
	total := 0
	for t := range view.Tabs {
		names[t] = m.TabKey(t) + m.TabName(t)
		total += draw.Cells(names[t])
	}
	switch gaps := int(view.Tabs) - 1; {
	case total+2*gaps <= w:
		return names, "  "
	case total+gaps <= w:
		return names, " "
	}
	for t := range view.Tabs {
		// Even without room the open tab keeps its name: it is the only heading that the detail has.
		if t != m.Detail.Tab {
			names[t] = cmp.Or(strings.TrimSpace(m.TabKey(t)), draw.Head(m.TabName(t), 1))
		}
	}
	return names, " "
}

// titleRule is the rule above the detail where the tree is not on the screen: it names the node.
func (m Rules) titleRule(b *draw.Brush) {
	if m.Sheet != nil {
		m.Sheet.DrawRule(m.Glyphs, b)
		return
	}
	b.Rule(m.Glyphs, 1)
	b.Put(themes.Text, " ")
	b.Put(draw.InkTabFocus, m.TabName(m.Detail.Tab))
	title := draw.Plain(m.Tree.Title(m.CursorNode()))
	b.Put(themes.Dim, "  "+draw.CutMiddle(title, max(b.Left-12, 4), m.Glyphs.Dots)+" ")
	m.ruleEnd(b)
}

// ruleEnd finishes a rule, with what the Output tab has to say near its end.
func (m Rules) ruleEnd(b *draw.Brush) {
	words := ""
	if m.Detail.Tab == view.TabOutputs {
		words = pane.OutputPane(m).OutputTitle(b.Left-4, true)
	} else if m.Detail.Scroll < m.Detail.Length-m.Detail.Height {
		words = "more"
	}
	if n := b.Left - draw.Cells(words) - 3; words != "" && n > 0 {
		b.Rule(m.Glyphs, n)
		b.Put(themes.Dim, " "+words+" ")
	}
	b.Rule(m.Glyphs, b.Left)
}

// stateRule is the rule below the panes: a message, or what there is to know at a glance. The divider of the panes
// ends in it, if there is one.
func (m Rules) stateRule(b *draw.Brush, divider int) {
	b.Rule(m.Glyphs, 1)
	b.Put(themes.Text, " ")
	switch {
	// What the user has just done comes first, then what is asked, then the state: only one of them fits on the line.
	case m.Sheet != nil:
		b.Put(themes.Text, draw.Count(m.Sheet.Changes(), "change"))
	case m.Message != "":
		b.Put(themes.Warn, draw.CutRight(m.Message, max(b.Left-2, 0), m.Glyphs.Dots))
	case m.Shot.Phase == events.Review:
		m.reviewState(b)
	case m.PauseQuestion() != "":
		b.Put(themes.Warn, draw.CutRight(draw.Plain(m.PauseQuestion()), max(b.Left-2, 0), m.Glyphs.Dots))
	case m.breakState(b):
	default:
		m.tallyState(b)
	}
	b.Put(themes.Text, " ")
	// A long message reaches over the divider, and then there is nothing to end in this line.
	if n := divider - b.Column(); n >= 0 {
		b.Rule(m.Glyphs, n)
		b.Put(themes.Border, m.Glyphs.TeeUp)
	}
	pane.OutputPane(m).OutputState(b)
	b.Rule(m.Glyphs, b.Left)
}

func (m Rules) reviewState(b *draw.Brush) {
	t := m.Tree.Tally(0)
	if missed := m.ListUnreached(); len(missed) > 0 {
		b.Put(themes.Failed, draw.CutRight(pane.HostWords(m).MissedWords(missed), max(b.Left-2, 0), m.Glyphs.Dots))
		return
	}
	switch ask, open := t.Sum(status.Confirm), t.Sum(status.Undecided); {
	// What must be confirmed one by one is named before the rest, which one key approves.
	case ask > 0:
		b.Put(themes.Warn, needYou(ask))
		b.Put(themes.Dim, "   "+m.Keys.Label(keymap.NeedNext)+" next")
	case open > 0:
		b.Put(themes.Dim, fmt.Sprintf("%d not approved   %s approves all", open, m.Keys.Label(keymap.GateApproveAll)))
	default:
		b.Put(themes.Dim, "all approved   "+m.Keys.Label(keymap.RunContinue)+" runs")
	}
}

// tallyState counts the outcomes so far. Ok, changed and failed are always there, so that nothing jumps.
func (m Rules) tallyState(b *draw.Brush) {
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
		b.Put(look, m.Glyphs.Signs[part.look]+space+fmt.Sprint(part.n))
	}
}

// breakState says at a glance at which breakpoint the run is paused.
func (m Rules) breakState(b *draw.Brush) bool {
	s, ok := m.Breaks[m.Shot.PausedAt]
	if !ok || m.Shot.Phase != events.Paused || m.Shot.Pause.Reason != events.PauseBreakpoint {
		return false
	}
	sign := view.BreakSign(s.Set, m.Glyphs)
	b.Put(sign.Ink, sign.S)
	words := fmt.Sprintf(" here   hit %d   condition: %s", s.Hits, draw.Plain(orNone(s.Set.When)))
	if s.Set.After > 0 {
		words = fmt.Sprintf(" here   hit %d, after %d   condition: %s", s.Hits, s.Set.After, draw.Plain(orNone(s.Set.When)))
	}
	b.Put(themes.Text, draw.CutRight(words, max(b.Left-2, 0), m.Glyphs.Dots))
	return true
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
