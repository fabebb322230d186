package sequence

import (
	"slices"

	"moon/plan"
)

// Dependents are the steps that depend on what one of the given steps does, directly or by way of others, in the order of the
// plan and without the given ones: those that use a result of it or need it, the handlers that it notifies, and what it
// decides about. That a step merely comes later is not a dependency.
func Dependents(p *plan.Plan, of []int) []int {
	reached := make([]bool, len(p.Steps))
	given := make([]bool, len(p.Steps))
	for _, i := range of {
		reached[i], given[i] = true, true
	}
	var list []int
	needed := p.NeededScopes()
	for again := true; again; { // a need may name a step that comes later; otherwise one round finds all
		again = false
		touched := map[int]bool{} // the needed scopes of which a step is reached
		for scope := range needed {
			touched[scope] = slices.Contains(reached[p.Scopes[scope].First:p.Scopes[scope].Last], true)
		}
		for i := range p.Steps {
			if reached[i] || !dependsOnAny(p, i, reached, touched) {
				continue
			}
			reached[i], again = true, true
		}
	}
	for i := range p.Steps {
		if reached[i] && !given[i] {
			list = append(list, i)
		}
	}
	return list
}

// dependsOnAny reports whether a step depends directly on one of the steps or scopes that are marked.
func dependsOnAny(p *plan.Plan, step int, marked []bool, scopes map[int]bool) bool {
	s := &p.Steps[step]
	for _, u := range s.Unknowns {
		for _, i := range u.Steps {
			if marked[i] {
				return true
			}
		}
	}
	for _, n := range p.NeedsOf(step) {
		if n.Scope > 0 && scopes[n.Scope] || n.Scope == 0 && marked[n.Step] {
			return true
		}
	}
	for _, i := range s.Notifiers {
		if marked[i] {
			return true
		}
	}
	for _, f := range s.Flushes {
		if marked[f.Step] {
			return true
		}
	}
	for _, g := range s.Gates {
		if slices.Contains(marked[g.Step:g.End()], true) {
			return true
		}
	}
	return false
}
