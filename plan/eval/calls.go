package eval

import (
	"moon/plan/eval/call"
	"moon/plan/eval/filters"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

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
	// Weights against one node: a callee looks at an item faster than an expression is evaluated, and at text faster still.
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
	if jinja.Unpacks(n.Args) {
		var err error
		if n, err = s.spreadFilter(n); err != nil {
			return nil, err
		}
	}
	v, err := s.filterWithGaps(n)
	list, _ := v.([]any)
	if err != nil || !filterOf(n).Gaps {
		return v, err
	}
	for i, item := range list {
		gap, missing := item.(value.Fault)
		if !missing {
			continue
		}
		err := s.calleeError("filter", n.Name, gap.Err, n.Offset(), n.End-n.Offset()) // whose place is that of the filter that made the gap
		if !s.gaps {
			return nil, err
		}
		if gap.Err, missing = value.AsError(err); missing {
			list[i] = gap
		}
	}
	return v, nil
}

// filterWithGaps is what a filter gives, which may be a list with items without a value.
func (s scope) filterWithGaps(n *jinja.Filtering) (any, error) {
	def := filterOf(n)
	if def.Lazy != nil {
		// Before anything is evaluated: it chooses which of its arguments are.
		return def.Lazy(s.forCall(), n)
	}
	in, chained := n.In.(*jinja.Filtering)
	s.gaps = def.Gaps && chained && filterOf(in).Gaps
	c, err := s.prepare(n.In, n.Name, def.Params, n.Args, def.Guards)
	// Only here, with all arguments at hand: a filter that takes single entries must not make the others be rendered.
	if err == nil && (!def.Objects || value.IsPartial(c.Value)) {
		err = c.ExpandAll()
	}
	if err != nil {
		return nil, s.placed(err, n.In)
	}
	c.Value = s.OmitAsText(c.Value)
	v, err := def.Run(c)
	if err != nil {
		return nil, s.calleeError("filter", n.Name, err, n.Offset(), n.End-n.Offset())
	}
	if n.Name == "mandatory" { // which gives what it is given
		return v, nil
	}
	return s.another(v, c.Value), nil
}

func (s scope) test(n *jinja.Testing) (any, error) {
	def := testOf(n)
	if jinja.Unpacks(n.Args) {
		var err error
		if n, err = s.spreadTest(n); err != nil {
			return nil, err
		}
	}
	if def.Field != "" {
		// Before the whole result is settled, of which another part may not be known.
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
	c.Value = s.OmitAsText(c.Value)
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
	s.gaps = false // of the input alone
	o, isOpen := value.OpenOf(err)
	if err != nil && !isOpen {
		// An error of another kind goes past default() and `is defined`: it is a mistake, not an absence.
		if !guards || !value.IsUndefined(err) {
			return nil, err
		}
		c.Err = err
	}
	c.Value = val
	// Also if the input is open, so that a mistake in an argument is found while planning and all that is missing is named.
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
		// A part of the call has its own place already, which is nearer.
		if e.Offset >= 0 {
			return e
		}
		placed := *e
		placed.Offset, placed.Width = offset, width
		// The message of a missing name is about the name, and not about what asked for it.
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

func (s scope) call(n *jinja.Call) (any, error) {
	if jinja.Unpacks(n.Args) {
		var err error
		if n, err = s.spreadCall(n); err != nil {
			return nil, err
		}
	}
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
	// The template's own names come first, as in Jinja: a macro may be called like a function.
	if v, ok := s.local(f.Name); ok {
		return s.callLocal(n, f, v)
	}
	c := &call.Input{Scope: s.forCall(), Name: f.Name}
	if b, ok := s.engine.builtin(f.Name); ok {
		args, required := splitRequired(f.Name, n.Args)
		err := s.bind(c, b.params, args)
		if err == nil {
			err = c.ExpandAll()
		}
		if err != nil {
			return nil, s.placed(err, f)
		}
		if required != nil {
			if c.Named == nil {
				c.Named = map[string]any{}
			}
			c.Named["default"] = value.Fault{Err: s.undefined(required)}
		}
		v, err := b.run(c)
		if err != nil {
			return nil, s.calleeError("function", f.Name, err, f.Offset(), width)
		}
		return v, nil
	}
	return nil, &value.Error{Kind: value.TypeError, Message: "`" + f.Name + "` is not a function", Offset: f.Offset(), Width: width}
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

func (s scope) callMethod(n *jinja.Call, f *jinja.Member) (any, error) {
	// As it is stored: a loop, a cycler and a list that may change lose what they are when they are settled.
	of, root, err := s.reach(f.Of)
	if err != nil {
		return nil, err
	}
	key, err := s.eval(f.Key)
	if err != nil {
		return nil, err
	}
	name := value.KeyText(key)
	switch of := of.(type) {
	case *cycler:
		return of.call(name, f)
	case *module:
		v, err := s.get(of, key, f)
		if m, ok := v.(*macro); ok && err == nil {
			return s.callMacro(n, name, m)
		}
		if err == nil {
			err = &value.Error{
				Kind: value.TypeError, Message: "`" + name + "` is " + value.KindOf(v) + ", not a macro", Offset: f.KeyAt,
				Width: f.End - f.KeyAt,
			}
		}
		return nil, err
	case []any, map[string]any, *value.Dict:
		if jinja.Changes[name] && s.Changes != nil {
			return s.change(n, f, of, name)
		}
	case *loop:
		if name == "cycle" || name == "changed" {
			return of.call(s, n, f, name)
		}
	}
	// The arguments are evaluated even if this fails: a mistake in them counts more than an open value.
	val, err := s.Settle(of, root)
	err = s.placed(err, f)
	c := &call.Input{Scope: s.forCall(), Name: name, Value: val}
	argErr := s.bind(c, jinja.Takes("..."), n.Args)
	o, isOpen := value.OpenOf(err)
	o2, argsOpen := value.OpenOf(argErr)
	switch {
	case err != nil && !isOpen:
		return nil, err
	case argErr != nil && !argsOpen:
		return nil, argErr
	case isOpen && argsOpen:
		return nil, &value.Open{Missing: value.UniteMissing(o.Missing, o2.Missing)}
	case isOpen:
		return nil, o
	case argsOpen:
		return nil, o2
	}
	if err := s.Spend(1 + size(val)); err != nil {
		return nil, err
	}
	// An object reads only the entry that get() names; RunMethod expands it if it needs more.
	if o, ok := val.(value.Object); !ok || value.IsDict(o) || value.IsPartial(o) {
		if err := c.ExpandAll(); err != nil {
			return nil, s.placed(err, f)
		}
	}
	v, err := filters.RunMethod(c)
	if err != nil {
		return nil, s.calleeError("method", name, err, f.KeyAt, f.End-f.KeyAt)
	}
	return s.another(v, val), nil
}

// change calls a method that changes a list or map for the text that is rendered: the value itself, which may be that of a variable,
// does not change for others. So does Ansible, which gives each text its own copies.
func (s scope) change(n *jinja.Call, f *jinja.Member, of any, name string) (any, error) {
	c := &call.Input{Scope: s.forCall(), Name: name}
	err := s.bind(c, jinja.Takes("..."), n.Args)
	// What it holds from now on is not known, so all that reads it is open.
	if o, ok := value.OpenOf(err); ok {
		s.Changes.Change(of, &value.Unsettled{Missing: o.Missing})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if s.intoItself(c, of) {
		e := value.Errorf(value.TypeError, "add a copy: `.copy()`", "would put %s into itself", value.KindOf(of))
		return nil, s.calleeError("method", name, e, f.KeyAt, f.End-f.KeyAt)
	}
	var now, given any
	switch was := s.Changes.Now(of).(type) {
	case *value.Unsettled: // it stays open, whatever is done with it
		return nil, nil
	default:
		now, given, err = filters.RunChange(c, was)
	}
	if err == nil && !s.Changes.Change(of, now) {
		err = &value.Error{
			Kind: value.TypeError, Message: "would change " + value.KindOf(of) + " that has no name in the template", Offset: -1,
			Hint: "give it one first: `{% set x = … %}`",
		}
	}
	if err != nil {
		return nil, s.calleeError("method", name, err, f.KeyAt, f.End-f.KeyAt)
	}
	return given, nil
}

// intoItself reports whether a method would make a value that has no end. It also makes the arguments ones with identities.
func (s scope) intoItself(c *call.Input, of any) bool {
	holds := s.Changes.Holds
	if c.Name == "extend" || c.Name == "update" { // which take what is in their arguments
		holds = s.Changes.HoldsInside
	}
	for i := range c.Rest {
		c.Rest[i] = value.Distinct(c.Rest[i])
		if holds(c.Rest[i], of) {
			return true
		}
	}
	for name, v := range c.Named {
		c.Named[name] = value.Distinct(v)
		if s.Changes.Holds(c.Named[name], of) {
			return true
		}
	}
	return false
}

// spread gives the arguments of a call with each item of an unpacked list or map in its place, so that the function that takes them
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
			items, err := value.ItemsOf(value.Held(v))
			if err != nil {
				return nil, s.calleeError("unpacking", "*", err, a.At, 1)
			}
			for _, item := range items {
				out = append(out, jinja.Argument{Value: &jinja.Constant{At: jinja.At(a.At), Value: item}, At: a.At, Unpack: a.Unpack})
			}
			continue
		}
		more, err := named(value.Held(v), a)
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
