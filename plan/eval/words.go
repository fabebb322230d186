package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/builtin"
)

// Vocabulary is what templates and conditions may call, each list sorted. The reference is checked against it.
type Vocabulary struct {
	Filters    []string
	Tests      []string // after `is`
	Functions  []string // of templates
	Methods    []string // of text
	Tags       []string // without those that end another
	Conditions []string // functions of conditions
}

// Words lists them all.
func Words() Vocabulary {
	v := Vocabulary{
		Filters: slices.Sorted(maps.Keys(filters)), Tests: slices.Sorted(maps.Keys(tests)),
		Functions: slices.Sorted(maps.Keys(builtinFunctions)), Methods: slices.Sorted(maps.Keys(stringMethods)),
		Conditions: []string{"is_defined"},
	}
	for name := range tags {
		if begun, ok := strings.CutPrefix(name, "end"); !ok || tags[begun] == nil {
			v.Tags = append(v.Tags, name)
		}
	}
	v.Tags = append(v.Tags, "raw", "verbatim") // read before there are tags
	slices.Sort(v.Tags)
	for _, name := range builtin.Names {
		if _, ok := refused[name]; !ok {
			v.Conditions = append(v.Conditions, name)
		}
	}
	slices.Sort(v.Conditions)
	return v
}
