package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/keymap"
	"moon/tui/overlay"
	"moon/tui/pane"
	"moon/tui/view"
)

// doIntent acts on an intent. Whatever asks something of the run is in decide.go; the rest moves what is shown.
func (m *model) doIntent(do keymap.Intent) tea.Cmd {
	// First whether the key can be judged at all: a command that has not been answered may still change what it means. Then the
	// matrix, in which some keys mean something of its own. Then whether it would do nothing, asked of the same function as the hints.
	if m.defersIntent(do) {
		return nil
	}
	if m.Matrix != nil && (crossing{m.State}).inMatrix(do) {
		return nil
	}
	if why := (pane.WhyNot{State: m.State}).WhyCannot(do); why != "" {
		m.ShowMessage(why)
		return nil
	}
	switch do {
	case keymap.CursorDown, keymap.CursorUp, keymap.CursorTop, keymap.CursorBottom, keymap.CursorHalfDown, keymap.CursorHalfUp,
		keymap.CursorPageDown, keymap.CursorPageUp:
		browsing{m.State}.moveCursor(do)
	case keymap.CursorPointer:
		browsing{m.State}.backToPointer()
	case keymap.CursorFollow:
		browsing{m.State}.toggleFollow()
	case keymap.NeedNext:
		browsing{m.State}.goToAttention(+1)
	case keymap.NeedPrev:
		browsing{m.State}.goToAttention(-1)
	case keymap.NodeClose, keymap.NodeOpen, keymap.NodeToggle, keymap.TreeFold, keymap.TreeOpen:
		browsing{m.State}.foldRows(do)
	case keymap.MarkToggle:
		m.Cur.Mark(m.CursorNode())
		browsing{m.State}.moveCursor(keymap.CursorDown)
	case keymap.MarkRange:
		browsing{m.State}.toggleRange()
	case keymap.PaneOther:
		browsing{m.State}.otherPane()
	case keymap.PaneGrow:
		browsing{m.State}.growPane()
	case keymap.PaneShrink:
		browsing{m.State}.shrinkPane()
	case keymap.DividerLeft:
		browsing{m.State}.moveDivider(-2)
	case keymap.DividerRight:
		browsing{m.State}.moveDivider(+2)
	case keymap.TabStep, keymap.TabOutput, keymap.TabDiff, keymap.TabVars, keymap.TabEvents:
		// Tabs and the intents that open them have the same order.
		browsing{m.State}.chooseTab(view.Tab(do - keymap.TabStep))
	case keymap.FindText:
		browsing{m.State}.openFind()
	case keymap.FindNext:
		browsing{m.State}.findAgain(+1)
	case keymap.FindPrev:
		browsing{m.State}.findAgain(-1)
	case keymap.FilterNext:
		m.SetFilter(m.Filter.Next())
	case keymap.OutputWrap:
		pane.OutputPane{State: m.State}.ToggleWrap()
	case keymap.OutputTimes:
		pane.OutputPane{State: m.State}.NextTimes()
	case keymap.OutputEarlier:
		pane.OutputPane{State: m.State}.OtherAttempt(-1)
	case keymap.OutputLater:
		pane.OutputPane{State: m.State}.OtherAttempt(+1)
	case keymap.ScrollLeft:
		pane.OutputPane{State: m.State}.ScrollSideways(-8)
	case keymap.ScrollRight:
		pane.OutputPane{State: m.State}.ScrollSideways(+8)
	case keymap.GoBack:
		browsing{m.State}.stepBack()
	case keymap.CopyMenu:
		m.Overlay = overlay.NewCopyMenu(copyItems(m.State))
	case keymap.ShowPalette:
		m.Overlay = overlay.NewPalette(paletteOffers(m.State))
	case keymap.ShowHelp:
		m.Overlay = overlay.NewHelp(m.Screen(), m.KeyPlace())
	case keymap.AppSuspend:
		return m.looks.Unwatched(m.nap.Suspend())
	case keymap.SourceEdit:
		return m.editSource()
	case keymap.NodeFix:
		fixPane{m.State}.openFix()
	case keymap.NodeShell:
		return deciding{m.State}.openShell()
	case keymap.GateBreakIf:
		return m.openBreakSheet()
	case keymap.WatchAdd:
		return watching{m.State}.openWatch()
	case keymap.AppMouse:
		return pointing{m.State}.toggleMouse()
	case keymap.ViewHosts:
		crossing{m.State}.openMatrix()
	case keymap.FilesWatch:
		return filing{m.State}.toggleWatch()
	case keymap.ViewLog:
		browsing{m.State}.openLog()
	case keymap.OutputStep:
		m.GoToStep(pane.OutputPane{State: m.State}.PickedStep())
	case keymap.StepDone:
		deciding{m.State}.openDone()
	case keymap.RunRetryAll:
		return m.retryOrAgain()
	case keymap.RunLeave:
		return m.askToLeave()
	case keymap.RunInterrupt:
		return m.handleInterrupt()
	case keymap.RunRetry:
		if m.Shot.Phase == events.Review && len(m.ListUnreached()) > 0 {
			return deciding{m.State}.connectAgain()
		}
		m.sendIntent(do)
	case keymap.GateApprove, keymap.GateApproveAll, keymap.GateExclude, keymap.GateExcludeHost, keymap.GateBreak, keymap.RunContinue,
		keymap.RunStep, keymap.RunOver, keymap.RunOut, keymap.RunUntil, keymap.RunPause:
		m.sendIntent(do)
	case keymap.IntentNone, keymap.Intents:
	}
	return nil
}

// sendIntent turns what a person wants into commands. Whether they could do anything was asked before: see whyCannot.
func (m *model) sendIntent(do keymap.Intent) {
	if !m.asksName(do) {
		deciding{m.State}.carryOut(do)
	}
}

// asksName opens the box that asks for a name, where an intent would approve what must not be approved by one key. With that name
// it does the intent.
func (m *model) asksName(do keymap.Intent) bool {
	if !m.IsProduction() {
		return false
	}
	what := approving{m.State}.wouldApprove(do)
	// Approving everything asks for the name in any case, as what is destroyed cannot be found out of every command.
	steps, destructive := what.Weigh(m.Run)
	if steps == 0 || len(destructive) == 0 && do != keymap.GateApproveAll {
		return false
	}
	m.Overlay = overlay.NewProduction(m.Screen(), do, what, m.Tools.Banner)
	return true
}

// openBreakSheet asks for the condition, count or message of a breakpoint.
func (m *model) openBreakSheet() tea.Cmd {
	b, wants := overlay.NewBreak(m.Screen(), m.CursorNode(), m.Tools.CheckBreak)
	m.Overlay = b
	return m.doWants(wants)
}
