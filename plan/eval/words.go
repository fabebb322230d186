package eval

import (
	"maps"
	"slices"

	"moon/plan/eval/expr"
	"moon/plan/eval/filters"
	"moon/plan/eval/jinja"
	"moon/plan/eval/lookups"
)

// Vocabulary is what templates and conditions may call, each list sorted. The reference is checked against it.
type Vocabulary struct {
	Filters    []string
	Tests      []string // after `is`
	Functions  []string // of templates
	Plays      []string // functions that only the plays form has
	Lookups    []string // what lookup and query know
	Methods    []string // of text
	Tags       []string // without those that end another
	Conditions []string // functions of conditions
}

// Words lists them all.
func Words() Vocabulary {
	v := Vocabulary{
		Filters: filters.FilterNames(), Tests: filters.TestNames(),
		Lookups: lookups.Names(), Methods: filters.MethodNames(),
	}
	v.Functions = slices.Sorted(maps.Keys(functionsOfSteps))
	// Those of steps are in both tables, and are listed once.
	for name := range functionsOfPlays {
		if _, ok := functionsOfSteps[name]; !ok {
			v.Plays = append(v.Plays, name)
		}
	}
	slices.Sort(v.Plays)
	v.Tags = jinja.TagNames()
	v.Conditions = expr.FunctionNames()
	return v
}
