package eval

import (
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// builtinFunctions are what a template may call by name. Filled by init: dict and namespace evaluate arguments.
var builtinFunctions map[string]function

type function struct {
	params jinja.Params
	run    func(c *input) (any, error)
	plays  bool // only the plays form has it
}

func init() {
	builtinFunctions = map[string]function{
		"range":     {params: jinja.Takes("*"), run: rangeOf},
		"dict":      {params: jinja.Takes("..."), run: dictOf},
		"namespace": {params: jinja.Takes("..."), run: newNamespace},
		"env":       {params: jinja.Takes("name default? secret?"), run: (*input).environment},
		"cycler":    {params: jinja.Takes("*"), run: newCycler},
		"joiner":    {params: jinja.Takes("sep?"), run: func(c *input) (any, error) { return &joiner{separator: c.str(0, ", ")}, nil }},
	}
	looking := func(list bool) function {
		return function{params: jinja.Takes("..."), plays: true, run: func(c *input) (any, error) { return looked(c, list) }}
	}
	builtinFunctions["lookup"], builtinFunctions["query"], builtinFunctions["q"] = looking(false), looking(true), looking(true)
	builtinFunctions["now"] = function{params: jinja.Takes("utc? fmt?"), plays: true, run: (*input).now}
}

type cycler struct {
	items []any
	next  int
}

type joiner struct {
	separator string
	used      bool
}

func rangeOf(c *input) (any, error) {
	bounds := []int{0, 0, 1}
	given := c.rest
	if len(given) < 1 || len(given) > 3 {
		return nil, value.Errorf(value.TypeError, "", "takes from 1 to 3 arguments, not %d", len(given))
	}
	for i, v := range given {
		n, ok := value.NumberOf(v)
		bound, isInt := n.(int)
		if !ok || !isInt {
			return nil, value.Errorf(value.TypeError, "turn it into a number with `| int`", "needs whole numbers, not %s", value.KindOf(v))
		}
		place := i
		if len(given) == 1 {
			place = 1
		}
		bounds[place] = bound
	}
	from, to, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return nil, value.Errorf(value.Failure, "", "the step of a range cannot be 0")
	}
	// In floats, because the distance of two integers may not fit into one.
	n := (float64(to) - float64(from)) / float64(step)
	if n > maxRange {
		return nil, value.Errorf(value.Failure, "", "the range has more than %d items", maxRange)
	}
	if err := c.spend(int(max(n, 0))); err != nil {
		return nil, err
	}
	out := make([]any, 0, int(max(n, 0))+1)
	for i := from; (step > 0 && i < to) || (step < 0 && i > to); i += step {
		out = append(out, i)
		if step > 0 && i > to-step || step < 0 && i < to-step {
			break // the next step could overflow
		}
	}
	return out, nil
}

func dictOf(c *input) (any, error) {
	m, err := c.fields()
	if err != nil {
		return nil, err
	}
	return c.ofForm(m), nil
}

// fields are the arguments of dict and namespace: maps first, then names.
func (c *input) fields() (*value.Dict, error) {
	m := value.NewDict(len(c.named))
	for _, v := range c.rest {
		switch v := v.(type) {
		case map[string]any, *value.Dict:
			m.Add(v)
		case []any:
			for _, item := range v {
				pair, ok := item.([]any)
				if !ok || len(pair) != 2 {
					return nil, value.Errorf(value.TypeError, "", "needs a list of pairs")
				}
				m.SetAny(pair[0], pair[1])
			}
		default:
			return nil, value.Errorf(value.TypeError, "", "needs a map, not %s", value.KindOf(v))
		}
	}
	for _, name := range c.order {
		m.Set(name, c.named[name])
	}
	return m, nil
}

func newNamespace(c *input) (any, error) {
	fields, err := c.fields()
	if err != nil {
		return nil, err
	}
	return value.NewNamespace(fields), nil
}

// environment is env('NAME'), env('NAME', 'otherwise') and env('NAME', secret): a variable of moon's own environment. One that
// is read as a secret is not handed on to the steps.
func (c *input) environment() (any, error) {
	name, ok := c.args[0].(string)
	if !ok {
		return nil, value.Errorf(value.TypeError, "", "needs the name of a variable, not %s", value.KindOf(c.args[0]))
	}
	facts, _ := c.env.Lookup("facts")
	all, _ := value.MapOf(facts)
	vars, _ := value.MapOf(all["env"])
	text, ok := vars[name].(string)
	switch {
	case ok && c.flag(2):
		c.engine.Secrets.AddEnv(name, text)
		c.touched = true
		return text, nil
	case ok:
		return text, nil
	case c.has(1):
		return c.args[1], nil
	}
	return nil, &value.Error{
		Kind: value.UndefinedError, Name: "env('" + name + "')", Message: "the environment variable `" + name + "` is not set",
		Hint: "set it, or give what to take otherwise: env('" + name + "', 'otherwise')", Offset: -1,
	}
}

func newCycler(c *input) (any, error) {
	if len(c.rest) == 0 {
		return nil, value.Errorf(value.TypeError, "", "needs at least one item")
	}
	return &cycler{items: c.rest}, nil
}

// assign is {% set ns.name = value %}.
func (s scope) assign(n *jinja.Assignment) error {
	of, _, err := s.reach(n.Target.Of)
	if err != nil {
		return err
	}
	ns, ok := of.(*value.Namespace)
	if !ok {
		return placed(value.Errorf(value.TypeError, "make it with `{% set x = namespace(…) %}`, or build a new map with `| combine(…)`",
			"cannot set a part of %s", value.KindOf(of)), n.Target)
	}
	key := value.KeyText(n.Target.Key.(*jinja.Constant).Value)
	v, err := s.eval(n.Value)
	if o, isOpen := value.OpenOf(err); isOpen {
		ns.Fields[key] = &value.Unsettled{Missing: o.Missing}
		return nil
	}
	if err != nil {
		return err
	}
	ns.Fields[key] = value.Boxed(v)
	return nil
}

func (s scope) call(n *jinja.Call) (any, error) {
	switch f := n.Function.(type) {
	case *jinja.Variable:
		return s.callName(n, f)
	case *jinja.Member:
		return s.callMethod(n, f)
	}
	return nil, &value.Error{Kind: value.TypeError, Message: "this is not a function", Offset: n.Offset()}
}

func (s scope) callName(n *jinja.Call, f *jinja.Variable) (any, error) {
	width := len(f.Name)
	if v, ok := s.local(f.Name); ok {
		return s.callLocal(n, f, v)
	}
	c := &input{scope: s, name: f.Name}
	if b, ok := s.engine.builtin(f.Name); ok {
		err := s.bind(c, b.params, n.Args)
		if err == nil {
			err = c.ordinaryAll()
		}
		if err != nil {
			return nil, s.placed(err, f)
		}
		v, err := b.run(c)
		if err != nil {
			return nil, s.calleeError("function", f.Name, err, f.Offset(), width)
		}
		return v, nil
	}
	if own, ok := s.engine.functions[f.Name]; ok {
		err := s.bind(c, jinja.Takes("..."), n.Args)
		if err == nil {
			err = c.ordinaryAll()
		}
		if err != nil {
			return nil, s.placed(err, f)
		}
		v, err := own(s.env, c.rest, c.named)
		if err != nil {
			return nil, s.calleeError("function", f.Name, err, f.Offset(), width)
		}
		return s.settled(unwrapUnknown(v, f.Name))
	}
	return nil, &value.Error{Kind: value.TypeError, Message: "`" + f.Name + "` is not a function", Offset: f.Offset(), Width: width}
}

func unwrapUnknown(v any, name string) (any, string) {
	if u, ok := v.(value.Unknown); ok {
		return &value.Unsettled{Missing: []value.Missing{{Name: name, Steps: value.SortSteps(u.Steps)}}}, name
	}
	return v, name
}

// callLocal calls a macro, caller(), loop() or a joiner.
func (s scope) callLocal(n *jinja.Call, f *jinja.Variable, v any) (any, error) {
	switch v := v.(type) {
	case *joiner:
		if !v.used {
			v.used = true
			return "", nil
		}
		return v.separator, nil
	case *value.Unsettled:
		return nil, &value.Open{Missing: v.Missing}
	case *macro:
		return s.callMacro(n, f.Name, v)
	case *loop:
		return v.callAgain(s, n, f)
	}
	return nil, &value.Error{
		Kind: value.TypeError, Message: "`" + f.Name + "` is " + value.KindOf(v) + ", not a function",
		Offset: f.Offset(), Width: len(f.Name),
	}
}

func (c *cycler) call(name string, f *jinja.Member) (any, error) {
	switch name {
	case "next":
		v := c.items[c.next]
		c.next = (c.next + 1) % len(c.items)
		return v, nil
	case "reset":
		c.next = 0
		return nil, nil
	}
	return nil, &value.Error{
		Kind: value.TypeError, Message: "a cycler has no method `" + name + "`", Offset: f.KeyAt,
		Width: f.End - f.KeyAt,
	}
}
