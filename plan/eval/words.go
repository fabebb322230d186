package eval

import (
	"maps"
	"slices"

	"github.com/expr-lang/expr/builtin"

	"moon/plan/eval/jinja"
)

// Vocabulary is what templates and conditions may call, each list sorted. The reference is checked against it.
type Vocabulary struct {
	Filters    []string
	Tests      []string // after `is`
	Functions  []string // of templates
	Plays      []string // functions that only the plays form has
	Lookups    []string // what lookup and query of the plays form know
	Methods    []string // of text
	Tags       []string // without those that end another
	Conditions []string // functions of conditions
}

// Words lists them all.
func Words() Vocabulary {
	v := Vocabulary{
		Filters: slices.Sorted(maps.Keys(filters)), Tests: slices.Sorted(maps.Keys(tests)),
		Lookups: slices.Sorted(maps.Keys(plugins)), Methods: slices.Sorted(maps.Keys(stringMethods)),
		Conditions: []string{"is_defined"},
	}
	for name, f := range builtinFunctions {
		if f.plays {
			v.Plays = append(v.Plays, name)
		} else {
			v.Functions = append(v.Functions, name)
		}
	}
	slices.Sort(v.Functions)
	slices.Sort(v.Plays)
	v.Tags = jinja.TagNames()
	for _, name := range builtin.Names {
		if _, ok := refused[name]; !ok {
			v.Conditions = append(v.Conditions, name)
		}
	}
	slices.Sort(v.Conditions)
	return v
}
