package eval

import (
	"maps"
	"slices"
)

// NewBounded is New with fewer steps per rendering, for tests of what happens at the end of them.
func NewBounded(steps int) *Engine {
	e := New()
	e.maxSteps = steps
	return e
}

// Callables lists the names of all filters, tests, functions and methods of strings.
func Callables() (filterNames, testNames, functionNames, methodNames []string) {
	return slices.Sorted(maps.Keys(filters)), slices.Sorted(maps.Keys(tests)), slices.Sorted(maps.Keys(builtinFunctions)),
		slices.Sorted(maps.Keys(stringMethods))
}
