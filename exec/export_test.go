package exec

import "moon/events"

// Known reports whether an action can be carried out, whether it predicts what it does, and what a prediction says
// without that.
func Known(name string) (known, predicts bool, effect events.ChangeKind) {
	a, known := actions[name]
	return known, a.Plan != nil, a.Effect
}
