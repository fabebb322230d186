package eval

// node is one node of an expression.
type node interface {
	offset() int // in the text, in bytes
	isNode()
}

type at int

func (a at) offset() int { return int(a) }
func (at) isNode()       {}

type constant struct {
	at
	value any
}

type variable struct {
	at
	name string
}

// member is x.y, x['y'] and x[0].
type member struct {
	at    // of the whole chain: where its first name begins
	of    node
	key   node
	dot   bool
	keyAt int
	end   int
}

// slicing is x[from:to:step]; absent parts are nil.
type slicing struct {
	at
	of, from, to, step node
}

// argument of a call; name is empty for a positional one.
type argument struct {
	name  string
	value node
	at    int
}

type call struct {
	at
	function node
	args     []argument
}

// filtering is in | name(args).
type filtering struct {
	at
	name string
	end  int // of the name, which begins at
	in   node
	args []argument
	def  *filter
}

// testing is in is name(args).
type testing struct {
	at
	name string
	end  int
	in   node
	args []argument
	def  *test
}

type negation struct {
	at
	of node
}

// signed is -x or +x.
type signed struct {
	at
	minus bool
	of    node
}

type arithmetic struct {
	at    // of the operator
	op    string
	left  node
	right node
}

// comparison is a < b <= c: every neighbouring pair must hold.
type comparison struct {
	at   // of the first operator
	left node
	rest []compared
}

type compared struct {
	op    string // == != < <= > >= in, not in
	right node
	at    int
}

// logic is and, or.
type logic struct {
	at
	and         bool
	left, right node
}

// choice is then if cond else other; other may be nil.
type choice struct {
	at
	then, cond, other node
}

// listing is a list or a tuple. They differ only on the right of a format: '%s %s' % (a, b).
type listing struct {
	at
	items []node
	tuple bool
}

type dict struct {
	at
	keys, values []node
}

// assignment is the inside of {% set ns.name = value %}.
type assignment struct {
	at
	target *member
	value  node
}

// including is {% include of %}: the text of another file.
type including struct {
	at
	of     node
	absent bool // the file may be missing
	alone  bool // it does not see the names of this text
}

// importing is the file of {% import of as name %}.
type importing struct {
	at
	of      node
	context bool // it also sees the names of this text
}

// absent stands for a macro parameter that the caller left out.
type absent struct {
	at
	name string
}

func (m *member) isConstant() bool {
	_, ok := m.key.(*constant)
	return ok
}

// pathOf gives the root and the keys of a chain of constant members: cfg.hosts[0].
func pathOf(n node) (root *variable, path []any, ok bool) {
	switch n := n.(type) {
	case *variable:
		return n, nil, true
	case *member:
		key, isConstant := n.key.(*constant)
		if !isConstant {
			return nil, nil, false
		}
		root, path, ok = pathOf(n.of)
		switch key.value.(type) {
		case string, int:
			return root, append(path, key.value), ok
		}
	}
	return nil, nil, false
}

// end gives where a name or chain of members ends, 0 if the node is something else.
func end(n node) int {
	switch n := n.(type) {
	case *variable:
		return n.offset() + len(n.name)
	case *member:
		return n.end
	}
	return 0
}

// firstName gives the variable at the beginning of a chain of members, calls and slices.
func firstName(n node) (*variable, bool) {
	for {
		switch m := n.(type) {
		case *variable:
			return m, true
		case *member:
			n = m.of
		case *call:
			n = m.function
		case *slicing:
			n = m.of
		default:
			return nil, false
		}
	}
}
