package eval

import (
	"maps"
	"slices"
	"strings"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// filters are those a template may use, by name. It is filled by init because some of them (map, select) look filters
// and tests up themselves.
var filters map[string]*filter

// refused are names of Jinja's filters and functions that a plan cannot have: the same files must give the same plan.
var refused = map[string]string{
	"lipsum": "its result would differ from one run to the next",
	"now":    "the plan cannot depend on the time; the fact `date_time` is read when the run starts",
}

// unqualified is the name of a filter or test without the collection that Ansible says it is from, as in map('ansible.builtin.int').
func unqualified(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func findFilter(name string) (*filter, *value.Error) {
	name = unqualified(name)
	if f, ok := filters[name]; ok {
		return f, nil
	}
	if reason, ok := refused[name]; ok {
		return nil, &value.Error{Message: "the filter `" + name + "` is not available: " + reason, Offset: -1}
	}
	return nil, value.Misspelt("filter", name, slices.Sorted(maps.Keys(filters)))
}

func findTest(name string) (*test, *value.Error) {
	name = unqualified(name)
	if t, ok := tests[name]; ok {
		return t, nil
	}
	return nil, value.Misspelt("test", name, slices.Sorted(maps.Keys(tests)))
}

func init() {
	filters = map[string]*filter{
		"default": {params: jinja.Takes("default_value? boolean?"), lazy: lazyDefault, guards: true, run: runDefault},
		"ternary": {params: jinja.Takes("true_val false_val none_val?"), lazy: lazyTernary, run: runTernary},
		"bool":    {run: filterBool},
		"int":     {params: jinja.Takes("default? base?"), run: filterInt},
		"float":   {params: jinja.Takes("default?"), run: filterFloat},
		"string":  {run: func(c *call.Input) (any, error) { return c.Print(c.Value), nil }},
		"abs":     {run: filterAbs},
		"round":   {params: jinja.Takes("precision? method?"), run: filterRound},
		"mandatory": {
			params: jinja.Takes("msg?"), guards: true,
			run: filterMandatory,
		},
		"type_debug": {run: func(c *call.Input) (any, error) { return value.PythonType(c.Value), nil }},
		"attr":       {params: jinja.Takes("name"), run: filterAttr},
	}
	filters["d"] = filters["default"]
	maps.Copy(filters, textFilters())
	maps.Copy(filters, listFilters())
	maps.Copy(filters, dataFilters())
	maps.Copy(filters, pathFilters())
	maps.Copy(filters, htmlFilters())
	maps.Copy(filters, fittingFilters())
	maps.Copy(filters, playFilters())
	for _, name := range []string{
		"default", "mandatory", "type_debug", "length", "count", "first", "last", "list", "reverse", "map", "select", "reject",
		"selectattr", "rejectattr", "extract",
	} {
		filters[name].objects = true
	}
}

// lazyDefault evaluates the default only where it is needed, so that x | default(y) works while y has no value.
func lazyDefault(s call.Scope, n *jinja.Filtering) (any, error) {
	var otherwise, boolean jinja.Node
	for i, a := range n.Args {
		if a.Name == "boolean" || a.Name == "" && i == 1 {
			boolean = a.Value
		} else {
			otherwise = a.Value
		}
	}
	v, err := s.Eval(n.In)
	switch {
	case err != nil && !value.IsUndefined(err):
		return nil, err
	case err == nil && boolean == nil:
		return v, nil
	case err == nil:
		strict, err := s.Eval(boolean)
		if err != nil || !value.Truthy(strict) || value.Truthy(v) {
			return v, err
		}
	}
	if otherwise == nil {
		return "", nil
	}
	return s.Eval(otherwise)
}

// runDefault serves map('default', x), whose inputs always have a value.
func runDefault(c *call.Input) (any, error) {
	if c.Err == nil && (!c.ArgTruth(1) || value.Truthy(c.Value)) {
		return c.Value, nil
	}
	if !c.Has(0) {
		return "", nil
	}
	return c.Args[0], nil
}

func lazyTernary(s call.Scope, n *jinja.Filtering) (any, error) {
	var choices [3]jinja.Node
	for i, a := range n.Args {
		if a.Name != "" {
			i = slices.Index(filterOf(n).params.Names, a.Name)
		}
		choices[i] = a.Value
	}
	v, err := s.Eval(n.In)
	if err != nil {
		return nil, err
	}
	return s.Eval(choices[chooseTernary(v, choices[2] != nil)])
}

func runTernary(c *call.Input) (any, error) {
	return c.Args[chooseTernary(c.Value, c.Has(2))], nil
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
	f, e := findFilter(name)
	if e != nil {
		return nil, e
	}
	in, err := bindValues(c, name, val, f.params, args, named)
	if err == nil && (!f.objects || value.IsPartial(in.Value)) {
		err = in.ExpandAll()
	}
	if err != nil {
		return nil, err
	}
	return f.run(in)
}

// applyTest calls a test by name; err is why there is no value.
func applyTest(c *call.Input, name string, val any, missing error, args []any, named map[string]any) (bool, error) {
	t, e := findTest(name)
	if e != nil {
		return false, e
	}
	if missing != nil && !t.guards {
		return false, missing
	}
	in, err := bindValues(c, name, val, t.params, args, named)
	if err == nil && (!t.objects || value.IsPartial(in.Value)) {
		err = in.ExpandAll()
	}
	if err != nil {
		return false, err
	}
	in.Err = missing
	return t.run(in)
}

func bindValues(c *call.Input, name string, val any, p jinja.Params, args []any, named map[string]any) (*call.Input, error) {
	if err := c.Spend(1); err != nil {
		return nil, err
	}
	if len(args) > len(p.Names) && !p.Rest && !p.Open {
		return nil, value.Errorf(value.TypeError, "", "`%s` takes %s, not %s", name, p.Count(), jinja.Counted(len(args), "argument"))
	}
	in := &call.Input{Scope: c.Scope, Name: name, Value: val}
	list := make([]jinja.Argument, len(args), len(args)+len(named))
	values := slices.Clone(args)
	for _, key := range value.SortedKeys(named) {
		if !p.Open && !slices.Contains(p.Names, key) {
			return nil, value.Errorf(value.TypeError, "", "`%s` has no argument `%s`", name, key)
		}
		list = append(list, jinja.Argument{Name: key})
		values = append(values, named[key])
	}
	in.Fill(p, list, values)
	for i := range p.Required {
		if !in.Has(i) && !p.Rest {
			return nil, value.Errorf(value.TypeError, "", "`%s` needs the argument `%s`", name, p.Names[i])
		}
	}
	return in, nil
}

func filterBool(c *call.Input) (any, error) {
	switch v := c.Value.(type) {
	case nil, bool:
		return v, nil
	case string:
		if c.Python {
			return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(v)), nil
		}
		return value.SaysYes(v), nil
	}
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
