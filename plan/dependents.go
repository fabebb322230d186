package plan

// Dependents are the steps that depend on what one of the given steps does, directly or by way of others, in the order of the
// plan and without the given ones: those that use a result of it or need it, the handlers that it notifies, and what it
// decides about. That a step merely comes later is not a dependency.
func (p *Plan) Dependents(of []int) []int {
	reached := make([]bool, len(p.Steps))
	given := make([]bool, len(p.Steps))
	for _, i := range of {
		reached[i], given[i] = true, true
	}
	var list []int
	for again := true; again; { // a need may name a step that comes later; otherwise one round finds all
		again = false
		for i := range p.Steps {
			if reached[i] || !p.Steps[i].dependsOnAny(reached) {
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

// dependsOnAny reports whether a step depends directly on one of those that are marked.
func (s *Step) dependsOnAny(marked []bool) bool {
	for _, u := range s.Unknowns {
		for _, i := range u.Steps {
			if marked[i] {
				return true
			}
		}
	}
	for _, n := range s.Needs {
		if marked[n.Step] {
			return true
		}
	}
	for _, i := range s.Notifiers {
		if marked[i] {
			return true
		}
	}
	for _, g := range s.Gates {
		if marked[g.Step] {
			return true
		}
	}
	return false
}
