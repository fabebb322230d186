package node

// Kind is what a node is.
type Kind uint8

// The kinds of node.
const (
	Scalar Kind = iota
	List
	Map
	Alias // stands for another, which is its Target
)

// Tag is the type of a value.
type Tag uint8

// The types. Other is what YAML itself does not have, or has and moon does not use; the Reader knows what was written.
const (
	Other Tag = iota
	Null
	Bool
	Int
	Float
	Str
	Seq
	Mapping
	Merge
)

// Mark is how a value is written, and what else is known of it: a set of bits.
type Mark uint8

// The marks.
const (
	Flow Mark = 1 << iota
	Tagged
	DoubleQuoted
	SingleQuoted
	Literal
	Folded
	Encrypted // it was, and is not any more
	Unsafe    // a text that stays as it is, also where it looks like a template
)

// style is what the text shows of a mark.
const style = Flow | Tagged | DoubleQuoted | SingleQuoted | Literal | Folded

// Node is one value, with the place where it begins.
type Node struct {
	Value   string // of a scalar, and the name of an alias
	Content []*Node
	Target  *Node // of an alias
	line    int32
	column  int32
	Kind    Kind
	Tag     Tag
	Mark    Mark
	Old     bool // a number as YAML 1.1 reads it, and 1.2 does not
}

// Line is the line on which the value begins, from 1.
func (n *Node) Line() int { return int(n.line) }

// Column is the character of the line at which the value begins, from 1.
func (n *Node) Column() int { return int(n.column) }

// Place puts the value to a line and column.
func (n *Node) Place(line, column int) { n.line, n.column = int32(line), int32(column) }

// PlaceAll gives a value that was never written a place, for what is said about it, and all that is in it the same.
func (n *Node) PlaceAll(line, column int) {
	n.Place(line, column)
	for _, inner := range n.Content {
		inner.PlaceAll(line, column)
	}
}

// MarkUnsafe keeps the texts of a value from being rendered.
func (n *Node) MarkUnsafe() {
	if n.Kind == Scalar {
		n.Mark |= Unsafe
		return
	}
	for _, inner := range n.Content { // an alias leads to what is safe elsewhere
		inner.MarkUnsafe()
	}
}

// IsPlain reports whether a value is written without quotes, a type and a form of its own.
func (n *Node) IsPlain() bool { return n.Mark&style == 0 }

// Has reports whether a node has one of the marks.
func (n *Node) Has(m Mark) bool { return n.Mark&m != 0 }

// NewScalar is a scalar that is of its type because something says so.
func NewScalar(tag Tag, value string, line, column int) *Node {
	return &Node{Kind: Scalar, Tag: tag, Mark: Tagged, Value: value, line: int32(line), column: int32(column)}
}

// NewList is an empty list.
func NewList(line, column int) *Node {
	return &Node{Kind: List, Tag: Seq, Mark: Flow, line: int32(line), column: int32(column)}
}

// NewMap is an empty map, in which keys and their values take turns.
func NewMap(line, column int) *Node {
	return &Node{Kind: Map, Tag: Mapping, line: int32(line), column: int32(column)}
}
