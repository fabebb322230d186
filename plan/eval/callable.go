package eval

import (
	"moon/plan/eval/call"
	"moon/plan/eval/filters"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// filterOf and testOf are what the parser found behind a name.
func filterOf(n *jinja.Filtering) *filters.Filter { return n.Def.(*filters.Filter) }
func testOf(n *jinja.Testing) *filters.Test       { return n.Def.(*filters.Test) }

// bind evaluates arguments and puts each in the place of its parameter. The parser has checked their number and names.
func (s scope) bind(c *call.Input, p jinja.Params, args []jinja.Argument) error {
	nodes := make([]jinja.Node, len(args))
	for i, a := range args {
		nodes[i] = a.Value
	}
	values, err := s.evalAll(nodes)
	if err != nil {
		return err
	}
	c.Fill(p, args, values)
	return nil
}

// size is what a callee has to look at, for counting work.
func size(v any) int {
	switch v := v.(type) {
	case []any:
		return len(v) / 4
	case map[string]any:
		return len(v) / 4
	case *value.Dict:
		return v.Len() / 4
	case string:
		return len(v) / 256
	}
	return 0
}

func (s scope) filter(n *jinja.Filtering) (any, error) {
	def := filterOf(n)
	if def.Lazy != nil {
		return def.Lazy(s.forCall(), n)
	}
	c, err := s.prepare(n.In, n.Name, def.Params, n.Args, def.Guards)
	if err == nil && (!def.Objects || value.IsPartial(c.Value)) {
		err = c.ExpandAll()
	}
	if err != nil {
		return nil, s.placed(err, n.In)
	}
	v, err := def.Run(c)
	if err != nil {
		return nil, s.calleeError("filter", n.Name, err, n.Offset(), n.End-n.Offset())
	}
	return v, nil
}

func (s scope) test(n *jinja.Testing) (any, error) {
	def := testOf(n)
	if def.Field != "" {
		if v, ok := s.fieldOf(n); ok {
			return v, nil
		}
	}
	c, err := s.prepare(n.In, n.Name, def.Params, n.Args, def.Guards)
	if err == nil && (!def.Objects || value.IsPartial(c.Value)) {
		err = c.ExpandAll()
	}
	if err != nil {
		return nil, s.placed(err, n.In)
	}
	ok, err := def.Run(c)
	if err != nil {
		return nil, s.calleeError("test", n.Name, err, n.Offset(), n.End-n.Offset())
	}
	return ok, nil
}

// fieldOf decides a test of a result from its field alone, if that is known.
func (s scope) fieldOf(n *jinja.Testing) (bool, bool) {
	v, _, err := s.reach(n.In)
	result, ok := value.MapOf(v)
	if err != nil || !ok {
		return false, false
	}
	def := testOf(n)
	field, ok := result[def.Field].(bool)
	return field != def.Inverted, ok
}

// prepare evaluates the input and the arguments of a filter or test. If the callee guards, an undefined input is handed
// to it; anything open keeps the whole call open.
func (s scope) prepare(in jinja.Node, name string, p jinja.Params, args []jinja.Argument, guards bool) (*call.Input, error) {
	c := &call.Input{Scope: s.forCall(), Name: name}
	val, err := s.eval(in)
	o, isOpen := value.OpenOf(err)
	if err != nil && !isOpen {
		if !guards || !value.IsUndefined(err) {
			return nil, err
		}
		c.Err = err
	}
	c.Value = val
	err = s.bind(c, p, args)
	if o2, ok := value.OpenOf(err); ok && isOpen {
		return nil, &value.Open{Missing: value.UniteMissing(o.Missing, o2.Missing)}
	}
	if err != nil {
		return nil, err
	}
	if isOpen {
		return nil, o
	}
	if err := s.Spend(1 + size(val)); err != nil {
		return nil, err
	}
	return c, nil
}

// calleeError words what went wrong inside a filter, test, method or function: "filter `b64decode` failed: …".
func (s scope) calleeError(kind, name string, err error, offset, width int) error {
	if e, ok := value.AsError(err); ok {
		if e.Offset >= 0 {
			return e
		}
		placed := *e
		placed.Offset, placed.Width = offset, width
		if e.Kind != value.UndefinedError {
			placed.Message = kind + " `" + name + "` " + failure(e)
		}
		return &placed
	}
	if _, ok := value.OpenOf(err); ok {
		return err
	}
	return &value.Error{
		Kind: value.Failure, Message: kind + " `" + name + "` failed: " + value.Sentence(err.Error()), Offset: offset, Width: width,
	}
}

// failure continues a sentence that begins with the callee's name. Type errors are written as predicates: "needs a map".
func failure(e *value.Error) string {
	if e.Kind == value.TypeError {
		return e.Message
	}
	return "failed: " + e.Message
}
