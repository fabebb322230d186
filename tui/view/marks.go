package view

import (
	"moon/events"
	"moon/tui/draw"
	"moon/tui/status"
	"moon/tui/tree"
)

// BreakOn is the breakpoint that shows at a node: its own, or the first that is folded into it.
func (m *State) BreakOn(n int) (events.Breakpoint, bool) {
	if len(m.Breaks) == 0 {
		return events.Breakpoint{}, false
	}
	if i := m.Tree.Step(n); i >= 0 {
		s, ok := m.Breaks[i]
		return s, ok
	}
	if !m.Rows.Folded[n] {
		return events.Breakpoint{}, false
	}
	r, first := m.Tree.Steps(n), -1
	if r.To-r.From < len(m.Breaks) { // there may be one at every step
		for i := r.From; i < r.To; i++ {
			if s, ok := m.Breaks[i]; ok {
				return s, true
			}
		}
		return events.Breakpoint{}, false
	}
	for i := range m.Breaks {
		if r.Has(i) && (first < 0 || i < first) {
			first = i
		}
	}
	s, ok := m.Breaks[first]
	return s, ok
}

// BreakAt reports whether a breakpoint shows at a node.
func (m *State) BreakAt(n int) bool {
	_, ok := m.BreakOn(n)
	return ok
}

// BreakSign is how a breakpoint looks in the gutter.
func BreakSign(set events.Break, g *draw.Glyphs) draw.Text {
	return g.BreakSign(set.Log != "", set.When != "" || set.After > 0)
}

// SignOf is the sign of a node, and whether it moves.
func (m *State) SignOf(n int) (look draw.Sign, spins bool) {
	folded := !m.Tree.Leaf(n) && m.Rows.Folded[n]
	at := m.Shot.PausedAt
	if i := m.Tree.Step(n); i >= 0 {
		f := m.Tree.Faces[i]
		switch {
		case f == status.Unreachable:
			return draw.SignUnreachable, false
		case m.Position().Failed(i):
			return draw.SignFailed, false
		case f == status.Running:
			return draw.SignRunning, true
		case f == status.Waiting && m.Shot.Phase == events.Paused && i == at:
			return draw.SignPaused, false
		case f == status.Waiting && m.Shot.Phase == events.Review:
			return draw.SignApproved, false
		}
		return tree.FaceSigns[f], false
	}
	t := m.Tree.Tally(n)
	look = tree.Sign(&t, folded, m.Shot.Phase == events.Review)
	if folded && look != draw.SignFailed && look != draw.SignUnreachable && m.Shot.Phase == events.Paused && at >= 0 &&
		m.Tree.Steps(n).Has(at) &&
		m.Tree.Faces[at] == status.Waiting {
		return draw.SignPaused, false
	}
	return look, folded && t[status.Running] > 0 // open, the step itself moves
}
