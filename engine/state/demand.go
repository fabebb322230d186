package state

import "moon/plan"

// DemandsPeople reports whether certain people have to confirm a step of the plan.
func DemandsPeople(p *plan.Plan) bool {
	for i := range p.Steps { // by number: a step is large
		if s := &p.Steps[i]; s.Confirmers != nil && !s.Excluded {
			return true
		}
	}
	return false
}
