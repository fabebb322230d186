package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/tree"
)

// browsing moves the cursor, folds, filters and divides the screen. It asks nothing of the run.
type browsing struct{ *view }

// doIntent acts on an intent. Whatever asks something of the run is in act.go; the rest moves what is on the screen.
func (m *model) doIntent(do keymap.Intent) tea.Cmd {
	if m.defersIntent(do) {
		return nil
	}
	if m.matrix != nil && (matrixPane{m.view}).inMatrix(do) {
		return nil
	}
	if why := (whyNot{m.view}).whyCannot(do); why != "" {
		m.showMessage(why)
		return nil
	}
	switch do {
	case keymap.CursorDown, keymap.CursorUp, keymap.CursorTop, keymap.CursorBottom, keymap.CursorHalfDown, keymap.CursorHalfUp,
		keymap.CursorPageDown, keymap.CursorPageUp:
		browsing{m.view}.moveCursor(do)
	case keymap.CursorPointer:
		browsing{m.view}.backToPointer()
	case keymap.CursorFollow:
		browsing{m.view}.toggleFollow()
	case keymap.NeedNext:
		browsing{m.view}.goToAttention(+1)
	case keymap.NeedPrev:
		browsing{m.view}.goToAttention(-1)
	case keymap.NodeClose, keymap.NodeOpen, keymap.NodeToggle, keymap.TreeFold, keymap.TreeOpen:
		browsing{m.view}.foldRows(do)
	case keymap.MarkToggle:
		m.cur.Mark(m.cursorNode())
		browsing{m.view}.moveCursor(keymap.CursorDown)
	case keymap.MarkRange:
		browsing{m.view}.toggleRange()
	case keymap.PaneOther:
		browsing{m.view}.otherPane()
	case keymap.PaneGrow:
		browsing{m.view}.growPane()
	case keymap.PaneShrink:
		browsing{m.view}.shrinkPane()
	case keymap.DividerLeft:
		browsing{m.view}.moveDivider(-2)
	case keymap.DividerRight:
		browsing{m.view}.moveDivider(+2)
	case keymap.TabStep, keymap.TabOutput, keymap.TabDiff, keymap.TabVars, keymap.TabEvents:
		// Tabs and the intents that open them have the same order.
		browsing{m.view}.chooseTab(tab(do - keymap.TabStep))
	case keymap.FindText:
		browsing{m.view}.openFind()
	case keymap.FindNext:
		browsing{m.view}.findAgain(+1)
	case keymap.FindPrev:
		browsing{m.view}.findAgain(-1)
	case keymap.FilterNext:
		m.setFilter(m.filter.Next())
	case keymap.OutputWrap:
		outputPane{m.view}.toggleWrap()
	case keymap.OutputTimes:
		outputPane{m.view}.nextTimes()
	case keymap.OutputEarlier:
		outputPane{m.view}.otherAttempt(-1)
	case keymap.OutputLater:
		outputPane{m.view}.otherAttempt(+1)
	case keymap.ScrollLeft:
		outputPane{m.view}.scrollSideways(-8)
	case keymap.ScrollRight:
		outputPane{m.view}.scrollSideways(+8)
	case keymap.GoBack:
		browsing{m.view}.stepBack()
	case keymap.CopyMenu:
		m.overlay = newCopyBox(m.view)
	case keymap.ShowPalette:
		m.overlay = newPalette(m.view)
	case keymap.ShowHelp:
		m.overlay = newHelp(m.view)
	case keymap.AppSuspend:
		return m.lendUnwatched(m.suspendMoon())
	case keymap.SourceEdit:
		return m.editSource()
	case keymap.NodeFix:
		return fixPane{m.view}.openFix()
	case keymap.NodeShell:
		return deciding{m.view}.openShell()
	case keymap.GateBreakIf:
		return m.openBreakSheet()
	case keymap.WatchAdd:
		return watchPane{m.view}.openWatch()
	case keymap.AppMouse:
		return pointing{m.view}.toggleMouse()
	case keymap.ViewHosts:
		matrixPane{m.view}.openMatrix()
	case keymap.StepDone:
		deciding{m.view}.openDone()
	case keymap.RunRetryAll:
		return m.retryOrAgain()
	case keymap.RunLeave:
		return m.askToLeave()
	case keymap.RunInterrupt:
		return m.handleInterrupt()
	case keymap.RunRetry:
		if m.Shot.Phase == events.Review && len(m.ListUnreached()) > 0 {
			return deciding{m.view}.connectAgain()
		}
		m.sendIntent(do)
	case keymap.GateApprove, keymap.GateApproveAll, keymap.GateExclude, keymap.GateExcludeHost, keymap.GateBreak, keymap.RunContinue,
		keymap.RunStep, keymap.RunOver, keymap.RunOut, keymap.RunUntil, keymap.RunPause:
		m.sendIntent(do)
	case keymap.IntentNone, keymap.Intents:
	}
	return nil
}

// moveCursor moves the cursor, or scrolls the detail if it has the keys.
func (m browsing) moveCursor(do keymap.Intent) {
	page := max(m.cur.Height, 1)
	if m.focusedPane() == paneDetail {
		page = max(m.detail.height, m.detail.output.height, 1)
	}
	const far = 1 << 30
	by := map[keymap.Intent]int{
		keymap.CursorDown: 1, keymap.CursorUp: -1, keymap.CursorTop: -far, keymap.CursorBottom: far, keymap.CursorHalfDown: page / 2,
		keymap.CursorHalfUp: -page / 2, keymap.CursorPageDown: page - 1, keymap.CursorPageUp: 1 - page,
	}[do]
	if m.focusedPane() == paneTree {
		m.following = false
		m.cur.Move(m.rows, max(min(by, len(m.rows.Rows)), -len(m.rows.Rows)))
		return
	}
	if m.detail.tab != tabOutputs {
		m.detail.scrollBy(max(min(by, m.detail.length), -m.detail.length))
		return
	}
	outputPane(m).scrollOutput(do, by)
}

func (m browsing) backToPointer() {
	m.panes.focusOn(paneTree)
	m.toPointer(true)
}

func (m browsing) toggleFollow() {
	if m.keyPlace() == keymap.InOutput {
		m.detail.output.follow = !m.detail.output.follow
		return
	}
	m.following = !m.following
	if m.following && m.Shot.Pointer >= 0 {
		m.toPointer(false)
	}
	if m.Shot.Phase != events.Running { // else it is to be seen
		m.showMessage(map[bool]string{true: "the cursor will follow the run", false: "the cursor stays where it is put"}[m.following])
	}
}

// goToAttention goes to the next step that needs attention, in the order of attention and within that in the order of the plan. From
// a step that needs none it goes to the nearest of the most urgent ones.
func (m browsing) goToAttention(direction int) {
	n := int(m.Tree.StepNode[m.toNeed(direction)])
	m.following = false
	m.rows.Reveal(n)
	m.cur.Node = n
}

// toNeed is the step that need goes to, or -1.
func (m browsing) toNeed(direction int) int {
	ranks := m.attentionKinds()
	here := m.Tree.Steps(m.cursorNode())
	at, rank := here.From, -1
	if step := m.Tree.Step(m.cursorNode()); step < 0 {
		if direction > 0 {
			at-- // the first step of a scope comes after the scope
		}
	} else {
		rank = rankOf(ranks, m.Tree.Faces[step])
	}
	return m.nextNeed(ranks, rank, at, direction)
}

// attentionKinds are the kinds of step to look at, the most urgent first. A change is not a problem: with the filter that shows changes
// it is what was asked for.
func (m browsing) attentionKinds() []func(status.State) bool {
	switch m.filter {
	case tree.FilterChanged, tree.FilterLeft:
		return []func(status.State) bool{m.filter.Shows}
	case tree.FilterAll, tree.FilterProblems, tree.FilterFound, tree.FilterNotable:
	}
	approval := tree.Asks
	if m.Shot.Phase != events.Review || m.Tree.Tallies[0].Sum(status.Confirm, status.Asking) == 0 {
		approval = func(f status.State) bool { return tree.Asks(f) || f == status.Undecided }
	}
	return []func(status.State) bool{tree.HasFailed, approval, tree.Recovered}
}

// rankOf is the first kind that a face is of, or -1.
func rankOf(ranks []func(status.State) bool, f status.State) int {
	return slices.IndexFunc(ranks, func(wanted func(status.State) bool) bool { return wanted(f) })
}

// nextNeed is the step after a step that has a rank, or the nearest of the first rank that there is; -1 if there is none. After
// the last step of a rank comes the first of the next.
func (m browsing) nextNeed(ranks []func(status.State) bool, rank, at, direction int) int {
	n := len(m.Tree.Faces)
	if rank >= 0 {
		if i := m.stepThat(at+direction, n, direction, ranks[rank]); i >= 0 {
			return i
		}
		start := 0
		if direction < 0 {
			start = n - 1
		}
		for k := 1; k <= len(ranks); k++ {
			if i := m.stepThat(start, n, direction, ranks[((rank+k*direction)%len(ranks)+len(ranks))%len(ranks)]); i >= 0 {
				return i
			}
		}
		return -1
	}
	for _, wanted := range ranks {
		for _, from := range [...]int{at + direction, map[bool]int{true: 0, false: n - 1}[direction > 0]} {
			if i := m.stepThat(from, n, direction, wanted); i >= 0 {
				return i
			}
		}
	}
	return -1
}

// stepThat is the first step from one on whose face is wanted, without coming round, or -1.
func (m browsing) stepThat(from, n, direction int, wanted func(status.State) bool) int {
	for i := from; i >= 0 && i < n; i += direction {
		if wanted(m.Tree.Faces[i]) {
			return i
		}
	}
	return -1
}

// foldRows opens and folds.
func (m browsing) foldRows(do keymap.Intent) {
	n := m.cursorNode()
	m.cur.KeepPlace(m.rows, func() {
		switch do {
		case keymap.TreeFold:
			m.rows.FoldAll()
		case keymap.TreeOpen:
			m.rows.OpenAll()
		case keymap.NodeClose:
			if !m.Tree.Leaf(n) && !m.rows.Folded[n] && n > 0 {
				m.rows.Fold(n, true)
			} else if n > 0 {
				n = int(m.Tree.Parent[n])
			}
		case keymap.NodeOpen:
			switch {
			case m.Tree.Leaf(n):
				m.openDetail()
			case m.rows.Folded[n]:
				m.rows.Fold(n, false)
			default:
				n = m.rows.Node(m.rows.Row(n) + 1)
			}
		case keymap.NodeToggle:
			if m.Tree.Leaf(n) {
				m.openDetail()
			} else {
				m.rows.Fold(n, !m.rows.Folded[n])
			}
		default:
		}
	})
	if n != m.cursorNode() && do != keymap.TreeFold && do != keymap.TreeOpen {
		m.following = false
	}
	if do != keymap.TreeFold && do != keymap.TreeOpen {
		m.cur.Node = n
	}
}

func (m *view) openDetail() { m.panes.focusOn(paneDetail) }

func (m browsing) otherPane() {
	if m.panes.focus == paneTree {
		m.panes.focusOn(paneDetail)
		return
	}
	m.panes.focusOn(paneTree)
}

// growPane makes the pane with the keys larger. Where it is the only one, half of the screen is no step on the way.
func (m browsing) growPane() {
	was := m.currentLayout()
	m.panes.zoom = min(m.panes.zoom+1, 2)
	if m.currentLayout() == was {
		m.panes.zoom = 2
	}
	if m.currentLayout() == was && was.kind == layoutOne {
		m.showMessage("it cannot be larger")
	}
}

// shrinkPane makes it smaller again.
func (m browsing) shrinkPane() {
	was := m.currentLayout()
	m.panes.zoom = max(m.panes.zoom-1, 0)
	if m.currentLayout() == was {
		m.panes.zoom = 0
	}
	if m.currentLayout() == was && was.kind == layoutOne {
		m.showMessage("it cannot be smaller")
	}
}

// moveDivider moves the divider, as far as both panes keep their least size.
func (m browsing) moveDivider(by int) {
	before := m.currentLayout()
	if before.kind != layoutWide && before.kind != layoutTall {
		m.showMessage("no divider: only one pane is shown")
		return
	}
	m.panes.divider[before.kind] += by
	if after := m.currentLayout(); after.treeW == before.treeW && after.treeH == before.treeH {
		m.panes.divider[before.kind] -= by
	}
}

func (m browsing) chooseTab(t tab) {
	m.detail.openTab(t)
	m.tabChosen = true
	if m.currentLayout().kind == layoutOne {
		m.panes.focusOn(paneDetail)
	}
}

func (m browsing) toggleRange() {
	if m.cur.Anchor >= 0 {
		m.cur.CloseRange(m.rows)
		return
	}
	m.cur.Anchor = m.cursorNode()
}

// stepBack takes back one thing, the latest first. It never ends or runs anything.
func (m browsing) stepBack() {
	switch {
	case m.panes.focus == paneDetail && m.detail.search.text != "":
		m.detail.search = search{gen: m.detail.search.gen + 1}
	case m.panes.focus == paneDetail && m.panes.zoom == 2:
		m.panes.zoom = 0
	case m.panes.focus == paneDetail:
		m.panes.focusOn(paneTree)
		m.panes.zoom = 0
	case m.cur.Anchor >= 0 || len(m.cur.Marks) > 0:
		m.cur.Clear()
	case m.filter != tree.FilterAll:
		m.setFilter(tree.FilterAll)
	case m.find.Text != "":
		m.find.Text = ""
	case m.panes.zoom > 0:
		m.panes.zoom = 0
	}
}

func (m *view) setFilter(f tree.Filter) {
	m.filter = f
	m.rebuildRows()
}

// rebuildRows rebuilds the rows after the filter, or what it looks at, changed.
func (m *view) rebuildRows() {
	m.cur.KeepPlace(m.rows, func() {
		m.rows.Filter(m.filter.Keep(m.Tree, &m.find), m.filter != tree.FilterFound)
	})
}
