package exec

import "moon/events"

// Known reports whether an action can be carried out, whether it foretells what it does, and what a prediction says
// without that.
func Known(name string) (known, foretells bool, effect events.ChangeKind) {
	a, known := actions[name]
	return known, a.Plan != nil, a.Effect
}
