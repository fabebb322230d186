package view

import (
	"maps"
	"slices"

	"moon/events"
	"moon/tui/status"
)

// DecisionAim is what a decision is about: the marks with the range that is being marked, or the node under the cursor. Single says that
// it is exactly one step, the one a person looks at. It changes nothing.
func (m *State) DecisionAim() (ranges []events.Range, single bool) {
	marks := maps.Clone(m.Cur.Marks)
	// The range that is still open counts too, but in a copy of the marks: asking what is meant must not close it.
	if m.Cur.Anchor >= 0 {
		for _, n := range m.Rows.Rows {
			if m.Cur.Marked(int(n)) {
				marks[int(n)] = true
			}
		}
	}
	if len(marks) == 0 {
		return []events.Range{m.Tree.Steps(m.CursorNode())}, m.Tree.Step(m.CursorNode()) >= 0
	}
	for n := range marks {
		ranges = append(ranges, m.Tree.Steps(n))
	}
	slices.SortFunc(ranges, func(a, b events.Range) int { return a.From - b.From })
	// Marked nodes may lie in one another, and no step is to be decided about twice.
	merged := ranges[:1]
	for _, r := range ranges[1:] {
		if last := &merged[len(merged)-1]; r.From <= last.To {
			last.To = max(last.To, r.To)
		} else {
			merged = append(merged, r)
		}
	}
	return merged, false
}

// CountAim counts the faces of what a decision is about.
func (m *State) CountAim() (t status.Tally, single bool) {
	// The usual case is asked in each frame and costs nothing: tallies of nodes are kept, those of ranges are counted.
	if len(m.Cur.Marks) == 0 && m.Cur.Anchor < 0 {
		return m.Tree.Tally(m.CursorNode()), m.Tree.Step(m.CursorNode()) >= 0
	}
	ranges, single := m.DecisionAim()
	return m.Position().Tally(ranges...), single
}

// DecisionTargets are the steps that a decision is about, which ends the marking of a range.
func (m *State) DecisionTargets() (ranges []events.Range, single bool) {
	m.Cur.CloseRange(m.Rows)
	return m.DecisionAim()
}

// MarkedNodes are the nodes that a person has marked, or the one under the cursor.
func (m *State) MarkedNodes() []int {
	m.Cur.CloseRange(m.Rows)
	if len(m.Cur.Marks) == 0 {
		return []int{m.CursorNode()}
	}
	return slices.Sorted(maps.Keys(m.Cur.Marks))
}

// HostHere is the host that the cursor is on, or "" where it is on several or on none.
func (m *State) HostHere() string {
	if m.MatrixShown() {
		return m.Matrix.Hosts[m.Matrix.Row]
	}
	r, host := m.Tree.Steps(m.CursorNode()), ""
	for i := r.From; i < r.To; i++ {
		if h := m.Plan.Steps[i].Host; host == "" {
			host = h
		} else if host != h {
			return ""
		}
	}
	return host
}
