package eval

import (
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// spread gives the arguments of a call with each item of an unpacked list or map in its place, so that whoever takes them
// sees none that are unpacked. Their values are constants in the tree of this one call.
func (s scope) spread(args []jinja.Argument) ([]jinja.Argument, error) {
	out := make([]jinja.Argument, 0, len(args))
	var last []jinja.Argument
	for _, a := range args {
		if a.Unpack == "" {
			if a.Name == "" {
				out = append(out, a)
			} else {
				// Names may stand before *list, whose items come before them.
				last = append(last, a)
			}
			continue
		}
		v, err := s.eval(a.Value)
		if err == nil {
			v, err = s.ExpandObjects(v)
		}
		if err != nil {
			return nil, s.placed(err, a.Value)
		}
		if a.Unpack == "*" {
			items, err := value.ItemsOf(value.Unboxed(v))
			if err != nil {
				return nil, s.calleeError("unpacking", "*", err, a.At, 1)
			}
			for _, item := range items {
				out = append(out, jinja.Argument{Value: &jinja.Constant{At: jinja.At(a.At), Value: item}, At: a.At, Unpack: a.Unpack})
			}
			continue
		}
		more, err := named(value.Unboxed(v), a)
		if err != nil {
			return nil, err
		}
		last = append(last, more...)
	}
	// A function may be called with what a file holds, and a call is not to cost less than what it is given.
	if err := s.Spend(len(out) + len(last)); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, a := range last {
		if seen[a.Name] {
			return nil, value.FromParser(a.Twice())
		}
		seen[a.Name] = true
	}
	return append(out, last...), nil
}

// named gives the entries of a map as arguments with names.
func named(v any, a jinja.Argument) ([]jinja.Argument, error) {
	wrong := func(format string, args ...any) error {
		e := value.Errorf(value.TypeError, "", format, args...)
		e.Offset, e.Width = a.At, len(a.Unpack)
		return e
	}
	if _, isMap := value.MapOf(v); !isMap {
		return nil, wrong("unpacking `**` needs a map, not %s", value.KindOf(v))
	}
	var out []jinja.Argument
	for _, key := range value.KeysOf(v) {
		name, isText := value.KeyOf(v, key).(string)
		if !isText {
			return nil, wrong("unpacking `**` needs a map whose keys are names, and `%s` is none", key)
		}
		item, _ := value.EntryOf(v, key)
		out = append(out, jinja.Argument{Name: name, Value: &jinja.Constant{At: jinja.At(a.At), Value: item}, At: a.At, Unpack: a.Unpack})
	}
	return out, nil
}

// fitted is spread for what declares its parameters: what the parser finds in a call that is written out is found here.
func (s scope) fitted(kind, name string, p jinja.Params, args []jinja.Argument, at, width int) ([]jinja.Argument, error) {
	args, err := s.spread(args)
	if err != nil {
		return nil, err
	}
	if e := p.Misfit(kind, name, args); e != nil {
		if e.Offset < 0 {
			e.Offset, e.Width = at, width
		}
		return nil, value.FromParser(e)
	}
	return args, nil
}

// spreadFilter is a filter as it is called, with all of its arguments.
func (s scope) spreadFilter(n *jinja.Filtering) (*jinja.Filtering, error) {
	args, err := s.fitted("filter", n.Name, filterOf(n).Params, n.Args, n.Offset(), n.End-n.Offset())
	m := *n
	m.Args = args
	return &m, err
}

// spreadTest is a test as it is called, with all of its arguments.
func (s scope) spreadTest(n *jinja.Testing) (*jinja.Testing, error) {
	args, err := s.fitted("test", n.Name, testOf(n).Params, n.Args, n.Offset(), n.End-n.Offset())
	m := *n
	m.Args = args
	return &m, err
}

// spreadCall is a call with all of its arguments.
func (s scope) spreadCall(n *jinja.Call) (*jinja.Call, error) {
	var args []jinja.Argument
	var err error
	f, isName := n.Function.(*jinja.Variable)
	known, isFunction := function{}, false
	if isName {
		if _, own := s.local(f.Name); !own {
			known, isFunction = s.engine.builtin(f.Name)
		}
	}
	if isFunction {
		args, err = s.fitted("function", f.Name, known.params, n.Args, f.Offset(), len(f.Name))
	} else {
		args, err = s.spread(n.Args)
	}
	m := *n
	m.Args = args
	return &m, err
}
