package call

// Names are the variables that a template has made in one of its blocks. Blocks inside see them; what they set themselves
// is theirs.
type Names struct {
	Outer *Names
	list  []named
	index map[string]int // of list, once it is long
}

type named struct {
	name  string
	value any
}

// manyNames is how many names are looked through one by one. Blocks have few; a hostile text has thousands.
const manyNames = 12

// Get gives what a name is bound to, in this block or in one around it.
func (n *Names) Get(name string) (any, bool) {
	for ; n != nil; n = n.Outer {
		if i := n.find(name); i >= 0 {
			return n.list[i].value, true
		}
	}
	return nil, false
}

func (n *Names) find(name string) int {
	if n.index != nil {
		if i, ok := n.index[name]; ok {
			return i
		}
		return -1
	}
	for i := range n.list {
		if n.list[i].name == name {
			return i
		}
	}
	return -1
}

// Set binds a name in this block.
func (n *Names) Set(name string, value any) {
	if i := n.find(name); i >= 0 {
		n.list[i].value = value
		return
	}
	n.list = append(n.list, named{name, value})
	switch {
	case n.index != nil:
		n.index[name] = len(n.list) - 1
	// Only now: a map for each block of each round of a loop would cost more than the search.
	case len(n.list) > manyNames:
		n.index = make(map[string]int, 2*len(n.list))
		for i := range n.list {
			n.index[n.list[i].name] = i
		}
	}
}

// Clear forgets the names of a block, to run it again. It must not be used if something may have kept the block.
func (n *Names) Clear() { n.list, n.index = n.list[:0], nil }

// Has reports whether a name is one of the block itself.
func (n *Names) Has(name string) bool { return n.find(name) >= 0 }
