package filters

import (
	"maps"
	"slices"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// filters are those a template may use, by name. It is filled by init because some of them (map, select) look filters
// and tests up themselves.
var filters map[string]*Filter

// Refused are names of Jinja's filters and functions that a plan cannot have: the same files must give the same plan.
var Refused = map[string]string{
	"lipsum": "its result would differ from one run to the next",
	"now":    "the plan cannot depend on the time; the fact `date_time` is read when the run starts",
}

// Find finds a filter. The error says what to write instead.
func Find(name string) (*Filter, *value.Error) {
	name = StripCollection(name)
	if f, ok := filters[name]; ok {
		return f, nil
	}
	if reason, ok := Refused[name]; ok {
		return nil, &value.Error{Message: "the filter `" + name + "` is not available: " + reason, Offset: -1}
	}
	return nil, value.Misspelt("filter", name, FilterNames())
}

// FindTest finds a test.
func FindTest(name string) (*Test, *value.Error) {
	name = StripCollection(name)
	if t, ok := tests[name]; ok {
		return t, nil
	}
	return nil, value.Misspelt("test", name, TestNames())
}

func init() {
	filters = map[string]*Filter{
		"default": {Params: jinja.Takes("default_value? boolean?"), Lazy: lazyDefault, Guards: true, Run: runDefault},
		"ternary": {Params: jinja.Takes("true_val false_val none_val?"), Lazy: lazyTernary, Run: runTernary},
		"bool":    {Run: filterBool},
		"int":     {Params: jinja.Takes("default? base?"), Run: filterInt},
		"float":   {Params: jinja.Takes("default?"), Run: filterFloat},
		"string":  {Run: func(c *call.Input) (any, error) { return c.Print(c.Value), nil }},
		"abs":     {Run: filterAbs},
		"round":   {Params: jinja.Takes("precision? method?"), Run: filterRound},
		"mandatory": {
			Params: jinja.Takes("msg?"), Guards: true,
			Run: filterMandatory,
		},
		"type_debug": {Run: func(c *call.Input) (any, error) { return value.PythonType(c.Value), nil }},
		"attr":       {Params: jinja.Takes("name"), Run: filterAttr},
	}
	filters["d"] = filters["default"]
	maps.Copy(filters, textFilters())
	maps.Copy(filters, listFilters())
	maps.Copy(filters, dataFilters())
	maps.Copy(filters, pathFilters())
	maps.Copy(filters, htmlFilters())
	maps.Copy(filters, fittingFilters())
	maps.Copy(filters, playFilters())
	maps.Copy(filters, addressFilters())
	// These look at one entry of an object, or at none; any other gets a map of all entries, which must be known then.
	for _, name := range []string{
		"default", "mandatory", "type_debug", "length", "count", "first", "last", "list", "reverse", "map", "select", "reject",
		"selectattr", "rejectattr", "extract",
	} {
		filters[name].Objects = true
	}
}

// The arguments of default and ternary are evaluated only where they are needed, so that x | default(y) works while y has no value.
// In map('default', x) they are at hand: both ways lead to the same choice.

func lazyDefault(s call.Scope, n *jinja.Filtering) (any, error) {
	args := placeNodes(n)
	v, err := s.Eval(n.In)
	if err != nil && !value.IsUndefined(err) {
		return nil, err
	}
	return chooseDefault(v, err, args[0] != nil, args[1] != nil, func(i int) (any, error) { return s.Eval(args[i]) })
}

func runDefault(c *call.Input) (any, error) {
	return chooseDefault(c.Value, c.Err, c.Has(0), c.Has(1), func(i int) (any, error) { return c.Args[i], nil })
}

// chooseDefault gives a value, or the first argument if there is no value: also for one that does not hold, if the second argument
// says so. Without an argument it is the empty text, as in Jinja.
func chooseDefault(v any, missing error, hasDefault, hasBoolean bool, arg func(i int) (any, error)) (any, error) {
	if missing == nil {
		if !hasBoolean {
			return v, nil
		}
		// Only now: in templates each argument is evaluated when it is asked for.
		if strict, err := arg(1); err != nil || !value.Truthy(strict) || value.Truthy(v) {
			return v, err
		}
	}
	if !hasDefault {
		return "", nil
	}
	return arg(0)
}

func lazyTernary(s call.Scope, n *jinja.Filtering) (any, error) {
	args := placeNodes(n)
	v, err := s.Eval(n.In)
	if err != nil {
		return nil, err
	}
	return s.Eval(args[chooseTernary(v, args[2] != nil)])
}

func runTernary(c *call.Input) (any, error) {
	return c.Args[chooseTernary(c.Value, c.Has(2))], nil
}

// placeNodes gives the arguments of a filter in the places of its parameters, of which there are three at most.
func placeNodes(n *jinja.Filtering) (nodes [3]jinja.Node) {
	names := n.Def.(*Filter).Params.Names
	for i, a := range n.Args {
		if a.Name != "" {
			// The parser has checked that there is one of that name.
			i = slices.Index(names, a.Name)
		}
		nodes[i] = a.Value
	}
	return nodes
}

// chooseTernary gives which argument of ternary is meant: the first if the value holds, the second if not, and the third for null.
func chooseTernary(v any, hasNone bool) int {
	switch {
	case v == nil && hasNone:
		return 2
	case value.Truthy(v):
		return 0
	default:
		return 1
	}
}

func filterMandatory(c *call.Input) (any, error) {
	if c.Err == nil {
		return c.Value, nil
	}
	if c.Has(0) {
		var name string
		if u, ok := value.AsError(c.Err); ok {
			name = u.Name
		}
		return nil, &value.Error{Kind: value.UndefinedError, Name: name, Message: c.ArgText(0, ""), Offset: -1}
	}
	return nil, c.Err
}

// applyFilter calls a filter by name on a value that is at hand, as map('upper') does.
func applyFilter(c *call.Input, name string, val any, args []any, named map[string]any) (any, error) {
	f, e := Find(name)
	if e != nil {
		return nil, e
	}
	in, err := bindValues(c, name, val, f.Params, args, named)
	if gap, missing := val.(value.Fault); missing && err == nil {
		in.Err = gap.Err
	}
	// As in a template: of a partial map nothing can be had but an entry.
	if err == nil && (!f.Objects || value.IsPartial(in.Value)) {
		err = in.ExpandAll()
	}
	if err != nil {
		return nil, err
	}
	return f.Run(in)
}

// applyTest calls a test by name; err is why there is no value.
func applyTest(c *call.Input, name string, val any, missing error, args []any, named map[string]any) (bool, error) {
	t, e := FindTest(name)
	if e != nil {
		return false, e
	}
	if missing != nil && !t.Guards {
		return false, missing
	}
	in, err := bindValues(c, name, val, t.Params, args, named)
	if err == nil && (!t.Objects || value.IsPartial(in.Value)) {
		err = in.ExpandAll()
	}
	if err != nil {
		return false, err
	}
	in.Err = missing
	return t.Run(in)
}

func filterBool(c *call.Input) (any, error) {
	switch v := c.Value.(type) {
	// Ansible leaves null alone.
	case nil, bool:
		return v, nil
	case string:
		return formOf(c.Shared).says(v), nil
	}
	// Only 1 is true: Ansible compares with it instead of asking for truth.
	n, ok := value.NumberOf(c.Value)
	return ok && value.CompareNumbers(n, 1) == 0, nil
}

func filterAttr(c *call.Input) (any, error) {
	m, ok := value.MapOf(c.Value)
	if !ok {
		return nil, nil
	}
	return m[c.ArgText(0, "")], nil
}

// FilterNames lists the filters, sorted.
func FilterNames() []string { return slices.Sorted(maps.Keys(filters)) }

// TestNames lists the tests, sorted.
func TestNames() []string { return slices.Sorted(maps.Keys(tests)) }

// MethodNames lists the methods of texts, sorted.
func MethodNames() []string { return slices.Sorted(maps.Keys(stringMethods)) }
