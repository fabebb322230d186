package tree

import "sort"

// Collapse is which scopes are folded, and the rows that are visible because of it. Folding is remembered by path,
// so it survives a change of the plan; a filter has its own, so what it shows is never hidden by an old folding.
//
// The rows are rebuilt in one pass over the tree when folding, filter or plan change, and not otherwise.
type Collapse struct {
	tree   *Tree
	Keep   []bool // by node: passes the filter, or has something below that does; nil without a filter
	ends   []bool // by node, with a filter: none that it shows follows below the same parent
	shut   [2]map[string]bool
	Folded []bool // by node, of the set in use
	Rows   []int32
}

// openLimit is how many rows a filter may show open.
const openLimit = 200

// NewCollapse shows a tree as it is at first, with nothing collapsed by the user.
func NewCollapse(t *Tree) *Collapse {
	c := &Collapse{shut: [2]map[string]bool{{}, {}}}
	c.Adopt(t)
	return c
}

// Overview opens as many levels as fit into some rows, the first in any case, and what asks to be confirmed. The hosts of a task
// stay folded.
func (c *Collapse) Overview(rows int) {
	var deep []int // how many nodes there are down to each level
	for n := 0; n < c.tree.Len(); {
		d := int(c.tree.Depth[n])
		for len(deep) <= d {
			deep = append(deep, 0)
		}
		deep[d]++
		if c.tree.Task(n) {
			n += int(c.tree.Size[n])
			continue
		}
		n++
	}
	level, n := 1, deep[0]
	for d := 1; d < len(deep); d++ {
		if n += deep[d]; n <= rows {
			level = d
		}
	}
	for n := 1; n < c.tree.Len(); n++ {
		c.mark(n, int(c.tree.Depth[n]) >= level || c.tree.Task(n)) // a task is one row, over however many hosts
	}
	for i := range c.tree.Plan.Steps {
		if s := &c.tree.Plan.Steps[i]; s.Confirm != "" && !s.Excluded {
			c.uncover(int(c.tree.StepNode[i]))
		}
	}
	c.flatten()
}

// Remember names what is folded without a filter: the folded scopes, or where those are too many, the others.
func (c *Collapse) Remember() (folded, open []string, allShut bool) {
	shut := 0
	for n := range c.tree.Len() {
		if c.tree.Leaf(n) {
			continue
		}
		path := c.tree.Path(n)
		if !c.shut[0][path] {
			open = append(open, path)
			continue
		}
		if shut++; shut <= ViewPaths {
			folded = append(folded, path)
		}
	}
	// The shorter of the two lists is kept, if one of them is short.
	switch {
	case shut <= ViewPaths:
		return folded, nil, false
	case len(open) <= ViewPaths:
		return nil, open, true
	}
	return nil, nil, true
}

// Recall folds what was folded.
func (c *Collapse) Recall(folded, open []string, allShut bool) {
	set := c.shut[0]
	clear(set)
	if allShut {
		for n := 1; n < c.tree.Len(); n++ {
			if !c.tree.Leaf(n) {
				set[c.tree.Path(n)] = true
			}
		}
	}
	for _, path := range folded {
		set[path] = true
	}
	for _, path := range open {
		delete(set, path)
	}
	c.load()
}

// Adopt takes another tree and keeps the folding.
func (c *Collapse) Adopt(t *Tree) {
	c.tree, c.Keep, c.ends = t, nil, nil
	c.load()
}

// Filter shows only what keep has: all of it open, or where that is much, as at the start.
func (c *Collapse) Filter(keep []bool, fold bool) {
	// A filter that narrows while it is typed keeps what a person has folded.
	fresh := keep != nil && c.Keep == nil
	if fresh {
		c.shut[1] = map[string]bool{}
	}
	c.Keep, c.ends = keep, lastOf(c.tree, keep)
	c.load()
	if fresh && fold && len(c.Rows) > openLimit {
		c.FoldAll()
	}
}

// lastOf marks the last node below each parent, of those that are kept.
func lastOf(t *Tree, keep []bool) []bool {
	if keep == nil {
		return nil
	}
	ends, has := make([]bool, t.Len()), make([]bool, t.Len())
	// From the end: the first that is met is the last of its parent.
	for n := t.Len() - 1; n > 0; n-- {
		if p := t.Parent[n]; keep[n] && !has[p] {
			ends[n], has[p] = true, true
		}
	}
	return ends
}

// Last reports whether a node is the last that is shown below its parent.
func (c *Collapse) Last(n int) bool {
	if c.ends != nil {
		return c.ends[n]
	}
	return c.tree.lastChild(n)
}

func (c *Collapse) set() map[string]bool {
	if c.Keep != nil {
		return c.shut[1]
	}
	return c.shut[0]
}

func (c *Collapse) load() {
	c.Folded = make([]bool, c.tree.Len())
	if set := c.set(); len(set) > 0 {
		for n := range c.Folded {
			c.Folded[n] = !c.tree.Leaf(n) && set[c.tree.Path(n)]
		}
	}
	c.flatten()
}

// flatten rebuilds the rows.
func (c *Collapse) flatten() {
	c.Rows = c.Rows[:0]
	for n := 0; n < len(c.Folded); {
		switch {
		case c.Keep != nil && !c.Keep[n]:
			n += int(c.tree.Size[n])
			continue
		case c.Folded[n]:
			c.Rows = append(c.Rows, int32(n))
			n += int(c.tree.Size[n])
			continue
		}
		c.Rows = append(c.Rows, int32(n))
		n++
	}
	if len(c.Rows) == 0 {
		c.Rows = append(c.Rows, 0) // the root is always there
	}
}

// Row is the row of a node, or of what it is folded into.
func (c *Collapse) Row(n int) int {
	return max(sort.Search(len(c.Rows), func(i int) bool { return int(c.Rows[i]) > n })-1, 0)
}

// Node is the node in a row; rows beyond the ends count as the first or the last.
func (c *Collapse) Node(row int) int {
	return int(c.Rows[min(max(row, 0), len(c.Rows)-1)])
}

// Fold folds or opens one scope.
func (c *Collapse) Fold(n int, shut bool) {
	if c.mark(n, shut) {
		c.flatten()
	}
}

func (c *Collapse) mark(n int, shut bool) (changed bool) {
	if c.tree.Leaf(n) || c.Folded[n] == shut {
		return false
	}
	c.Folded[n] = shut
	if shut {
		c.set()[c.tree.Path(n)] = true
	} else {
		delete(c.set(), c.tree.Path(n))
	}
	return true
}

// FoldAll folds everything but the root.
func (c *Collapse) FoldAll() {
	for n := 1; n < len(c.Folded); n++ {
		c.mark(n, true)
	}
	c.flatten()
}

// OpenAll opens everything.
func (c *Collapse) OpenAll() {
	clear(c.set())
	clear(c.Folded)
	c.flatten()
}

// Reveal opens what hides a node.
func (c *Collapse) Reveal(n int) {
	if c.uncover(n) {
		c.flatten()
	}
}

func (c *Collapse) uncover(n int) (changed bool) {
	for p := c.tree.Parent[n]; p >= 0; p = c.tree.Parent[p] {
		changed = c.mark(int(p), false) || changed
	}
	return changed
}

// ViewPaths bounds the paths that are remembered.
const ViewPaths = 2000
