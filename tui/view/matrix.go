package view

import (
	"sort"

	"moon/events"
	"moon/plan"
	"moon/tui/draw"
	"moon/tui/status"
	"moon/tui/tree"
)

// Matrix shows the plan as hosts by tasks: a row for each host, a column for each task, in a cell how the task stands there. It has
// no state of the run of its own, and its cursor is the tree's: in a cell it stands on the node that the cell is about, so that
// all keys that decide mean the same here.
//
//	          ┌ task
//	web1   ✓ ~ ✗ ·       ok changed …
//	web2   ✓ ✓ ~ ·
type Matrix struct {
	Tree    *tree.Tree
	Hosts   []string
	Wide    int // cells of the longest of them
	Columns []Column
	inside  []int32 // by node: the column it is in, or -1

	Row, Col  int
	Top, Left int
	Node      int // that the cursor was put on
	Height    int // rows, as last drawn
	Across    int // columns, as last drawn
}

// Column is a task: a scope with a node for each of its hosts, or a node that stands alone.
type Column struct {
	Node  int
	Play  int     // scope of its play, or of the batch of one
	rows  []int32 // in order
	cells []int32 // the node of each
}

// NewMatrix finds the tasks of a tree. It costs as much as the plan has steps, and a frame as much as it shows.
func NewMatrix(t *tree.Tree) *Matrix {
	x := &Matrix{Tree: t, inside: make([]int32, t.Len()), Node: -1}
	at := map[string]int{}
	for i := range t.Plan.Steps {
		host := t.Plan.Steps[i].Host
		if _, known := at[host]; !known {
			at[host] = len(x.Hosts)
			x.Hosts = append(x.Hosts, host)
			x.Wide = max(x.Wide, draw.Cells(draw.Plain(host)))
		}
	}
	for n := range x.inside {
		x.inside[n] = -1
	}
	for n := 0; n < t.Len(); {
		c, whole := x.columnAt(n, at)
		if !whole {
			n++
			continue
		}
		for k := n; k < n+int(t.Size[n]); k++ {
			x.inside[k] = int32(len(x.Columns))
		}
		x.Columns = append(x.Columns, c)
		// A node is in one column at most, so what is below the task is not looked at again.
		n += int(t.Size[n])
	}
	return x
}

// columnAt is the task at a node, if one begins there.
func (x *Matrix) columnAt(n int, at map[string]int) (c Column, whole bool) {
	t := x.Tree
	c = Column{Node: n, Play: x.playOf(n)}
	add := func(n int) {
		if r := t.Steps(n); r.From < r.To {
			c.rows, c.cells = append(c.rows, int32(at[t.Plan.Steps[r.From].Host])), append(c.cells, int32(n))
		}
	}
	s := t.Scope(n)
	switch {
	case s == nil:
		if t.Step(n) < 0 {
			return c, false
		}
		add(n)
	case s.Kind == plan.ScopeTask:
		for k := n + 1; k < n+int(t.Size[n]); k += int(t.Size[k]) {
			add(k)
		}
		// A task has its hosts in the order of its steps; cells are found by halving the rows.
		sort.Stable(&c)
	case s.Kind == plan.ScopeLoop && n > 0 && isFlat(t, n):
		add(n)
	default:
		return c, false
	}
	return c, len(c.cells) > 0
}

// isFlat reports whether a scope holds steps and nothing else.
func isFlat(t *tree.Tree, n int) bool {
	for k := n + 1; k < n+int(t.Size[n]); k++ {
		if t.Step(k) < 0 {
			return false
		}
	}
	return t.Size[n] > 1
}

func (x *Matrix) playOf(n int) int {
	for ; n > 0; n = int(x.Tree.Parent[n]) {
		if s := x.Tree.Scope(n); s != nil && (s.Kind == plan.ScopePlay || s.Kind == plan.ScopeBatch) {
			return s.ID
		}
	}
	return 0
}

// A column is sorted by its rows.
func (c *Column) Len() int { return len(c.rows) }

func (c *Column) Less(i, j int) bool { return c.rows[i] < c.rows[j] }

func (c *Column) Swap(i, j int) {
	c.rows[i], c.rows[j] = c.rows[j], c.rows[i]
	c.cells[i], c.cells[j] = c.cells[j], c.cells[i]
}

// NodeAt is the node of a host in a task, or -1 where it has none.
func (x *Matrix) NodeAt(row, col int) int {
	c := &x.Columns[col]
	if len(c.rows) == len(x.Hosts) { // all of them, in order
		return int(c.cells[row])
	}
	i := sort.Search(len(c.rows), func(i int) bool { return int(c.rows[i]) >= row })
	if i == len(c.rows) || int(c.rows[i]) != row {
		return -1
	}
	return int(c.cells[i])
}

// FindNode puts the cursor on the cell of a node, if it has one.
func (x *Matrix) FindNode(n int) {
	x.Node = n
	if n < 0 || n >= len(x.inside) || x.inside[n] < 0 {
		return
	}
	x.Col = int(x.inside[n])
	c := &x.Columns[x.Col]
	for i, first := range c.cells {
		if int(first) <= n && n < int(first+x.Tree.Size[first]) {
			x.Row = int(c.rows[i])
			return
		}
	}
}

// FollowMatrix lets the matrix be about the plan there is, and its cursor where the tree's is: a search, a failure or following
// may have moved that.
func (m *State) FollowMatrix() {
	if m.Matrix.Tree != m.Tree {
		old := m.Matrix
		m.Matrix = NewMatrix(m.Tree)
		m.Matrix.Top, m.Matrix.Left = old.Top, old.Left
	}
	x := m.Matrix
	if x.Node != m.Cur.Node {
		x.FindNode(m.Cur.Node)
	}
	x.Row = max(min(x.Row, len(x.Hosts)-1), 0)
	x.Col = max(min(x.Col, len(x.Columns)-1), 0)
}

// CloseMatrix goes back to the tree, at the step that the cursor was on.
func (m *State) CloseMatrix() {
	m.Matrix = nil
	// The matrix has cells for nodes that are folded away in the tree.
	m.Rows.Reveal(m.Cur.Node)
}

// MatrixShown reports whether the screen is the matrix. Values are edited beside the tree.
func (m *State) MatrixShown() bool {
	return m.Matrix != nil && m.Sheet == nil && len(m.Matrix.Columns) > 0 && m.Width >= oneW && m.Height >= oneH
}

// CountHost counts how the tasks of a host have ended so far.
func (x *Matrix) CountHost(row int, steps []events.Step) (c events.HostCounts) {
	for col := range x.Columns {
		if n := x.NodeAt(row, col); n >= 0 {
			r := x.Tree.Steps(n)
			status.CountTask(x.Tree.Plan, steps, r.From, r.To, &c)
		}
	}
	return c
}
