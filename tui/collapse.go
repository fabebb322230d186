package tui

import "sort"

// collapse is which scopes are folded, and the rows that are visible because of it. Folding is remembered by path,
// so it survives a change of the plan; a filter has its own, so what it shows is never hidden by an old folding.
//
// The rows are rebuilt in one pass over the tree when folding, filter or plan change, and not otherwise.
type collapse struct {
	tree   *tree
	keep   []bool // by node: passes the filter, or has something below that does; nil without a filter
	ends   []bool // by node, with a filter: none that it shows follows below the same parent
	shut   [2]map[string]bool
	folded []bool // by node, of the set in use
	rows   []int32
}

// openLimit is how many rows a filter may show open.
const openLimit = 200

func newCollapse(t *tree) *collapse {
	c := &collapse{shut: [2]map[string]bool{{}, {}}}
	c.adopt(t)
	return c
}

// overview opens as many levels as fit into some rows, the first in any case, and what asks to be confirmed. The hosts of a task
// stay folded.
func (c *collapse) overview(rows int) {
	var deep []int // how many nodes there are down to each level
	for n := 0; n < c.tree.len(); {
		d := int(c.tree.depth[n])
		for len(deep) <= d {
			deep = append(deep, 0)
		}
		deep[d]++
		if c.tree.task(n) {
			n += int(c.tree.size[n])
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
	for n := 1; n < c.tree.len(); n++ {
		c.mark(n, int(c.tree.depth[n]) >= level || c.tree.task(n)) // a task is one row, over however many hosts
	}
	for i := range c.tree.plan.Steps {
		if s := &c.tree.plan.Steps[i]; s.Confirm != "" && !s.Excluded {
			c.uncover(int(c.tree.stepNode[i]))
		}
	}
	c.flatten()
}

// remember names what is folded without a filter: the folded scopes, or where those are too many, the others.
func (c *collapse) remember() (folded, open []string, allShut bool) {
	shut := 0
	for n := range c.tree.len() {
		if c.tree.leaf(n) {
			continue
		}
		path := c.tree.path(n)
		if !c.shut[0][path] {
			open = append(open, path)
			continue
		}
		if shut++; shut <= viewPaths {
			folded = append(folded, path)
		}
	}
	switch {
	case shut <= viewPaths:
		return folded, nil, false
	case len(open) <= viewPaths:
		return nil, open, true
	}
	return nil, nil, true
}

// recall folds what was folded.
func (c *collapse) recall(folded, open []string, allShut bool) {
	set := c.shut[0]
	clear(set)
	if allShut {
		for n := 1; n < c.tree.len(); n++ {
			if !c.tree.leaf(n) {
				set[c.tree.path(n)] = true
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

// adopt takes another tree and keeps the folding.
func (c *collapse) adopt(t *tree) {
	c.tree, c.keep, c.ends = t, nil, nil
	c.load()
}

// filter shows only what keep has: all of it open, or where that is much, as at the start.
func (c *collapse) filter(keep []bool, fold bool) {
	fresh := keep != nil && c.keep == nil
	if fresh {
		c.shut[1] = map[string]bool{}
	}
	c.keep, c.ends = keep, lastOf(c.tree, keep)
	c.load()
	if fresh && fold && len(c.rows) > openLimit {
		c.foldAll()
	}
}

// lastOf marks the last node below each parent, of those that are kept.
func lastOf(t *tree, keep []bool) []bool {
	if keep == nil {
		return nil
	}
	ends, has := make([]bool, t.len()), make([]bool, t.len())
	for n := t.len() - 1; n > 0; n-- {
		if p := t.parent[n]; keep[n] && !has[p] {
			ends[n], has[p] = true, true
		}
	}
	return ends
}

// last reports whether a node is the last that is shown below its parent.
func (c *collapse) last(n int) bool {
	if c.ends != nil {
		return c.ends[n]
	}
	return c.tree.lastChild(n)
}

func (c *collapse) set() map[string]bool {
	if c.keep != nil {
		return c.shut[1]
	}
	return c.shut[0]
}

func (c *collapse) load() {
	c.folded = make([]bool, c.tree.len())
	if set := c.set(); len(set) > 0 {
		for n := range c.folded {
			c.folded[n] = !c.tree.leaf(n) && set[c.tree.path(n)]
		}
	}
	c.flatten()
}

// flatten rebuilds the rows.
func (c *collapse) flatten() {
	c.rows = c.rows[:0]
	for n := 0; n < len(c.folded); {
		switch {
		case c.keep != nil && !c.keep[n]:
			n += int(c.tree.size[n])
			continue
		case c.folded[n]:
			c.rows = append(c.rows, int32(n))
			n += int(c.tree.size[n])
			continue
		}
		c.rows = append(c.rows, int32(n))
		n++
	}
	if len(c.rows) == 0 {
		c.rows = append(c.rows, 0) // the root is always there
	}
}

// row is the row of a node, or of what it is folded into.
func (c *collapse) row(n int) int {
	return max(sort.Search(len(c.rows), func(i int) bool { return int(c.rows[i]) > n })-1, 0)
}

func (c *collapse) node(row int) int {
	return int(c.rows[min(max(row, 0), len(c.rows)-1)])
}

// fold folds or opens one scope.
func (c *collapse) fold(n int, shut bool) {
	if c.mark(n, shut) {
		c.flatten()
	}
}

func (c *collapse) mark(n int, shut bool) (changed bool) {
	if c.tree.leaf(n) || c.folded[n] == shut {
		return false
	}
	c.folded[n] = shut
	if shut {
		c.set()[c.tree.path(n)] = true
	} else {
		delete(c.set(), c.tree.path(n))
	}
	return true
}

// foldAll folds everything but the root.
func (c *collapse) foldAll() {
	for n := 1; n < len(c.folded); n++ {
		c.mark(n, true)
	}
	c.flatten()
}

// openAll opens everything.
func (c *collapse) openAll() {
	clear(c.set())
	clear(c.folded)
	c.flatten()
}

// reveal opens what hides a node.
func (c *collapse) reveal(n int) {
	if c.uncover(n) {
		c.flatten()
	}
}

func (c *collapse) uncover(n int) (changed bool) {
	for p := c.tree.parent[n]; p >= 0; p = c.tree.parent[p] {
		changed = c.mark(int(p), false) || changed
	}
	return changed
}

// viewPaths bounds the paths that are remembered.
const viewPaths = 2000
