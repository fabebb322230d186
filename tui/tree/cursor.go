package tree

// Cursor is the person's place in the tree: a node, not a row, so it stays where it is when rows come and go. While
// its node is hidden it stands on the row that hides it.
type Cursor struct {
	Node   int
	Top    int  // first row on the screen
	Height int  // rows on the screen, as last drawn
	Free   bool // the rows were scrolled by themselves: the cursor may be off the screen until it is moved

	Marks  map[int]bool
	Anchor int // where a range of marks began, or -1
}

// NewCursor makes a cursor on the root, with no marks.
func NewCursor() Cursor { return Cursor{Marks: map[int]bool{}, Anchor: -1} }

// On is the node the cursor stands on.
func (c *Cursor) On(rows *Collapse) int { return rows.Node(rows.Row(c.Node)) }

// Move goes so many rows down, or up.
func (c *Cursor) Move(rows *Collapse, by int) { c.Node = rows.Node(rows.Row(c.Node) + by) }

// Window keeps the cursor on the screen and returns the first row of height rows.
func (c *Cursor) Window(rows *Collapse, height int) int {
	row, n := rows.Row(c.Node), len(rows.Rows)
	margin := min(2, max(height-1, 0)/2)
	c.Height = height
	if !c.Free {
		c.Top = min(c.Top, row-margin)
		c.Top = max(c.Top, row-height+1+margin)
	}
	c.Top = max(min(c.Top, n-height), 0)
	return c.Top
}

// KeepPlace lets the cursor's row stay where it is on the screen while change rebuilds the rows.
func (c *Cursor) KeepPlace(rows *Collapse, change func()) {
	offset := rows.Row(c.Node) - c.Top
	change()
	c.Top = rows.Row(c.Node) - offset
}

// Mark marks a node, or takes the mark away.
func (c *Cursor) Mark(n int) {
	if c.Marks[n] {
		delete(c.Marks, n)
		return
	}
	c.Marks[n] = true
}

// Marked reports whether a node is marked, or lies between the anchor of a range and the cursor.
func (c *Cursor) Marked(n int) bool {
	if c.Marks[n] {
		return true
	}
	return c.Anchor >= 0 && n >= min(c.Anchor, c.Node) && n <= max(c.Anchor, c.Node)
}

// CloseRange makes the open range of marks permanent.
func (c *Cursor) CloseRange(rows *Collapse) {
	if c.Anchor < 0 {
		return
	}
	for row := rows.Row(min(c.Anchor, c.Node)); row <= rows.Row(max(c.Anchor, c.Node)); row++ {
		c.Marks[rows.Node(row)] = true
	}
	c.Anchor = -1
}

// Clear forgets all marks.
func (c *Cursor) Clear() {
	clear(c.Marks)
	c.Anchor = -1
}

// Carry takes the cursor and the marks over to another tree, by path.
func (c *Cursor) Carry(from, to *Tree) {
	there := SameIn(from, to)
	marks := map[int]bool{}
	for n := range c.Marks {
		if to, ok := there(n); ok && to != 0 {
			marks[to] = true
		}
	}
	c.Node, _ = there(c.Node)
	c.Marks, c.Anchor = marks, -1
}

// SameIn finds the node of another tree that is the same, by path, or else what is nearest above it that is in both.
func SameIn(from, to *Tree) func(node int) (there int, same bool) {
	places := make(map[string]int, to.Len())
	for n := range to.Len() {
		// 0 is the root, and stands for none.
		if p := to.Path(n); places[p] == 0 {
			places[p] = n
		}
	}
	return func(node int) (int, bool) {
		at := node
		for at > 0 && places[from.Path(at)] == 0 {
			at = int(from.Parent[at])
		}
		return places[from.Path(max(at, 0))], at == node
	}
}

// Scroll moves the rows without the cursor.
func (c *Cursor) Scroll(rows *Collapse, by int) {
	c.Free = true
	c.Top = max(min(c.Top+by, len(rows.Rows)-c.Height), 0)
}
