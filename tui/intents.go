package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/standing"
)

// do acts on an intent. Whatever asks something of the run is in act.go; the rest moves what is on the screen.
func (m *model) do(do intent) tea.Cmd {
	if m.defers(do) {
		return nil
	}
	if m.matrix != nil && m.inMatrix(do) {
		return nil
	}
	if why := m.cannot(do); why != "" {
		m.say(why)
		return nil
	}
	switch do {
	case cursorDown, cursorUp, cursorTop, cursorBottom, cursorHalfDown, cursorHalfUp, cursorPageDown, cursorPageUp:
		m.move(do)
	case cursorPointer:
		m.backToPointer()
	case cursorFollow:
		m.toggleFollow()
	case needNext:
		m.need(+1)
	case needPrev:
		m.need(-1)
	case nodeClose, nodeOpen, nodeToggle, treeFold, treeOpen:
		m.fold(do)
	case markToggle:
		m.cur.mark(m.at())
		m.move(cursorDown)
	case markRange:
		m.toggleRange()
	case paneOther:
		m.otherPane()
	case paneGrow:
		m.growPane()
	case paneShrink:
		m.shrinkPane()
	case dividerLeft:
		m.moveDivider(-2)
	case dividerRight:
		m.moveDivider(+2)
	case tabStep, tabOutput, tabDiff, tabVars, tabEvents:
		m.chooseTab(tab(do - tabStep))
	case findText:
		m.openFind()
	case findNext:
		m.findAgain(+1)
	case findPrev:
		m.findAgain(-1)
	case filterNext:
		m.setFilter(m.filter.next())
	case outputWrap:
		m.toggleWrap()
	case outputTimes:
		m.nextTimes()
	case outputEarlier:
		m.otherAttempt(-1)
	case outputLater:
		m.otherAttempt(+1)
	case scrollLeft:
		m.scrollSideways(-8)
	case scrollRight:
		m.scrollSideways(+8)
	case goBack:
		m.back()
	case copyMenu:
		m.overlay = newCopyBox(m)
	case showPalette:
		m.overlay = newPalette(m)
	case showHelp:
		m.overlay = newHelp(m)
	case appSuspend:
		return m.unwatched(m.suspend())
	case sourceEdit:
		return m.edit()
	case nodeFix:
		return m.openFix()
	case nodeShell:
		return m.openShell()
	case gateBreakIf:
		return m.openBreakSheet()
	case watchAdd:
		return m.openWatch()
	case appMouse:
		return m.toggleMouse()
	case viewHosts:
		m.openMatrix()
	case stepDone:
		m.openDone()
	case runRetryAll:
		return m.retryOrAgain()
	case runLeave:
		return m.leave()
	case runInterrupt:
		return m.interrupt()
	case runRetry:
		if m.run.phase == events.Review && len(m.unreached()) > 0 {
			return m.connectAgain()
		}
		m.act(do)
	case gateApprove, gateApproveAll, gateExclude, gateExcludeHost, gateBreak, runContinue, runStep, runOver, runOut, runUntil, runPause:
		m.act(do)
	case intentNone, intents:
	}
	return nil
}

// move moves the cursor, or scrolls the detail if it has the keys.
func (m *model) move(do intent) {
	page := max(m.cur.height, 1)
	if m.focus() == paneDetail {
		page = max(m.detail.height, m.detail.output.height, 1)
	}
	const far = 1 << 30
	by := map[intent]int{
		cursorDown: 1, cursorUp: -1, cursorTop: -far, cursorBottom: far, cursorHalfDown: page / 2,
		cursorHalfUp: -page / 2, cursorPageDown: page - 1, cursorPageUp: 1 - page,
	}[do]
	if m.focus() == paneTree {
		m.following = false
		m.cur.move(m.rows, max(min(by, len(m.rows.rows)), -len(m.rows.rows)))
		return
	}
	if m.detail.tab != tabOutputs {
		m.detail.move(max(min(by, m.detail.length), -m.detail.length))
		return
	}
	m.scrollOutput(do, by)
}

func (m *model) backToPointer() {
	m.panes.focusOn(paneTree)
	m.toPointer(true)
}

func (m *model) toggleFollow() {
	if m.place() == inOutput {
		m.detail.output.follow = !m.detail.output.follow
		return
	}
	m.following = !m.following
	if m.following && m.run.pointer >= 0 {
		m.toPointer(false)
	}
	if m.run.phase != events.Running { // else it is to be seen
		m.say(map[bool]string{true: "the cursor will follow the run", false: "the cursor stays where it is put"}[m.following])
	}
}

// need goes to the next step that needs attention, in the order of attention and within that in the order of the plan. From
// a step that needs none it goes to the nearest of the most urgent ones.
func (m *model) need(direction int) {
	n := int(m.tree.stepNode[m.toNeed(direction)])
	m.following = false
	m.rows.reveal(n)
	m.cur.node = n
}

// toNeed is the step that need goes to, or -1.
func (m *model) toNeed(direction int) int {
	ranks := m.attention()
	here := m.tree.steps(m.at())
	at, rank := here.From, -1
	if step := m.tree.step(m.at()); step < 0 {
		if direction > 0 {
			at-- // the first step of a scope comes after the scope
		}
	} else {
		rank = rankOf(ranks, m.tree.faces[step])
	}
	return m.nextNeed(ranks, rank, at, direction)
}

// attention are the kinds of step to look at, the most urgent first. A change is not a problem: with the filter that shows changes
// it is what was asked for.
func (m *model) attention() []func(standing.State) bool {
	switch m.filter {
	case filterChanged, filterLeft:
		return []func(standing.State) bool{m.filter.shows}
	case filterAll, filterProblems, filterFound, filterNotable:
	}
	approval := asks
	if m.run.phase != events.Review || m.tree.tallies[0].sum(standing.Confirm, standing.Asking) == 0 {
		approval = func(f standing.State) bool { return asks(f) || f == standing.Undecided }
	}
	return []func(standing.State) bool{hasFailed, approval, recovered}
}

// rankOf is the first kind that a face is of, or -1.
func rankOf(ranks []func(standing.State) bool, f standing.State) int {
	return slices.IndexFunc(ranks, func(wanted func(standing.State) bool) bool { return wanted(f) })
}

// nextNeed is the step after a step that has a rank, or the nearest of the first rank that there is; -1 if there is none. After
// the last step of a rank comes the first of the next.
func (m *model) nextNeed(ranks []func(standing.State) bool, rank, at, direction int) int {
	n := len(m.tree.faces)
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
func (m *model) stepThat(from, n, direction int, wanted func(standing.State) bool) int {
	for i := from; i >= 0 && i < n; i += direction {
		if wanted(m.tree.faces[i]) {
			return i
		}
	}
	return -1
}

// fold opens and folds.
func (m *model) fold(do intent) {
	n := m.at()
	m.cur.keepPlace(m.rows, func() {
		switch do {
		case treeFold:
			m.rows.foldAll()
		case treeOpen:
			m.rows.openAll()
		case nodeClose:
			if !m.tree.leaf(n) && !m.rows.folded[n] && n > 0 {
				m.rows.fold(n, true)
			} else if n > 0 {
				n = int(m.tree.parent[n])
			}
		case nodeOpen:
			switch {
			case m.tree.leaf(n):
				m.openDetail()
			case m.rows.folded[n]:
				m.rows.fold(n, false)
			default:
				n = m.rows.node(m.rows.row(n) + 1)
			}
		case nodeToggle:
			if m.tree.leaf(n) {
				m.openDetail()
			} else {
				m.rows.fold(n, !m.rows.folded[n])
			}
		default:
		}
	})
	if n != m.at() && do != treeFold && do != treeOpen {
		m.following = false
	}
	if do != treeFold && do != treeOpen {
		m.cur.node = n
	}
}

func (m *model) openDetail() { m.panes.focusOn(paneDetail) }

func (m *model) otherPane() {
	if m.panes.focus == paneTree {
		m.panes.focusOn(paneDetail)
		return
	}
	m.panes.focusOn(paneTree)
}

// growPane makes the pane with the keys larger. Where it is the only one, half of the screen is no step on the way.
func (m *model) growPane() {
	was := m.layout()
	m.panes.zoom = min(m.panes.zoom+1, 2)
	if m.layout() == was {
		m.panes.zoom = 2
	}
	if m.layout() == was && was.kind == layoutOne {
		m.say("it cannot be larger")
	}
}

// shrinkPane makes it smaller again.
func (m *model) shrinkPane() {
	was := m.layout()
	m.panes.zoom = max(m.panes.zoom-1, 0)
	if m.layout() == was {
		m.panes.zoom = 0
	}
	if m.layout() == was && was.kind == layoutOne {
		m.say("it cannot be smaller")
	}
}

// moveDivider moves the divider, as far as both panes keep their least size.
func (m *model) moveDivider(by int) {
	before := m.layout()
	if before.kind != layoutWide && before.kind != layoutTall {
		m.say("no divider: only one pane is shown")
		return
	}
	m.panes.divider[before.kind] += by
	if after := m.layout(); after.treeW == before.treeW && after.treeH == before.treeH {
		m.panes.divider[before.kind] -= by
	}
}

func (m *model) chooseTab(t tab) {
	m.detail.open(t)
	m.tabChosen = true
	if m.layout().kind == layoutOne {
		m.panes.focusOn(paneDetail)
	}
}

func (m *model) toggleRange() {
	if m.cur.anchor >= 0 {
		m.cur.closeRange(m.rows)
		return
	}
	m.cur.anchor = m.at()
}

// back takes back one thing, the latest first. It never ends or runs anything.
func (m *model) back() {
	switch {
	case m.panes.focus == paneDetail && m.detail.search.text != "":
		m.detail.search = search{gen: m.detail.search.gen + 1}
	case m.panes.focus == paneDetail && m.panes.zoom == 2:
		m.panes.zoom = 0
	case m.panes.focus == paneDetail:
		m.panes.focusOn(paneTree)
		m.panes.zoom = 0
	case m.cur.anchor >= 0 || len(m.cur.marks) > 0:
		m.cur.clear()
	case m.filter != filterAll:
		m.setFilter(filterAll)
	case m.find.text != "":
		m.find.text = ""
	case m.panes.zoom > 0:
		m.panes.zoom = 0
	}
}

func (m *model) setFilter(f filter) {
	m.filter = f
	m.refilter()
}

// refilter rebuilds the rows after the filter, or what it looks at, changed.
func (m *model) refilter() {
	m.cur.keepPlace(m.rows, func() {
		m.rows.filter(m.filter.keep(m.tree, &m.find), m.filter != filterFound)
	})
}
