package filters

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
var filters map[string]*Filter

// Refused are names of Jinja's filters and functions that a plan cannot have: the same files must give the same plan.
var Refused = map[string]string{
	"lipsum": "its result would differ from one run to the next",
	"now":    "the plan cannot depend on the time; the fact `date_time` is read when the run starts",
}

// Find finds a filter. The error says what to write instead.
func Find(s *call.Shared, name string) (*Filter, *value.Error) {
	given, err := foreign(s, call.Filter, name, true)
	if given == nil && err == nil {
		if f, ok := filters[StripCollection(name)]; ok {
			return f, nil
		}
		if reason, ok := Refused[StripCollection(name)]; ok {
			return nil, &value.Error{Message: "the filter `" + name + "` is not available: " + reason, Offset: -1}
		}
		given, err = foreign(s, call.Filter, name, false)
	}
	switch {
	case err != nil:
		return nil, err
	case given == nil:
		return nil, value.Misspelt("filter", shownName(name), append(FilterNames(), s.ForeignNames(call.Filter)...))
	}
	// What it makes of an undefined value is its own business, and maps whose entries are asked for it may be given as such.
	return &Filter{Params: jinja.Takes("..."), Guards: true, Objects: true, Run: given.Call}, nil
}

// FindTest finds a test.
func FindTest(s *call.Shared, name string) (*Test, *value.Error) {
	given, err := foreign(s, call.Test, name, true)
	if given == nil && err == nil {
		if t, ok := tests[StripCollection(name)]; ok {
			return t, nil
		}
		given, err = foreign(s, call.Test, name, false)
	}
	switch {
	case err != nil:
		return nil, err
	case given == nil:
		return nil, value.Misspelt("test", shownName(name), append(TestNames(), s.ForeignNames(call.Test)...))
	}
	holds := func(c *call.Input) (bool, error) {
		v, err := given.Call(c)
		return value.Truthy(v), err
	}
	return &Test{Params: jinja.Takes("..."), Guards: true, Objects: true, Run: holds}, nil
}

// shownName is a name for an error: where moon has a collection under bare names, one is likely misspelt.
func shownName(name string) string {
	if at := strings.LastIndexByte(name, '.'); at >= 0 && slices.Contains(Mirrored, name[:at]) {
		return name[at+1:]
	}
	return name
}

// Mirrored are the collections whose filters, tests and lookups moon has under their bare names, as far as it has them.
var Mirrored = []string{
	"ansible.builtin", "ansible.legacy", "ansible.netcommon", "ansible.posix", "ansible.utils", "community.crypto", "community.general",
}

// foreign finds what is not moon's own. own asks for what counts before that: what the playbook brings under a bare name, and all of a
// collection that moon does not mirror.
func foreign(s *call.Shared, kind call.Kind, name string, own bool) (call.Callee, *value.Error) {
	at := strings.LastIndexByte(name, '.')
	if at >= 0 && !strings.HasPrefix(name, "ansible.legacy.") {
		theirs := !slices.Contains(Mirrored, name[:at])
		if own && !theirs {
			return nil, nil
		}
		own = false
	}
	given, err := s.FindForeign(kind, name, own)
	if err == nil {
		return given, nil
	}
	e, ok := value.AsError(err)
	if !ok {
		e = &value.Error{Message: value.Sentence(err.Error()), Offset: -1}
	}
	return nil, e
}

// Foreign finds a lookup that is not moon's own; see foreign.
func Foreign(s *call.Shared, name string, own bool) (call.Callee, *value.Error) {
	return foreign(s, call.Lookup, name, own)
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
	f, e := Find(c.Shared, name)
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
	t, e := FindTest(c.Shared, name)
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
