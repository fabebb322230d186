package known

import (
	"moon/events"
	"moon/tui/debugger"
)

// PredictionCounts are how many steps would do what.
type PredictionCounts = debugger.PredictionCounts

// PredictedIn counts what the steps below a scope would do. A host that did not answer when the plan was made is known before its
// steps are predicted.
func PredictedIn(m *Run, n int) PredictionCounts {
	r := m.Tree.Steps(n)
	would := m.Predicted.In(m.Tree.ScopeOf(n), r, m.Position())
	if m.Shot.Phase != events.Review || len(m.Plan.Unreached) == 0 {
		return would
	}
	away := map[string]bool{}
	for i := range m.Plan.Unreached {
		away[m.Plan.Unreached[i].Host] = true
	}
	would.Away = 0
	for i := r.From; i < r.To; i++ {
		if !m.Tree.Faces[i].Pending() {
			continue
		}
		if one := m.Predicted.Step(i); away[m.Plan.Steps[i].Host] || one != nil && one.Away {
			would.Away++
		}
	}
	return would
}
