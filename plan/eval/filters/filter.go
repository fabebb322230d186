package filters

import (
	"slices"
	"strings"

	"moon/plan/eval/call"
	"moon/plan/eval/jinja"
	"moon/plan/eval/value"
)

// Filter is what {{ in | name(args) }} calls.
type Filter struct {
	Params jinja.Params
	Run    func(c *call.Input) (any, error)
	// lazy, if set, is used in templates: it evaluates only the arguments it needs.
	Lazy func(s call.Scope, n *jinja.Filtering) (any, error)
	// guards is set for filters that provide for an undefined input.
	Guards bool
	// objects is set for filters that look into an Object themselves, in their input and their arguments.
	Objects bool
	// Gaps is set for filters that take lists with items without a value, each a Fault, and may give some: map reads an attribute that
	// not all items have, and select('defined') leaves those behind. No other code sees such a list.
	Gaps bool
}

// Test is what {{ in is name(args) }} calls.
type Test struct {
	Params jinja.Params
	Run    func(c *call.Input) (bool, error)
	Guards bool
	// objects is set for tests that look into an Object themselves.
	Objects bool
	// field is what a test of a result looks at: `r is failed` is known if r.failed is, whatever else is not.
	Field    string
	Inverted bool
}

// Parameters implements callable.
func (f *Filter) Parameters() jinja.Params { return f.Params }

// Parameters implements callable.
func (t *Test) Parameters() jinja.Params { return t.Params }

func boolOf(ok bool, err *value.Error) (bool, error) {
	if err != nil {
		return false, err
	}
	return ok, nil
}

func ofValue(f func(v any) bool) *Test {
	return &Test{Run: func(c *call.Input) (bool, error) { return f(c.Value), nil }}
}

func onText(f func(string) string) func(c *call.Input) (any, error) {
	return func(c *call.Input) (any, error) {
		s, err := c.ValueText()
		if err != nil {
			return nil, err
		}
		return f(s), nil
	}
}

// StripCollection gives the name of a filter or test without the collection that Ansible says it is from, as in map('ansible.builtin.int').
func StripCollection(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// WhiteSpace is what the methods of texts strip and split at, as in Python.
const WhiteSpace = " \t\r\n\f\v"

func bindValues(c *call.Input, name string, val any, p jinja.Params, args []any, named map[string]any) (*call.Input, error) {
	// map('x') calls this for every item, and a filter may cost nothing by itself.
	if err := c.Spend(1); err != nil {
		return nil, err
	}
	// What the parser checks in a template is checked here at run time: map takes the name of its filter from a value.
	if len(args) > len(p.Names) && !p.Rest && !p.Open {
		return nil, value.Errorf(value.TypeError, "", "`%s` takes %s, not %s", name, p.Count(), jinja.Counted(len(args), "argument"))
	}
	in := &call.Input{Scope: c.Scope, Name: name, Value: val}
	list := make([]jinja.Argument, len(args), len(args)+len(named))
	// A copy, because named ones are appended and the caller uses args for the next item.
	values := slices.Clone(args)
	// Sorted, so that the same mistake always gives the same message.
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
