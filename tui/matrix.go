package tui

import (
	"sort"

	"moon/events"
	"moon/plan"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/tree"
)

// matrix shows the plan as hosts by tasks: a row for each host, a column for each task, in a cell how the task stands there. It has
// no state of the run of its own, and its cursor is the tree's: in a cell it stands on the node that the cell is about, so that
// all keys that decide mean the same here.
//
//	          ┌ task
//	web1   ✓ ~ ✗ ·       ok changed …
//	web2   ✓ ✓ ~ ·
type matrix struct {
	tree    *tree.Tree
	hosts   []string
	wide    int // cells of the longest of them
	columns []column
	inside  []int32 // by node: the column it is in, or -1

	row, col  int
	top, left int
	node      int // that the cursor was put on
	height    int // rows, as last drawn
	across    int // columns, as last drawn
}

// column is a task: a scope with a node for each of its hosts, or a node that stands alone.
type column struct {
	node  int
	play  int     // scope of its play, or of the batch of one
	rows  []int32 // in order
	cells []int32 // the node of each
}

// newMatrix finds the tasks of a tree. It costs as much as the plan has steps, and a frame as much as it shows.
func newMatrix(t *tree.Tree) *matrix {
	x := &matrix{tree: t, inside: make([]int32, t.Len()), node: -1}
	at := map[string]int{}
	for i := range t.Plan.Steps {
		host := t.Plan.Steps[i].Host
		if _, known := at[host]; !known {
			at[host] = len(x.hosts)
			x.hosts = append(x.hosts, host)
			x.wide = max(x.wide, draw.Cells(draw.Plain(host)))
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
			x.inside[k] = int32(len(x.columns))
		}
		x.columns = append(x.columns, c)
		n += int(t.Size[n])
	}
	return x
}

// columnAt is the task at a node, if one begins there.
func (x *matrix) columnAt(n int, at map[string]int) (c column, whole bool) {
	t := x.tree
	c = column{node: n, play: x.playOf(n)}
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

func (x *matrix) playOf(n int) int {
	for ; n > 0; n = int(x.tree.Parent[n]) {
		if s := x.tree.Scope(n); s != nil && (s.Kind == plan.ScopePlay || s.Kind == plan.ScopeBatch) {
			return s.ID
		}
	}
	return 0
}

// A column is sorted by its rows.
func (c *column) Len() int           { return len(c.rows) }
func (c *column) Less(i, j int) bool { return c.rows[i] < c.rows[j] }
func (c *column) Swap(i, j int) {
	c.rows[i], c.rows[j] = c.rows[j], c.rows[i]
	c.cells[i], c.cells[j] = c.cells[j], c.cells[i]
}

// nodeAt is the node of a host in a task, or -1 where it has none.
func (x *matrix) nodeAt(row, col int) int {
	c := &x.columns[col]
	if len(c.rows) == len(x.hosts) { // all of them, in order
		return int(c.cells[row])
	}
	i := sort.Search(len(c.rows), func(i int) bool { return int(c.rows[i]) >= row })
	if i == len(c.rows) || int(c.rows[i]) != row {
		return -1
	}
	return int(c.cells[i])
}

// findNode puts the cursor on the cell of a node, if it has one.
func (x *matrix) findNode(n int) {
	x.node = n
	if n < 0 || n >= len(x.inside) || x.inside[n] < 0 {
		return
	}
	x.col = int(x.inside[n])
	c := &x.columns[x.col]
	for i, first := range c.cells {
		if int(first) <= n && n < int(first+x.tree.Size[first]) {
			x.row = int(c.rows[i])
			return
		}
	}
}

// openMatrix shows the hosts by their tasks, or closes that.
func (m matrixPane) openMatrix() {
	if m.matrix != nil {
		m.closeMatrix()
		return
	}
	m.panes.focusOn(paneTree)
	m.panes.zoom = 0
	m.matrix = newMatrix(m.Tree)
}

func (m *view) closeMatrix() {
	m.matrix = nil
	m.rows.Reveal(m.cur.Node)
}

// matrixShown reports whether the screen is the matrix. Values are edited beside the tree.
func (m *view) matrixShown() bool {
	return m.matrix != nil && m.fix == nil && len(m.matrix.columns) > 0 && m.width >= oneW && m.height >= oneH
}

// inMatrix does what an intent means in the matrix. Those that it leaves mean what they mean elsewhere, about the node of the cell.
func (m matrixPane) inMatrix(do keymap.Intent) (done bool) {
	if !m.matrixShown() {
		return false
	}
	x := m.matrix
	m.followMatrix()
	const far = 1 << 30
	switch do {
	case keymap.CursorDown:
		m.moveMatrix(+1, 0)
	case keymap.CursorUp:
		m.moveMatrix(-1, 0)
	case keymap.NodeClose, keymap.ScrollLeft:
		m.moveMatrix(0, -1)
	case keymap.NodeOpen, keymap.ScrollRight:
		m.moveMatrix(0, +1)
	case keymap.CursorTop:
		m.moveMatrix(-far, 0)
	case keymap.CursorBottom:
		m.moveMatrix(far, 0)
	case keymap.CursorHalfDown:
		m.moveMatrix(x.height/2, 0)
	case keymap.CursorHalfUp:
		m.moveMatrix(-x.height/2, 0)
	case keymap.CursorPageDown:
		m.moveMatrix(0, max(x.across-1, 1))
	case keymap.CursorPageUp:
		m.moveMatrix(0, -max(x.across-1, 1))
	case keymap.NodeToggle:
		m.closeMatrix()
	case keymap.GoBack:
		if m.cur.Anchor >= 0 || len(m.cur.Marks) > 0 || m.find.Text != "" {
			return false
		}
		m.closeMatrix()
	case keymap.PaneOther, keymap.PaneGrow, keymap.PaneShrink, keymap.TabStep, keymap.TabOutput, keymap.TabDiff, keymap.TabVars,
		keymap.TabEvents:
		// These are about panes, which the matrix covers: it makes room, and they do what they do elsewhere.
		m.closeMatrix()
		return false
	case keymap.DividerLeft, keymap.DividerRight, keymap.TreeFold, keymap.TreeOpen:
	case keymap.MarkToggle:
		m.cur.Mark(m.cur.Node)
		m.moveMatrix(+1, 0)
	default:
		return false
	}
	return true
}

// followMatrix lets the matrix be about the plan there is, and its cursor where the tree's is: a search, a failure or following
// may have moved that.
func (m matrixPane) followMatrix() {
	if m.matrix.tree != m.Tree {
		old := m.matrix
		m.matrix = newMatrix(m.Tree)
		m.matrix.top, m.matrix.left = old.top, old.left
	}
	x := m.matrix
	if x.node != m.cur.Node {
		x.findNode(m.cur.Node)
	}
	x.row = max(min(x.row, len(x.hosts)-1), 0)
	x.col = max(min(x.col, len(x.columns)-1), 0)
}

// moveMatrix moves the cursor. Over a cell with nothing in it the tree's stays on the task.
func (m matrixPane) moveMatrix(down, right int) {
	x := m.matrix
	m.following = false
	x.row = max(min(x.row+down, len(x.hosts)-1), 0)
	x.col = max(min(x.col+right, len(x.columns)-1), 0)
	n := x.nodeAt(x.row, x.col)
	if n < 0 {
		n = x.columns[x.col].node
	}
	m.cur.Node, x.node = n, n
	m.rows.Reveal(n)
}

// hostCounts counts how the tasks of a host have ended so far.
func (x *matrix) hostCounts(row int, steps []events.Step) (c events.HostCounts) {
	for col := range x.columns {
		if n := x.nodeAt(row, col); n >= 0 {
			r := x.tree.Steps(n)
			status.CountTask(x.tree.Plan, steps, r.From, r.To, &c)
		}
	}
	return c
}
