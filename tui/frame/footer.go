package frame

import (
	"fmt"
	"slices"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/pane"
	"moon/tui/status"
	"moon/tui/view"
)

// Footer is the last row: the keys that make sense now.
type Footer struct{ *view.State }

// footerKeys is the most keys a footer shows; all others are behind palette and help.
const footerKeys = 9

// drawFooter draws the last row: the keys that make sense now.
func (m Footer) drawFooter(b *draw.Brush) {
	b.Begin(m.Width, draw.OnRow)
	defer b.End()
	lead, between := "  ", "   "
	if m.Width < 100 {
		lead, between = "", "  "
	}
	// What has the keys also has this row: what is typed goes there, so naming other keys would be wrong.
	if m.Prompt != nil {
		b.Put(themes.Text, lead)
		m.Prompt.DrawLine(m.Glyphs, b, m.foundWords())
		return
	}
	if m.Sheet != nil {
		b.Put(themes.Text, lead)
		m.Sheet.DrawKeys(m.Screen(), b, m.Width < 90)
		return
	}
	if m.Sequence != "" {
		b.Put(themes.Text, lead)
		m.drawPending(b)
		return
	}
	b.Put(themes.Text, lead)
	for i, t := range m.FittingTips(len(lead), len(between)) {
		if i > 0 {
			b.Put(themes.Text, between)
		}
		from := b.X
		b.Put(draw.InkKey, m.Keys.Label(t.Do))
		if t.Words != "" {
			b.Put(themes.Text, " "+t.Words)
		}
		b.Spot(from, draw.SpotKey, int(t.Do))
	}
}

// FittingTips are the tips that have room, without those that would be refused.
func (m Footer) FittingTips(lead, between int) []keymap.Tip {
	last := keymap.TipOf(keymap.ShowHelp, "help")
	if m.Width < 64 {
		last.Words = ""
	}
	var tips []keymap.Tip
	for _, t := range m.withKeys(m.ListTips()) {
		if len(tips) < footerKeys-1 && pane.WhyNot(m).WhyCannot(t.Do) == "" {
			tips = append(tips, t)
		}
	}
	tips = append(tips, last)
	// Help is last and always stays: it has all the keys that do not fit.
	for len(tips) > 1 && m.tipsWidth(tips, lead, between) > m.Width {
		tips = append(tips[:len(tips)-2], last)
	}
	return tips
}

func (m Footer) tipsWidth(tips []keymap.Tip, lead, between int) int {
	w := lead + between*(len(tips)-1)
	for _, t := range tips {
		w += len(m.Keys.Label(t.Do)) + len(t.Words)
		if t.Words != "" {
			w++
		}
	}
	return w
}

// ListTips returns the keys that make sense now, the most useful first.
func (m Footer) ListTips() []keymap.Tip {
	if m.MatrixShown() {
		return matrixPane(m).matrixTips()
	}
	if m.FocusedPane() == view.PaneDetail {
		if tips := m.detailTips(); tips != nil {
			return tips
		}
	}
	switch m.Shot.Phase {
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

// decisionTips are the tips about the node under the cursor.
func (m Footer) decisionTips() (tips []keymap.Tip) {
	t, single := m.CountAim()
	if t[status.Asking] > 0 && single {
		return []keymap.Tip{keymap.TipOf(keymap.GateApprove, "continue"), keymap.TipOf(keymap.GateExclude, "reject")}
	}
	tips = m.approvalTips()
	switch {
	// One key approves and unapproves. On a single step it does only the latter by now, so that comes first; on a scope it is one way
	// among several.
	case t[status.Undecided]+t[status.Confirm] == 0 && t[status.Waiting] > 0:
		tips = append([]keymap.Tip{keymap.TipOf(keymap.GateApprove, "unapprove")}, tips...)
	case !single && t[status.Undecided] == 0 && t[status.Waiting] > 0:
		tips = append(tips, keymap.TipOf(keymap.GateApprove, "unapprove"))
	}
	switch {
	case t.Begins() > 0:
		tips = append(tips, keymap.TipOf(keymap.GateExclude, "exclude"))
	case t[status.Excluded] > 0:
		tips = append(tips, keymap.TipOf(keymap.GateExclude, "restore"))
	}
	return tips
}

// approvalTips are the tips that approve what a decision would be about. What asks to be confirmed is confirmed by itself, wherever the
// cursor is.
func (m Footer) approvalTips() []keymap.Tip {
	t, single := m.CountAim()
	switch {
	case single && t[status.Confirm] > 0:
		return []keymap.Tip{keymap.TipOf(keymap.GateApprove, "confirm")}
	case t[status.Undecided] > 0:
		return []keymap.Tip{keymap.TipOf(keymap.GateApprove, "approve")}
	case t[status.Confirm] > 0 && m.Tree.Tallies[0].Failed() == 0: // which would be gone to first
		return []keymap.Tip{keymap.TipOf(keymap.NeedNext, "confirm each")}
	}
	return nil
}

func (m Footer) reviewTips() []keymap.Tip {
	tips := m.decisionTips()
	if m.Tree.Tallies[0].Sum(status.Undecided) > 0 {
		tips = append(tips, keymap.TipOf(keymap.GateApproveAll, "all"))
	}
	tips = append(tips, keymap.TipOf(keymap.GateBreak, "breakpoint"), keymap.TipOf(keymap.RunStep, "step"),
		keymap.TipOf(keymap.RunContinue, "run"), keymap.TipOf(keymap.FindText, "find"))
	return m.withEdit(append(tips, m.paneTip()...), keymap.TipOf(keymap.ShowPalette, "commands"))
}

// paneTip is how to see the detail where it is not on the screen.
func (m Footer) paneTip() []keymap.Tip {
	if m.CurrentLayout().Kind == view.LayoutOne {
		return []keymap.Tip{keymap.TipOf(keymap.PaneOther, "detail")}
	}
	return nil
}

func (m Footer) withEdit(tips []keymap.Tip, rest ...keymap.Tip) []keymap.Tip {
	if m.CanEdit() {
		tips = append(tips, keymap.TipOf(keymap.SourceEdit, "editor"))
	}
	return append(tips, rest...)
}

func (m Footer) runningTips() []keymap.Tip {
	// A step that asks holds up what depends on it, while other steps still run.
	if m.Tree.Tally(m.CursorNode())[status.Asking] > 0 && m.Tree.Step(m.CursorNode()) >= 0 {
		return append(m.decisionTips(), keymap.TipOf(keymap.RunPause, "pause"), keymap.TipOf(keymap.CopyMenu, "copy"),
			keymap.TipOf(keymap.ShowPalette, "commands"))
	}
	follow := "follow"
	if m.Following {
		follow = "follow on"
	}
	tips := []keymap.Tip{keymap.TipOf(keymap.RunPause, "pause"), keymap.TipOf(keymap.CursorFollow, follow)}
	if m.CurrentLayout().Kind == view.LayoutOne {
		tips = append(tips, keymap.TipOf(keymap.TabOutput, "output"))
	} else {
		tips = append(tips, keymap.TipOf(keymap.PaneGrow, "larger"))
	}
	return append(tips, keymap.TipOf(keymap.GateBreak, "breakpoint"), keymap.TipOf(keymap.FindText, "find"),
		keymap.TipOf(keymap.FilterNext, "filter"), keymap.TipOf(keymap.CopyMenu, "copy"), keymap.TipOf(keymap.ShowPalette, "commands"))
}

func (m Footer) pausedTips() []keymap.Tip {
	t, single := m.CountAim()
	if m.Position().OnFailure() {
		var tips []keymap.Tip
		if pane.WhyNot(m).MayAccept(m.Tree.Step(m.CursorNode())) {
			tips = append(tips, keymap.TipOf(keymap.GateApprove, "accept"))
		}
		if m.Position().Retryable(m.Tree.Steps(m.CursorNode())) > 0 {
			tips = append(tips, keymap.TipOf(keymap.RunRetry, "retry"))
		}
		return m.failureTips(tips)
	}
	var tips []keymap.Tip
	switch {
	case m.Position().Edited() && m.Position().Retryable(m.Tree.Steps(m.CursorNode())) > 0:
		tips = append(tips, keymap.TipOf(keymap.RunRetry, "run it"))
	case t[status.Asking] > 0 && single:
		tips = m.decisionTips()
	default:
		tips = m.approvalTips()
	}
	if m.PauseQuestion() != "" && m.Tree.Step(m.CursorNode()) != m.Shot.PausedAt {
		tips = append(tips, keymap.TipOf(keymap.CursorPointer, "go to it")) // which nothing runs past
	}
	if m.DecidedText() != "" {
		tips = append(tips, keymap.TipOf(keymap.RunContinue, "continue")) // which is what the answer was for
	}
	tips = append(tips, keymap.TipOf(keymap.RunStep, "step"), keymap.TipOf(keymap.RunOver, "over"), keymap.TipOf(keymap.RunOut, "out"),
		keymap.TipOf(keymap.RunUntil, "until"))
	if m.DecidedText() == "" {
		tips = append(tips, keymap.TipOf(keymap.RunContinue, "continue"))
	}
	if m.BreakAt(m.CursorNode()) {
		tips = append(tips, keymap.TipOf(keymap.GateBreakIf, "condition"), keymap.TipOf(keymap.GateBreak, "clear"))
		if m.CannotWatch() == "" {
			tips = append(tips, keymap.TipOf(keymap.WatchAdd, "watch"))
		}
	}
	// It stands first because nothing else says that such a step waits: the run continues without deciding it.
	if t[status.Outdated] > 0 {
		tips = append([]keymap.Tip{keymap.TipOf(keymap.StepDone, "rerun or keep")}, tips...)
	}
	tips = m.withEdit(tips)
	// A key has one hint: the ones above say what it is good for in this pause, so they win.
	for _, more := range m.decisionTips() {
		if !slices.ContainsFunc(tips, func(t keymap.Tip) bool { return t.Do == more.Do }) {
			tips = append(tips, more)
		}
	}
	return tips
}

// failureTips are the ways out of a failure; those that matter most come first, as the last ones may not fit.
func (m Footer) failureTips(tips []keymap.Tip) []keymap.Tip {
	here, brief := m.Position().Failed(m.Tree.Step(m.CursorNode())), m.Width < 100
	words := map[bool][2]string{false: {"edit + retry", "continue without it"}, true: {"edit", "continue"}}[brief]
	if here {
		tips = append(tips, keymap.TipOf(keymap.NodeFix, words[0]))
	}
	tips = m.withEdit(tips)
	if here && !brief {
		tips = append(tips, keymap.TipOf(keymap.NodeShell, "shell"))
	}
	if here {
		tips = append(tips, keymap.TipOf(keymap.GateExclude, "skip"))
	}
	tips = append(append(tips, m.otherPaneTip()...), keymap.TipOf(keymap.RunContinue, words[1]),
		keymap.TipOf(keymap.RunLeave, m.LeaveWord("stop")), keymap.TipOf(keymap.NeedNext, "next problem"))
	return append(tips, keymap.TipOf(keymap.CopyMenu, "copy"))
}

func (m Footer) otherPaneTip() []keymap.Tip {
	if m.CurrentLayout().Kind != view.LayoutOne {
		return nil
	}
	if m.Panes.Focus == view.PaneDetail {
		return []keymap.Tip{keymap.TipOf(keymap.PaneOther, "plan")}
	}
	return []keymap.Tip{keymap.TipOf(keymap.PaneOther, "step")}
}

func (m Footer) doneTips() []keymap.Tip {
	var tips []keymap.Tip
	t := m.Tree.Tallies[0]
	if m.Shot.Phase == events.Ended && t.Failed() > 0 {
		tips = append(tips, keymap.TipOf(keymap.RunRetry, "retry"), keymap.TipOf(keymap.RunRetryAll, "retry all"))
	}
	if m.Shot.Phase == events.Ended && m.Tree.Tally(m.CursorNode())[status.Outdated] > 0 {
		tips = append(tips, keymap.TipOf(keymap.StepDone, "rerun or keep"))
	}
	if t.Sum(status.Failed, status.Unreachable, status.Ignored, status.Rescued, status.Outdated, status.Cancelled) > 0 {
		tips = append(tips, keymap.TipOf(keymap.NeedNext, "next problem"))
	}
	tips = append(tips, keymap.TipOf(keymap.FilterNext, m.Filter.Next().String()))
	tips = append(append(tips, m.otherPaneTip()...), keymap.TipOf(keymap.CopyMenu, "copy"))
	if m.Shot.Phase == events.Done && m.Tools.Again {
		tips = append(tips, keymap.TipOf(keymap.RunRetryAll, "run again"))
		if m.Tree.Step(m.CursorNode()) >= 0 {
			tips = append(tips, keymap.TipOf(keymap.StepDone, "this step again"))
		}
	}
	return append(m.withEdit(append(tips, keymap.TipOf(keymap.FindText, "find"))), keymap.TipOf(keymap.RunLeave, "leave"))
}

// detailTips are the keys of the detail pane, unless the run has better ones.
func (m Footer) detailTips() []keymap.Tip {
	// The user has not chosen a pane that was opened to show a failure, so the hints about the failure stay.
	if m.Panes.Lent || m.Shot.Phase == events.Paused && m.KeyPlace() != keymap.InOutput {
		return nil
	}
	tips := []keymap.Tip{keymap.TipOf(keymap.GoBack, "back")}
	if m.KeyPlace() == keymap.InOutput {
		tips = append(tips, keymap.TipOf(keymap.FindText, "find"))
		if m.Detail.Search.Text != "" {
			tips = append(tips, keymap.TipOf(keymap.FindNext, "next"))
		}
		if (pane.OutputPane(m)).PickedStep() >= 0 {
			tips = append(tips, keymap.TipOf(keymap.OutputStep, "go to step"))
		}
		tips = append(tips, keymap.TipOf(keymap.OutputWrap, "wrap"), keymap.TipOf(keymap.OutputTimes, "times"),
			keymap.TipOf(keymap.CursorFollow, "follow"))
		if i := m.Tree.Step(m.CursorNode()); i >= 0 && m.CountAttempts(i) > 1 {
			tips = append(tips, keymap.TipOf(keymap.OutputEarlier, "attempt"))
		}
	}
	if m.CurrentLayout().Kind == view.LayoutWide || m.CurrentLayout().Kind == view.LayoutTall {
		tips = append(tips, keymap.TipOf(keymap.PaneGrow, "larger"))
	}
	tips = append(tips, keymap.TipOf(keymap.CopyMenu, "copy"))
	for _, t := range []keymap.Tip{
		keymap.TipOf(keymap.TabStep, "step"), keymap.TipOf(keymap.TabOutput, "output"),
		keymap.TipOf(keymap.TabDiff, "diff"), keymap.TipOf(keymap.TabVars, "vars"),
	} {
		if t.Do != keymap.TabStep+keymap.Intent(m.Detail.Tab) { // which is on the screen
			tips = append(tips, t)
		}
	}
	return tips
}

// foundWords say in the prompt how much was found.
func (m Footer) foundWords() string {
	switch {
	case m.Prompt.InOutput():
		return pane.OutputPane(m).SearchCount()
	case m.Find.Text == "":
		return ""
	}
	return countMatches(m.Find.Count(m.Tree))
}

func countMatches(n int) string {
	if n == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", n)
}

// drawPending shows a sequence that waits for its rest, with what may follow.
func (m Footer) drawPending(b *draw.Brush) {
	b.Put(draw.InkKey, m.Sequence+" "+m.Glyphs.Dots)
	tips, names := m.Keys.Follows(m.Sequence, m.KeyPlace())
	for i, t := range tips {
		b.Put(themes.Text, "   ")
		b.Put(draw.InkKey, names[i])
		b.Put(themes.Text, " "+t.Words)
	}
	b.Put(themes.Text, "   ")
	b.Put(draw.InkKey, "esc")
	b.Put(themes.Text, " cancels")
}

// withKeys leaves out what has no key: there is no hint to give.
func (m Footer) withKeys(tips []keymap.Tip) []keymap.Tip {
	some := make([]keymap.Tip, 0, len(tips))
	for _, t := range tips {
		if m.Keys.Bound(t.Do) {
			some = append(some, t)
		}
	}
	return some
}
