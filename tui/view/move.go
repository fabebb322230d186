package view

import (
	"moon/events"
	"moon/tui/tree"
)

// ToPointer moves the cursor to the step the engine is at, or to the row it is folded into.
func (m *State) ToPointer(show bool) {
	step := m.Shot.Pointer
	if m.Shot.Phase == events.Paused && m.Shot.PausedAt >= 0 {
		step, show = m.Shot.PausedAt, true
	}
	// Not while something is typed, which is about the node under the cursor.
	if step < 0 || step >= len(m.Plan.Steps) || m.IsTyping() {
		return
	}
	n := int(m.Tree.StepNode[step])
	if show {
		// A filter must not hide what the run waits at.
		if m.Rows.Keep != nil && !m.Rows.Keep[n] {
			m.SetFilter(tree.FilterAll)
		}
		m.Rows.Reveal(n)
	}
	m.Cur.Node = n
}

// SetFilter shows only the nodes that a filter keeps.
func (m *State) SetFilter(f tree.Filter) {
	m.Filter = f
	m.RebuildRows()
}

// RebuildRows rebuilds the rows after the filter, or what it looks at, changed.
func (m *State) RebuildRows() {
	m.Cur.KeepPlace(m.Rows, func() {
		m.Rows.Filter(m.Filter.Keep(m.Tree, &m.Find), m.Filter != tree.FilterFound)
	})
}

// GoTo puts the cursor on a node, and unfolds what it is in.
func (m *State) GoTo(n int) {
	m.Rows.Reveal(n)
	m.Cur.Node = n
}

// GoToStep puts the cursor on a step.
func (m *State) GoToStep(step int) {
	m.Following = false
	n := int(m.Tree.StepNode[step])
	if m.Rows.Keep != nil && !m.Rows.Keep[n] {
		m.SetFilter(tree.FilterAll)
	}
	m.GoTo(n)
}

// GoToNode moves the cursor to a row that is on the screen, without scrolling.
func (m *State) GoToNode(n int) {
	m.Panes.FocusOn(PaneTree)
	m.Following = false
	m.Cur.Node = n
}

// ShownSteps are the steps in the rows that are on the screen.
func (m *State) ShownSteps() (steps []int) {
	for _, n := range m.Shown {
		if int(n) >= m.Tree.Len() { // of the plan before
			break
		}
		if i := m.Tree.Step(int(n)); i >= 0 {
			steps = append(steps, i)
		}
	}
	return steps
}
