package tui

// cursor is the person's place in the tree: a node, not a row, so it stays where it is when rows come and go. While
// its node is hidden it stands on the row that hides it.
type cursor struct {
	node   int
	top    int  // first row on the screen
	height int  // rows on the screen, as last drawn
	free   bool // the rows were scrolled by themselves: the cursor may be off the screen until it is moved

	marks  map[int]bool
	anchor int // where a range of marks began, or -1
}

func newCursor() cursor { return cursor{marks: map[int]bool{}, anchor: -1} }

// on is the node the cursor stands on.
func (c *cursor) on(rows *collapse) int { return rows.node(rows.row(c.node)) }

// move goes so many rows down, or up.
func (c *cursor) move(rows *collapse, by int) { c.node = rows.node(rows.row(c.node) + by) }

// window keeps the cursor on the screen and returns the first row of height rows.
func (c *cursor) window(rows *collapse, height int) int {
	row, n := rows.row(c.node), len(rows.rows)
	margin := min(2, max(height-1, 0)/2)
	c.height = height
	if !c.free {
		c.top = min(c.top, row-margin)
		c.top = max(c.top, row-height+1+margin)
	}
	c.top = max(min(c.top, n-height), 0)
	return c.top
}

// keepPlace lets the cursor's row stay where it is on the screen while change rebuilds the rows.
func (c *cursor) keepPlace(rows *collapse, change func()) {
	offset := rows.row(c.node) - c.top
	change()
	c.top = rows.row(c.node) - offset
}

// mark marks a node, or takes the mark away.
func (c *cursor) mark(n int) {
	if c.marks[n] {
		delete(c.marks, n)
		return
	}
	c.marks[n] = true
}

// marked reports whether a node is marked, or lies between the anchor of a range and the cursor.
func (c *cursor) marked(n int) bool {
	if c.marks[n] {
		return true
	}
	return c.anchor >= 0 && n >= min(c.anchor, c.node) && n <= max(c.anchor, c.node)
}

// closeRange makes the open range of marks permanent.
func (c *cursor) closeRange(rows *collapse) {
	if c.anchor < 0 {
		return
	}
	for row := rows.row(min(c.anchor, c.node)); row <= rows.row(max(c.anchor, c.node)); row++ {
		c.marks[rows.node(row)] = true
	}
	c.anchor = -1
}

// clear forgets all marks.
func (c *cursor) clear() {
	clear(c.marks)
	c.anchor = -1
}

// carry takes the cursor and the marks over to another tree, by path.
func (c *cursor) carry(from, to *tree) {
	there := sameIn(from, to)
	marks := map[int]bool{}
	for n := range c.marks {
		if to, ok := there(n); ok && to != 0 {
			marks[to] = true
		}
	}
	c.node, _ = there(c.node)
	c.marks, c.anchor = marks, -1
}

// sameIn finds the node of another tree that is the same, by path, or else what is nearest above it that is in both.
func sameIn(from, to *tree) func(node int) (there int, same bool) {
	places := make(map[string]int, to.len())
	for n := range to.len() {
		if p := to.path(n); places[p] == 0 {
			places[p] = n
		}
	}
	return func(node int) (int, bool) {
		at := node
		for at > 0 && places[from.path(at)] == 0 {
			at = int(from.parent[at])
		}
		return places[from.path(max(at, 0))], at == node
	}
}

// scroll moves the rows without the cursor.
func (c *cursor) scroll(rows *collapse, by int) {
	c.free = true
	c.top = max(min(c.top+by, len(rows.rows)-c.height), 0)
}
