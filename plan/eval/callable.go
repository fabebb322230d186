package eval

import (
	"slices"

	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// filter is what {{ in | name(args) }} calls.
type filter struct {
	params jinja.Params
	run    func(c *input) (any, error)
	// lazy, if set, is used in templates: it evaluates only the arguments it needs.
	lazy func(s scope, n *jinja.Filtering) (any, error)
	// guards is set for filters that provide for an undefined input.
	guards bool
	// objects is set for filters that look into an Object themselves, in their input and their arguments.
	objects bool
}

// test is what {{ in is name(args) }} calls.
type test struct {
	params jinja.Params
	run    func(c *input) (bool, error)
	guards bool
	// objects is set for tests that look into an Object themselves.
	objects bool
	// field is what a test of a result looks at: `r is failed` is known if r.failed is, whatever else is not.
	field    string
	inverted bool
}

// filterOf and testOf are what the parser found behind a name.
func filterOf(n *jinja.Filtering) *filter { return n.Def.(*filter) }
func testOf(n *jinja.Testing) *test       { return n.Def.(*test) }

// parameters implements callable.
func (f *filter) Parameters() jinja.Params { return f.params }

// parameters implements callable.
func (t *test) Parameters() jinja.Params { return t.params }

// unset marks a parameter without argument.
type unset struct{}

// input is one call of a filter, test, method or function.
type input struct {
	scope
	name  string
	value any   // what stands before the bar; unused by functions
	err   error // why there is no value; only callees that guard see it
	args  []any // one per declared parameter, unset{} if not given
	rest  []any
	named map[string]any // of open parameters
	order []string       // in which the named ones were given
	dir   string         // of a lookup for a loop: where the action searches its files
}

func (c *input) has(i int) bool {
	if i >= len(c.args) {
		return false
	}
	_, missing := c.args[i].(unset)
	return !missing
}

func (c *input) arg(i int) any {
	if !c.has(i) {
		return nil
	}
	return c.args[i]
}

// str gives argument i as text.
func (c *input) str(i int, otherwise string) string {
	if !c.has(i) {
		return otherwise
	}
	return c.print(c.args[i])
}

func (c *input) flag(i int) bool { return c.has(i) && value.Truthy(c.args[i]) }

// integer gives argument i, which must be a whole number.
func (c *input) integer(i, otherwise int) (int, error) {
	if !c.has(i) || c.args[i] == nil {
		return otherwise, nil
	}
	n, ok := value.NumberOf(c.args[i])
	if ok {
		switch n := n.(type) {
		case int:
			return n, nil
		case float64:
			if n == float64(int(n)) {
				return int(n), nil
			}
		}
	}
	return 0, value.Errorf(value.TypeError, "", "must be a whole number, not %s", value.KindOf(c.args[i]))
}

// text gives the value, which must be text or print as text.
func (c *input) text() (string, error) {
	switch c.value.(type) {
	case []any, map[string]any, *value.Dict:
		if c.engine.Python {
			break // as Python does: people take quotes out of a printed list
		}
		return "", value.Errorf(value.TypeError, "", "needs a string, not %s", value.KindOf(c.value))
	}
	return c.print(c.value), nil
}

// items gives the value as a list: the items of a list, the keys of a map, the characters of a string.
func (c *input) items() ([]any, error) { return value.ItemsOf(c.value) }

// mapping gives the value, which must be a map of either kind.
func (c *input) mapping() (any, error) {
	if _, ok := value.MapOf(c.value); !ok {
		return nil, value.Errorf(value.TypeError, "", "needs a map, not %s", value.KindOf(c.value))
	}
	return c.value, nil
}

// bind evaluates arguments and puts each in the place of its parameter. The parser has checked their number and names.
func (s scope) bind(c *input, p jinja.Params, args []jinja.Argument) error {
	nodes := make([]jinja.Node, len(args))
	for i, a := range args {
		nodes[i] = a.Value
	}
	values, err := s.evalAll(nodes)
	if err != nil {
		return err
	}
	c.fill(p, args, values)
	return nil
}

func (c *input) fill(p jinja.Params, args []jinja.Argument, values []any) {
	c.args = make([]any, len(p.Names))
	for i := range c.args {
		c.args[i] = unset{}
	}
	for i, a := range args {
		switch place := slices.Index(p.Names, a.Name); {
		case place >= 0 && a.Name != "":
			c.args[place] = values[i]
		case a.Name != "":
			if c.named == nil {
				c.named = map[string]any{}
			}
			c.named[a.Name] = values[i]
			c.order = append(c.order, a.Name)
		case p.Rest || p.Open:
			c.rest = append(c.rest, values[i])
		default:
			c.args[i] = values[i]
		}
	}
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
	if def.lazy != nil {
		return def.lazy(s, n)
	}
	c, err := s.prepare(n.In, n.Name, def.params, n.Args, def.guards)
	if err == nil && (!def.objects || value.IsPartial(c.value)) {
		err = c.ordinaryAll()
	}
	if err != nil {
		return nil, s.placed(err, n.In)
	}
	v, err := def.run(c)
	if err != nil {
		return nil, s.calleeError("filter", n.Name, err, n.Offset(), n.End-n.Offset())
	}
	return v, nil
}

func (s scope) test(n *jinja.Testing) (any, error) {
	def := testOf(n)
	if def.field != "" {
		if v, ok := s.fieldOf(n); ok {
			return v, nil
		}
	}
	c, err := s.prepare(n.In, n.Name, def.params, n.Args, def.guards)
	if err == nil && (!def.objects || value.IsPartial(c.value)) {
		err = c.ordinaryAll()
	}
	if err != nil {
		return nil, s.placed(err, n.In)
	}
	ok, err := def.run(c)
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
	field, ok := result[def.field].(bool)
	return field != def.inverted, ok
}

// prepare evaluates the input and the arguments of a filter or test. If the callee guards, an undefined input is handed
// to it; anything open keeps the whole call open.
func (s scope) prepare(in jinja.Node, name string, p jinja.Params, args []jinja.Argument, guards bool) (*input, error) {
	c := &input{scope: s, name: name}
	val, err := s.eval(in)
	o, isOpen := value.OpenOf(err)
	if err != nil && !isOpen {
		if !guards || !value.IsUndefined(err) {
			return nil, err
		}
		c.err = err
	}
	c.value = val
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
	if err := s.spend(1 + size(val)); err != nil {
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

// ordinaryAll is ordinary for the input and the arguments of a call.
func (c *input) ordinaryAll() error {
	if !c.objects {
		return nil
	}
	var missing []value.Missing
	one := func(v any) (any, error) {
		plain, err := c.ordinary(v)
		if o, ok := value.OpenOf(err); ok {
			missing = value.UniteMissing(missing, o.Missing)
			return nil, nil
		}
		return plain, err
	}
	var err error
	if c.value, err = one(c.value); err != nil {
		return err
	}
	for _, list := range [][]any{c.args, c.rest} {
		for i := range list {
			if list[i], err = one(list[i]); err != nil {
				return err
			}
		}
	}
	for name := range c.named {
		if c.named[name], err = one(c.named[name]); err != nil {
			return err
		}
	}
	if missing != nil {
		return &value.Open{Missing: missing}
	}
	return nil
}
