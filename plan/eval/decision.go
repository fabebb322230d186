package eval

import (
	"github.com/expr-lang/expr/vm"

	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// A text in expr is cut into a skeleton of and, or, not and ?:, which we decide ourselves because values may be unknown,
// and leaves, which expr runs. In a leaf every variable with its constant path is replaced by a slot that we fill:
// so `last` may be a variable and a function at once, and a name that does not exist is an error instead of nil.

type decisionKind uint8

const (
	leafDecision decisionKind = iota
	andDecision
	orDecision
	notDecision
	choiceDecision
)

// decision is a node of the skeleton.
type decision struct {
	kind  decisionKind
	op    string // as it is written
	at    int
	left  *decision // of a choice: the condition
	right *decision // of a choice: what to take if it holds
	other *decision // of a choice: otherwise
	leaf  *leaf
}

// leaf is a sub-expression that expr runs, or that is a plain path.
type leaf struct {
	slots   []slot
	program *vm.Program // nil if the leaf is its only slot
	source  excerpt
}

// slot is a variable of a leaf.
type slot struct {
	node     jinja.Node // the path
	optional bool       // nil if it does not exist
	defined  bool       // whether it exists, for is_defined(path)
	name     string
}

// decide gives the value of a skeleton.
func (r *rendering) decide(d *decision) (any, error) {
	switch d.kind {
	case leafDecision:
		return r.leaf(d.leaf)
	case notDecision:
		v, err := r.boolean(d.left, d.op)
		return !v, err
	case choiceDecision:
		cond, err := r.boolean(d.left, d.op)
		switch {
		case err != nil:
			return nil, err
		case cond:
			return r.decide(d.right)
		default:
			return r.decide(d.other)
		}
	case andDecision, orDecision:
	}
	isAnd := d.kind == andDecision
	left, err := r.boolean(d.left, d.op)
	if o, ok := value.OpenOf(err); ok {
		right, rightErr := r.boolean(d.right, d.op)
		switch o2, rightOpen := value.OpenOf(rightErr); {
		case rightOpen:
			return nil, &value.Open{Missing: value.UniteMissing(o.Missing, o2.Missing)}
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
	return r.boolean(d.right, d.op)
}

// boolean decides an operand of and, or, not or ?:.
func (r *rendering) boolean(d *decision, operator string) (bool, error) {
	v, err := r.decide(d)
	if err != nil {
		return false, err
	}
	holds, e := verdictOf(v)
	if e != nil {
		e.Message = "`" + operator + "` needs true or false, not " + value.KindOf(v)
		if d.leaf != nil && d.leaf.program == nil {
			return false, placed(e, d.leaf.slots[0].node)
		}
		e.Offset = d.at
		return false, e
	}
	return holds, nil
}

func (r *rendering) leaf(l *leaf) (any, error) {
	s := scope{rendering: r}
	var missing []value.Missing
	values := make(map[string]any, len(l.slots))
	for _, slot := range l.slots {
		v, root, err := s.reach(slot.node)
		if err == nil {
			v, err = s.Settle(v, root)
		}
		if err == nil {
			v, err = s.ExpandObjects(v)
		}
		err = s.placed(err, slot.node)
		o, isOpen := value.OpenOf(err)
		switch {
		case isOpen:
			missing = value.UniteMissing(missing, o.Missing)
		case slot.defined:
			if err != nil && !value.IsUndefined(err) {
				return nil, err
			}
			v = err == nil
		case err != nil && (!slot.optional || !value.IsUndefined(err)):
			return nil, err
		}
		if l.program == nil && !isOpen {
			return v, nil
		}
		values[slot.name] = value.PlainShared(v)
	}
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
	return fromReflectValue(v)
}

// decided is decide for an expression, whose value may be anything.
func (r *rendering) decided(d *decision) (Result, error) {
	v, err := r.decide(d)
	if o, ok := value.OpenOf(err); ok {
		return Result{Value: r.text, Missing: o.Missing}, nil
	}
	switch {
	case err != nil:
		return Result{}, err
	case !r.Touched:
		return Result{Value: v}, nil
	case d.kind == leafDecision && d.leaf.program == nil: // a part of a value, which has its own marks
		if part, _, err := (scope{rendering: r}).reach(d.leaf.slots[0].node); err == nil && value.Marked(part) {
			return Result{Value: part}, nil
		}
	}
	return Result{Value: r.Conceal(v)}, nil
}
