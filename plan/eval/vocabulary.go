package eval

import (
	"moon/plan/eval/call"
	"moon/plan/eval/filters"
	"moon/plan/eval/jinja"
)

// vocabulary is the language of templates: the filters, tests and functions of this package, and what its engine knows besides.
type vocabulary struct{ of *call.Shared }

func (v vocabulary) FindFilter(name string) (jinja.Callable, *jinja.Error) {
	f, err := filters.Find(v.of, name)
	return f, err.ForParser()
}

func (v vocabulary) FindTest(name string) (jinja.Callable, *jinja.Error) {
	t, err := filters.FindTest(v.of, name)
	return t, err.ForParser()
}

func (vocabulary) FindFunction(name string) (jinja.Callable, bool) {
	f, ok := functionsOfPlays[name]
	return f, ok
}

// Parameters implements callable.
func (f function) Parameters() jinja.Params { return f.params }

// filterOf and testOf are what the parser found behind a name.
func filterOf(n *jinja.Filtering) *filters.Filter { return n.Def.(*filters.Filter) }

func testOf(n *jinja.Testing) *filters.Test { return n.Def.(*filters.Test) }
