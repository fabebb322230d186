package eval

import (
	"fmt"
	"slices"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// Bounds on what one rendering may do. No template of a playbook comes near them; a template that does is a mistake,
// and ends in an error instead of a hanging plan.
const (
	maxCalls  = 100                // macros within macros
	maxLevels = 2 * jinja.MaxNodes // operations within operations, those of macros that are being called included
)

// rendering is one evaluation of a template or expression. It is used by one goroutine.
type rendering struct {
	call.Rendering
	engine *Engine
	text   string
	file   string          // that the text is of, if it was imported
	unmet  []value.Missing // what the outputs left open depend on
	calls  int
	files  int // templates within templates
	levels int
	// deciding is set while a condition is decided: `unknown and false` is known to be false. In a template the value of
	// the left side would be printed, so it stays open.
	deciding bool
	// taken are undefined names that have been found already. What uses them is open, so that the next one is found.
	taken map[string]bool
	// looked are the lists and maps of variables, in a text that may change them for itself: the same each time, as in Jinja.
	looked map[string]any

	captures int // > 0 inside macros and captured blocks, whose text is not the template's own

	blocks blocks // of this template and of those that extend it
}

// begin begins a rendering.
func (e *Engine) begin(env value.Env, text string) *rendering {
	r := &rendering{engine: e, text: text}
	r.Start(&e.Shared, env, r)
	return r
}

// ScopeIn is where a callee is called that no text calls.
func (e *Engine) ScopeIn(env value.Env) call.Scope {
	return scope{rendering: e.begin(env, "")}.forCall()
}

// beginFile begins the rendering of another file's text, which counts as work of this one.
func (r *rendering) beginFile(env value.Env, text string) *rendering {
	if r.Changes == nil {
		r.Changes = &value.Changes{} // the file's macros may change what they are given
	}
	inner := &rendering{engine: r.engine, text: text, files: r.files + 1, taken: r.taken}
	inner.StartWithin(&r.Rendering, env, inner)
	return inner
}

// restart begins the same rendering again, with names taken for open that have been found to have no value.
func (r *rendering) restart(taken map[string]bool) *rendering {
	again := &rendering{engine: r.engine, text: r.text, deciding: r.deciding, taken: taken}
	again.StartWithin(&r.Rendering, r.Env, again)
	again.Changes = nil
	return again
}

// EvalNode implements Evaluator.
func (r *rendering) EvalNode(n jinja.Node, locals *call.Names) (any, error) {
	return scope{rendering: r, locals: locals}.eval(n)
}

// RenderFile implements Evaluator.
func (r *rendering) RenderFile(name, text string, style jinja.Style, env value.Env) (any, error) {
	return r.renderFile(name, text, style, env)
}

// scope is where names are looked up: first among the template's own, then in the environment.
type scope struct {
	*rendering
	locals *call.Names // nil outside of templates with tags
	gaps   bool        // the filter that is evaluated may give a list with items without a value
}

// forCall is the scope as a callee sees it.
func (s scope) forCall() call.Scope {
	return call.Scope{Rendering: &s.Rendering, Locals: s.locals}
}

// deeper goes into an operation. A stack that overflows cannot be recovered from, so it is bounded here.
func (s scope) deeper(n jinja.Node) error {
	if s.levels++; s.levels > maxLevels {
		return &value.Error{Kind: value.Failure, Message: "the template is nested too deeply", Offset: n.Offset()}
	}
	return nil
}

// eval gives the value of a node. The error is an *Error, or an *open.
func (s scope) eval(n jinja.Node) (any, error) {
	// First, and not counted: a constant is the most frequent node and cannot nest.
	if c, ok := n.(*jinja.Constant); ok {
		return c.Value, nil
	}
	err := s.deeper(n)
	defer func(deciding bool) { s.levels, s.deciding = s.levels-1, deciding }(s.deciding)
	if err != nil {
		return nil, err
	}
	s.deciding = s.deciding && onlyDecides(n)
	switch n := n.(type) {
	case *jinja.Variable, *jinja.Member:
		v, root, err := s.reach(n)
		if err != nil {
			return nil, err
		}
		v, err = s.Settle(v, root)
		return v, s.placed(err, n)
	case *jinja.Slicing:
		return s.slice(n)
	case *jinja.Call:
		return s.call(n)
	case *jinja.Filtering:
		if v, root, ok := s.element(n); ok {
			v, err := s.stored(v, root, n)
			if err == nil {
				v, err = s.Settle(v, root)
			}
			return v, s.placed(err, n)
		}
		return s.filter(n)
	case *jinja.Testing:
		return s.test(n)
	case *jinja.Negation:
		v, err := s.eval(n.Of)
		return !value.Truthy(v), err
	case *jinja.Signed:
		return s.sign(n)
	case *jinja.Arithmetic:
		return s.arithmetic(n)
	case *jinja.Comparison:
		return s.compare(n)
	case *jinja.Logic:
		return s.decide(n)
	case *jinja.Choice:
		return s.choose(n)
	case *jinja.Listing:
		items, err := s.evalAll(n.Items)
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			items = make([]any, 0, 1) // with room, which gives it an identity: see value.Changes
		}
		return items, held(items, n.Items)
	case *jinja.Dict:
		return s.dict(n)
	case *jinja.Assignment:
		return nil, s.assign(n)
	case *jinja.Including:
		return s.include(n)
	case *jinja.Importing:
		return s.module(n)
	case *jinja.Absent:
		return nil, &value.Error{
			Kind: value.UndefinedError, Name: n.Name, Message: "the macro was called without its parameter `" + n.Name + "`",
			Offset: n.Offset(),
		}
	}
	panic(fmt.Sprintf("no evaluation for %T", n))
}

// evalAll evaluates operands. All of them, so that everything open is named; a mistake in one is reported even if
// another is open.
func (s scope) evalAll(nodes []jinja.Node) ([]any, error) {
	return evalEach(len(nodes), func(i int) (any, error) { return s.eval(nodes[i]) })
}

func evalEach(n int, eval func(i int) (any, error)) ([]any, error) {
	values := make([]any, n)
	var missing []value.Missing
	for i := range n {
		v, err := eval(i)
		if o, ok := value.OpenOf(err); ok {
			missing = value.UniteMissing(missing, o.Missing)
		} else if err != nil {
			return nil, err
		}
		values[i] = v
	}
	if missing != nil {
		return nil, &value.Open{Missing: missing}
	}
	return values, nil
}

func (s scope) both(a, b jinja.Node) (left, right any, err error) {
	left, err = s.eval(a)
	o, isOpen := value.OpenOf(err)
	if err != nil && !isOpen {
		return nil, nil, err
	}
	// Even if the left side is open: a mistake here is found today, and all that is missing is named.
	right, err = s.eval(b)
	if o2, ok := value.OpenOf(err); ok && isOpen {
		return nil, nil, &value.Open{Missing: value.UniteMissing(o.Missing, o2.Missing)}
	}
	if err == nil && isOpen {
		err = o
	}
	return left, right, err
}

func (s scope) sign(n *jinja.Signed) (any, error) {
	v, err := s.eval(n.Of)
	if err != nil {
		return nil, err
	}
	x, ok := value.NumberOf(v)
	if !ok {
		return nil, value.PlaceError(value.Errorf(value.TypeError, "", "a sign needs a number, not %s", value.KindOf(v)), n)
	}
	if !n.Minus {
		return x, nil
	}
	// By subtraction, which notices that -(-2**63) does not fit.
	v, e := value.Calculate("-", 0, x)
	if e != nil {
		return nil, value.PlaceError(e, n)
	}
	return v, nil
}

// placed is placed for an error of any kind.
func (s scope) placed(err error, n jinja.Node) error {
	if e, ok := err.(*value.Error); ok { //nolint:errorlint // as it was made
		return s.lacking(value.PlaceError(e, n))
	}
	return err
}

func (s scope) arithmetic(n *jinja.Arithmetic) (any, error) {
	left, right, err := s.both(n.Left, n.Right)
	if err == nil {
		left, err = s.ExpandObjects(left)
	}
	if err == nil {
		right, err = s.ExpandObjects(right)
	}
	if err != nil {
		return nil, s.placed(err, n)
	}
	var v any
	var e *value.Error
	// '%s' % [1, 2] prints the list, '%s %s' % (1, 2) its items: only the text of the template tells lists from tuples.
	tuple, isTuple := n.Right.(*jinja.Listing)
	pattern, isText := left.(string)
	switch {
	case n.Op == "~":
		v, e = s.JoinTexts(s.Print(left), s.Print(right))
	case n.Op == "%" && isText && isTuple && tuple.Tuple:
		v, e = s.FormatPercent(pattern, right.([]any), false)
	default:
		v, e = s.Calculate(n.Op, left, right)
	}
	if e != nil {
		e = value.PlaceError(e, n)
		e.Width = len(n.Op)
		return nil, e
	}
	return s.another(v, left, right), nil
}

// another is what was computed from values, as a list or map of its own: x + [] is not x.
func (s scope) another(v any, of ...any) any {
	if s.Changes != nil && slices.ContainsFunc(of, func(v2 any) bool { return value.Same(v, v2) }) {
		return value.Copied(v)
	}
	return v
}

func (s scope) compare(n *jinja.Comparison) (any, error) {
	left := n.Left
	var leftValue any
	for i, c := range n.Rest {
		var right any
		var err error
		if i == 0 {
			// Of a < b < c the middle is evaluated once, as in Python.
			leftValue, right, err = s.both(left, c.Right)
		} else {
			right, err = s.eval(c.Right)
		}
		// `in` asks an object for one key; other comparisons need all of it.
		if err == nil && (c.Op != "in" && c.Op != "not in" || value.IsPartial(right)) {
			right, err = s.ExpandObjects(right)
		}
		if err == nil {
			leftValue, err = s.ExpandObjects(leftValue)
		}
		if err != nil {
			return nil, s.placed(err, n)
		}
		ok, e := value.Relate(c.Op, leftValue, right)
		if e != nil {
			e.Offset, e.Width = c.At, len(c.Op)
			return nil, e
		}
		if !ok {
			// The rest is not evaluated: in Python a chain ends at the first pair that does not hold.
			return false, nil
		}
		leftValue = right
	}
	return true, nil
}

// decide is and, or: Jinja gives the operand that decides, not a boolean. The right side is looked at even if the left
// is open: it may settle the matter, and a misspelt name there is a mistake today.
func (s scope) decide(n *jinja.Logic) (any, error) {
	left, err := s.eval(n.Left)
	if o, ok := value.OpenOf(err); ok {
		// `(unknown and false) and x`: whatever it is, it is not true, and x is not asked for. While deciding the left side would be known:
		// to ask again there would double the work with each part of a chain.
		if !s.deciding {
			if v, err := s.evalTruth(n.Left); err == nil && value.Truthy(v) != n.And {
				return nil, o
			}
		}
		right, rightErr := s.eval(n.Right)
		switch o2, rightOpen := value.OpenOf(rightErr); {
		case rightOpen:
			return nil, &value.Open{Missing: value.UniteMissing(o.Missing, o2.Missing)}
		// The left side may guard it, as in `x is defined and x.y`, but is not known yet.
		case value.IsUndefined(rightErr):
			return nil, value.Unless(rightErr, o)
		// `unknown and false` is false, whatever comes; as a value it would be the left side, which is not known.
		case rightErr == nil && s.deciding && value.Truthy(right) != n.And:
			return !n.And, nil
		}
		return nil, o
	}
	if err != nil {
		return nil, err
	}
	if value.Truthy(left) != n.And {
		return left, nil
	}
	return s.eval(n.Right)
}

// onlyDecides reports whether the parts of a node count as true or false where the node does.
func onlyDecides(n jinja.Node) bool {
	switch n.(type) {
	case *jinja.Logic, *jinja.Negation, *jinja.Choice:
		return true
	}
	return false
}

// evalTruth evaluates what only counts as true or false.
func (s scope) evalTruth(n jinja.Node) (any, error) {
	defer func(before bool) { s.deciding = before }(s.deciding)
	s.deciding = true
	return s.eval(n)
}

func (s scope) choose(n *jinja.Choice) (any, error) {
	cond, err := s.evalTruth(n.Cond)
	switch {
	case err != nil:
		return nil, err
	case value.Truthy(cond):
		return s.eval(n.Then)
	case n.Other != nil:
		return s.eval(n.Other)
	}
	// Jinja gives an undefined value that prints as nothing, and null does so too.
	return nil, nil
}

// held refuses what a list or a map cannot hold: they may be the value of a variable, and a long range is none.
func held(values []any, nodes []jinja.Node) error {
	for i, v := range values {
		if r, ok := v.(value.Range); ok {
			return value.PlaceError(r.TooLong(), nodes[i])
		}
	}
	return nil
}

func (s scope) dict(n *jinja.Dict) (any, error) {
	keys, err := s.evalAll(n.Keys)
	o, isOpen := value.OpenOf(err)
	if err != nil && !isOpen {
		return nil, err
	}
	values, err := s.evalAll(n.Values)
	if o2, ok := value.OpenOf(err); ok && isOpen {
		return nil, &value.Open{Missing: value.UniteMissing(o.Missing, o2.Missing)}
	}
	if err != nil {
		return nil, err
	}
	if isOpen {
		return nil, o
	}
	if err := held(values, n.Values); err != nil {
		return nil, err
	}
	m := value.NewDict(len(keys))
	for i, key := range keys {
		switch key.(type) {
		// Python cannot hash them.
		case []any, map[string]any, *value.Dict:
			return nil, value.PlaceError(value.Errorf(value.TypeError, "", "%s cannot be the key of a map", value.KindOf(key)), n.Keys[i])
		}
		m.SetAny(key, values[i])
	}
	return s.FinishMap(m), nil
}

// assign is {% set ns.name = value %}.
func (s scope) assign(n *jinja.Assignment) error {
	of, _, err := s.reach(n.Target.Of)
	if err != nil {
		return err
	}
	ns, ok := of.(*value.Namespace)
	if !ok {
		return value.PlaceError(value.Errorf(value.TypeError, "make it with `{% set x = namespace(…) %}`, or build a new map with `| combine(…)`",
			"cannot set a part of %s", value.KindOf(of)), n.Target)
	}
	key := value.KeyText(n.Target.Key.(*jinja.Constant).Value)
	v, err := s.eval(n.Value)
	if o, isOpen := value.OpenOf(err); isOpen {
		// Only the field is open: the loop around it continues, and others of its fields stay known.
		ns.Fields[key] = &value.Unsettled{Missing: o.Missing}
		return nil
	}
	if err != nil {
		return err
	}
	ns.Fields[key] = v
	return nil
}
