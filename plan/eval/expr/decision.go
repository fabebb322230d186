package expr

import (
	"strings"

	"github.com/expr-lang/expr/vm"

	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// Reader reads a path: the value that it leads to, ready to compute with.
type Reader interface {
	Read(n jinja.Node) (any, error)
}

// PlainPath gives the path that an expression is, nil if it is more than one.
func (d *Decision) PlainPath() jinja.Node {
	if d.kind != leafDecision || d.leaf.program != nil {
		return nil
	}
	return d.leaf.slots[0].node
}

type decisionKind uint8

const (
	leafDecision decisionKind = iota
	andDecision
	orDecision
	notDecision
	choiceDecision
)

// Decision is a node of the skeleton that a text in expr is cut into: of and, or, not and ?:, which we decide ourselves because values
// may be unknown, above leaves, which expr runs. In a leaf every variable with its constant path is replaced by a slot that we fill: so
// `last` may be a variable and a function at once, and a name that does not exist is an error instead of nil.
type Decision struct {
	kind  decisionKind
	op    string // as it is written
	at    int
	left  *Decision // of a choice: the condition
	right *Decision // of a choice: what to take if it holds
	other *Decision // of a choice: otherwise
	leaf  *leaf
}

// leaf is a sub-expression that expr runs, or that is a plain path.
type leaf struct {
	slots   []slot
	program *vm.Program // nil if the leaf is its only slot
	source  Excerpt
}

// slot is a variable of a leaf.
type slot struct {
	node     jinja.Node // the path
	optional bool       // nil if it does not exist
	defined  bool       // whether it exists, for is_defined(path)
	name     string
}

// Decide gives the value of a skeleton.
func (d *Decision) Decide(r Reader) (any, error) {
	switch d.kind {
	case leafDecision:
		return d.leaf.run(r)
	case notDecision:
		v, err := d.left.boolean(r, d.op)
		return !v, err
	case choiceDecision:
		cond, err := d.left.boolean(r, d.op)
		switch {
		case err != nil:
			return nil, err
		case cond:
			return d.right.Decide(r)
		default:
			return d.other.Decide(r)
		}
	case andDecision, orDecision:
	}
	isAnd := d.kind == andDecision
	// The same rules as in eval's decide, for operands that must be true or false.
	left, err := d.left.boolean(r, d.op)
	if o, ok := value.OpenOf(err); ok {
		// Evaluated although the left side is open: it may settle the matter, and a mistake in it is found today.
		right, rightErr := d.right.boolean(r, d.op)
		switch o2, rightOpen := value.OpenOf(rightErr); {
		case rightOpen:
			return nil, &value.Open{Missing: value.UniteMissing(o.Missing, o2.Missing)}
		// The left side may guard it, and is not known yet.
		case value.IsUndefined(rightErr):
			return nil, value.Unless(rightErr, o)
		case rightErr == nil && right != isAnd:
			return right, nil
		}
		return nil, o
	}
	if err != nil {
		return nil, err
	}
	if left != isAnd {
		return left, nil
	}
	return d.right.boolean(r, d.op)
}

// boolean decides an operand of and, or, not or ?:.
func (d *Decision) boolean(r Reader, operator string) (bool, error) {
	v, err := d.Decide(r)
	if err != nil {
		return false, err
	}
	holds, e := Holds(v)
	if e != nil {
		e.Message = "`" + operator + "` needs true or false, not " + value.KindOf(v)
		// A plain name can be shown where it stands; of anything else only the operand's beginning is known.
		if d.leaf != nil && d.leaf.program == nil {
			return false, value.PlaceError(e, d.leaf.slots[0].node)
		}
		e.Offset = d.at
		return false, e
	}
	return holds, nil
}

func (l *leaf) run(r Reader) (any, error) {
	var missing []value.Missing
	values := make(map[string]any, len(l.slots))
	for _, slot := range l.slots {
		v, err := r.Read(slot.node)
		o, isOpen := value.OpenOf(err)
		switch {
		case isOpen:
			missing = value.UniteMissing(missing, o.Missing)
		// Only an absence answers the question; any other error is a mistake.
		case slot.defined:
			if err != nil && !value.IsUndefined(err) {
				return nil, err
			}
			v = err == nil
		case err != nil && (!slot.optional || !value.IsUndefined(err)):
			return nil, err
		}
		// As it is stored: a program would lose the spelling of numbers.
		if l.program == nil && !isOpen {
			return v, nil
		}
		// expr computes with Go's own types.
		values[slot.name] = value.PlainShared(v)
	}
	// Behind the loop, so that all slots are read: all that is missing is named, and mistakes come first.
	if missing != nil {
		return nil, &value.Open{Missing: missing}
	}
	machine := machines.Get().(*vm.VM)
	v, err := machine.Run(l.program, values)
	machines.Put(machine)
	if err != nil {
		return nil, exprFailure(err, l.source)
	}
	switch v.(type) {
	case nil, bool, string, int, float64:
		return v, nil
	}
	// expr may give []string, []int or its own types, which nothing else here knows.
	return value.FromReflect(v)
}

// Holds takes true, false and null. Anything else is refused: whether a string "false" or an empty list holds is a
// question on which the two languages, and their users, disagree.
func Holds(v any) (bool, *value.Error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case nil:
		return false, nil
	}
	hint := "say what must hold: `!= 0`, or `| bool`"
	switch v := v.(type) {
	case string:
		hint = "say what must hold: `!= \"\"`, or `| bool`"
		switch strings.ToLower(v) {
		case "true", "false", "yes", "no", "on", "off":
			hint = "turn the text into a boolean with `| bool`"
		}
	case []any, map[string]any, *value.Dict, *value.Namespace:
		hint = "say what must hold: `| length > 0`"
	}
	return false, value.Errorf(value.TypeError, hint, "the condition gives %s, not true or false", value.KindOf(v))
}

// Excerpt is a part of a text and where it begins.
type Excerpt struct {
	Text   string
	Offset int
}

func (e Excerpt) byteOffset(chars int) int {
	// expr counts characters, and places in moon are bytes.
	for i := range e.Text {
		if chars <= 0 {
			return e.Offset + i
		}
		chars--
	}
	return e.Offset + len(e.Text)
}

// Trim takes the space around it off.
func (e Excerpt) Trim() Excerpt {
	text := strings.TrimLeft(e.Text, " \t\r\n")
	e.Offset += len(e.Text) - len(text)
	e.Text = strings.TrimRight(text, " \t\r\n")
	return e
}
