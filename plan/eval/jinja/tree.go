package jinja

import "slices"

// Node is one node of an expression.
type Node interface {
	Offset() int // in the text, in bytes
	isNode()
}

// At is where a node begins in the text.
type At int

// Offset implements Node.
func (a At) Offset() int { return int(a) }
func (At) isNode()       {}

// Constant is a number, a string, true, false or none.
type Constant struct {
	At
	Value any
}

// Variable is a name.
type Variable struct {
	At
	Name string
}

// Member is x.y, x['y'] and x[0].
type Member struct {
	At    // of the whole chain: where its first name begins
	Of    Node
	Key   Node
	Dot   bool
	KeyAt int
	End   int
}

// Slicing is x[from:to:step]; absent parts are nil.
type Slicing struct {
	At
	Of, From, To, Step Node
}

// Argument is one of a call; name is empty for a positional one.
type Argument struct {
	Name   string
	Value  Node
	At     int
	Unpack string // "*" or "**": the value is a list or a map of arguments
}

// Unpacks reports whether some arguments of a call are known only when their list or map is.
func Unpacks(args []Argument) bool {
	return slices.ContainsFunc(args, func(a Argument) bool { return a.Unpack != "" })
}

// Call is function(args).
type Call struct {
	At
	Function Node
	Args     []Argument
}

// Filtering is in | name(args).
type Filtering struct {
	At
	Name string
	End  int // of the name, which begins at
	In   Node
	Args []Argument
	Def  Callable
}

// Testing is in is name(args).
type Testing struct {
	At
	Name string
	End  int
	In   Node
	Args []Argument
	Def  Callable
}

// Negation is not x.
type Negation struct {
	At
	Of Node
}

// Signed is -x or +x.
type Signed struct {
	At
	Minus bool
	Of    Node
}

// Arithmetic is a + b, and every other operator that computes.
type Arithmetic struct {
	At    // of the operator
	Op    string
	Left  Node
	Right Node
}

// Comparison is a < b <= c: every neighbouring pair must hold.
type Comparison struct {
	At   // of the first operator
	Left Node
	Rest []Compared
}

// Compared is an operator and its right side.
type Compared struct {
	Op    string // == != < <= > >= in, not in
	Right Node
	At    int
}

// Logic is and, or.
type Logic struct {
	At
	And         bool
	Left, Right Node
}

// Choice is then if cond else other; other may be nil.
type Choice struct {
	At
	Then, Cond, Other Node
}

// Listing is a list or a tuple. They differ only on the right of a format: '%s %s' % (a, b).
type Listing struct {
	At
	Items []Node
	Tuple bool
}

// Dict is {key: value}.
type Dict struct {
	At
	Keys, Values []Node
}

// Assignment is the inside of {% set ns.name = value %}.
type Assignment struct {
	At
	Target *Member
	Value  Node
}

// Including is {% include of %}: the text of another file.
type Including struct {
	At
	Of     Node
	Absent bool // the file may be missing
	Alone  bool // it does not see the names of this text
}

// Importing is the file of {% import of as name %}.
type Importing struct {
	At
	Of      Node
	Context bool // it also sees the names of this text
}

// Absent stands for a macro parameter that the caller left out.
type Absent struct {
	At
	Name string
}

func (m *Member) isConstant() bool {
	_, ok := m.Key.(*Constant)
	return ok
}

// PathOf gives the root and the keys of a chain of constant members: cfg.hosts[0].
func PathOf(n Node) (root *Variable, path []any, ok bool) {
	switch n := n.(type) {
	case *Variable:
		return n, nil, true
	case *Member:
		key, isConstant := n.Key.(*Constant)
		if !isConstant {
			return nil, nil, false
		}
		root, path, ok = PathOf(n.Of)
		// Only these are paths: a float or a truth as a key is looked up by its text.
		switch key.Value.(type) {
		case string, int:
			return root, append(path, key.Value), ok
		}
	}
	return nil, nil, false
}

// End gives where a name or chain of members ends, 0 if the node is something else.
func End(n Node) int {
	switch n := n.(type) {
	case *Variable:
		return n.Offset() + len(n.Name)
	case *Member:
		return n.End
	}
	return 0
}

// FirstName gives the variable at the beginning of a chain of members, calls and slices.
func FirstName(n Node) (*Variable, bool) {
	for {
		switch m := n.(type) {
		case *Variable:
			return m, true
		case *Member:
			n = m.Of
		// A method's own name is a member, so this comes to the value that it is called on.
		case *Call:
			n = m.Function
		case *Slicing:
			n = m.Of
		default:
			return nil, false
		}
	}
}
