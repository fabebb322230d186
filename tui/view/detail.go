package view

import (
	"maps"

	"moon/events"
	"moon/tui/feed"
)

// Tab is what the detail pane shows of the node under the cursor.
type Tab uint8

// The tabs, in the order of their keys. Tabs is how many there are.
const (
	TabSteps Tab = iota
	TabOutputs
	TabDiffs
	TabVariables
	TabHistory
	Tabs
)

// TabNames are the names of the tabs as they stand above the pane.
var TabNames = [Tabs]string{"Step", "Output", "Diff", "Vars", "Events"}

// Detail is the pane beside the tree. Four of its tabs are short texts, made anew for each frame; Output is a window
// on a file.
type Detail struct {
	Tab    Tab
	node   int
	Scroll int
	Height int // rows, as last drawn
	Length int // lines of the text, as last drawn
	Output OutputView
	Reel   feed.Reel
	Search Search
}

// NewDetail shows the first tab, and output as it grows.
func NewDetail() Detail { return Detail{Output: newOutputView()} }

// OpenTab shows a tab.
func (d *Detail) OpenTab(t Tab) {
	if d.Tab != t {
		d.Tab, d.Scroll = t, 0
	}
}

// LookAt turns to another node.
func (d *Detail) LookAt(n int) {
	if d.node == n {
		return
	}
	d.node, d.Scroll = n, 0
	d.Output = d.Output.FreshView()
	// The number is never used again, so that an answer to the search before is not taken for one to the next.
	d.Search = Search{Gen: d.Search.Gen + 1}
}

// ScrollBy scrolls a text.
func (d *Detail) ScrollBy(by int) { d.Scroll = max(min(d.Scroll+by, d.Length-d.Height), 0) }

// Subject is what the detail is about: a copy of the run's step, as the store may change it at any moment.
type Subject struct {
	Node int
	Step int // or -1 for a scope
	Of   events.Step
	Past []feed.Past
	Vars map[string]any
}

// eventsShown bounds the Events tab.
const eventsShown = 500

// DetailSubject reads what the tab that is open needs about the node under the cursor, with the store locked once.
func (m *State) DetailSubject() Subject {
	n := m.CursorNode()
	m.Detail.LookAt(n)
	s := Subject{Node: n, Step: m.Tree.Step(n)}
	m.Store.Mu.Lock()
	defer m.Store.Mu.Unlock()
	run := &m.Store.Run
	if s.Step >= 0 && s.Step < len(run.Steps) {
		s.Of = run.Steps[s.Step]
	}
	switch m.Detail.Tab {
	case TabHistory:
		s.Past = m.Store.History.About(m.Tree.Steps(n), n == 0, eventsShown)
	case TabVariables, TabSteps:
		s.Vars = make(map[string]any, len(run.Variables))
		// Copied, as the frame is drawn without the lock.
		maps.Copy(s.Vars, run.Variables)
	case TabOutputs, TabDiffs, Tabs:
	}
	return s
}

// OutputOf is the step whose output belongs to a node: the step itself, or what runs, or ran last, in a scope.
func (m *State) OutputOf(n int) int {
	if i := m.Tree.Step(n); i >= 0 {
		return i
	}
	if p := m.Shot.Pointer; p >= 0 && m.Tree.Steps(n).Has(p) {
		return p
	}
	return -1
}

// OutputReel is one of the two windows on output: that of the detail pane, or, for PeekReel, the last lines below the tree.
func (m *State) OutputReel(id int) *feed.Reel {
	if id == PeekReel {
		return &m.Peek
	}
	return &m.Detail.Reel
}

// The windows on output, as a load in the background names the one it is for.
const (
	detailReel = iota
	PeekReel
)
