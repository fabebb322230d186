package tui

import (
	"maps"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/draw"
	"moon/tui/feed"
)

// detailPane is the pane beside the tree: one of its tabs.
type detailPane struct{ *view }

// tab is what the detail pane shows of the node under the cursor.
type tab uint8

const (
	tabSteps tab = iota
	tabOutputs
	tabDiffs
	tabVariables
	tabHistory
	tabs
)

var tabNames = [tabs]string{"Step", "Output", "Diff", "Vars", "Events"}

// detail is the pane beside the tree. Four of its tabs are short texts, made anew for each frame; Output is a window
// on a file.
type detail struct {
	tab    tab
	node   int
	scroll int
	height int // rows, as last drawn
	length int // lines of the text, as last drawn
	output outputView
	reel   feed.Reel
	search search
}

func newDetail() detail { return detail{output: newOutputView()} }

// openTab shows a tab.
func (d *detail) openTab(t tab) {
	if d.tab != t {
		d.tab, d.scroll = t, 0
	}
}

// lookAt turns to another node.
func (d *detail) lookAt(n int) {
	if d.node == n {
		return
	}
	d.node, d.scroll = n, 0
	d.output = d.output.freshView()
	d.search = search{gen: d.search.gen + 1}
}

// scrollBy scrolls a text.
func (d *detail) scrollBy(by int) { d.scroll = max(min(d.scroll+by, d.length-d.height), 0) }

// subject is what the detail is about: a copy of the run's step, as the store may change it at any moment.
type subject struct {
	node int
	step int // or -1 for a scope
	of   events.Step
	past []feed.Past
	vars map[string]any
}

// eventsShown bounds the Events tab.
const eventsShown = 500

func (m *view) detailSubject() subject {
	n := m.cursorNode()
	m.detail.lookAt(n)
	s := subject{node: n, step: m.Tree.Step(n)}
	m.Store.Mu.Lock()
	defer m.Store.Mu.Unlock()
	run := &m.Store.Run
	if s.step >= 0 && s.step < len(run.Steps) {
		s.of = run.Steps[s.step]
	}
	switch m.detail.tab {
	case tabHistory:
		s.past = m.Store.History.About(m.Tree.Steps(n), n == 0, eventsShown)
	case tabVariables, tabSteps:
		s.vars = make(map[string]any, len(run.Variables))
		maps.Copy(s.vars, run.Variables)
	case tabOutputs, tabDiffs, tabs:
	}
	return s
}

// outputOf is the step whose output belongs to a node: the step itself, or what runs, or ran last, in a scope.
func (m *view) outputOf(n int) int {
	if i := m.Tree.Step(n); i >= 0 {
		return i
	}
	if p := m.Shot.Pointer; p >= 0 && m.Tree.Steps(n).Has(p) {
		return p
	}
	return -1
}

// fetchOutput asks for the output that is on the screen and not there yet.
func (m outputPane) fetchOutput() tea.Cmd {
	if m.o.OutDir == nil {
		return nil
	}
	l := m.currentLayout()
	var cmds []tea.Cmd
	if l.detailH > 0 {
		cmds = append(cmds, m.fetchDetail(l))
	}
	if l.peekH > 0 || l.kind == layoutCard {
		m.peek.Show(m.o.OutDir(), m.AttemptPrefix(m.Shot.Pointer, -1))
		cmds = append(cmds, m.peek.Need(-1, feed.EndLines))
	}
	return tea.Batch(cmds...)
}

func (m outputPane) fetchDetail(l layout) tea.Cmd {
	d := &m.detail
	n := m.cursorNode()
	d.lookAt(n)
	if d.reel.Show(m.o.OutDir(), m.AttemptPrefix(m.outputOf(n), d.output.attempt)) {
		d.search = d.search.restartIn()
	}
	from := -1
	if !d.output.follow && d.tab == tabOutputs {
		from = d.output.top
	}
	return tea.Batch(d.reel.Need(from, l.detailH), m.seekNext())
}

// drawDetail makes the text of the tab; the rows are drawn one by one.
func (m detailPane) detailDoc(w, h int) *draw.Doc {
	s := m.detailSubject()
	d := draw.NewDoc(w, h, m.glyphs)
	switch m.detail.tab {
	case tabSteps:
		stepPane(m).stepTab(d, s)
	case tabDiffs:
		diffPane(m).diffTab(d, s)
	case tabVariables:
		varsPane(m).varsTab(d, s)
	case tabHistory:
		eventsPane(m).eventsTab(d, s)
	case tabOutputs, tabs:
		return nil
	}
	watches := watchPane(m).watchLines(d)
	m.detail.length, m.detail.height = len(d.Lines)+len(watches), h
	m.detail.scrollBy(0)
	d.Pin(watches, m.detail.scroll)
	return d
}
