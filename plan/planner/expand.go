package planner

import (
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// item is an item of a loop as planned. An open one is rendered again when its step runs.
type item struct {
	value any
	open  bool
	about any // of the result of a round: its item
	raw   playbook.Value
	where *vars.Frame
}

// shown is the item as far as it is known, for display.
func (i item) shown() any {
	shown := i.value
	if value.IsPartial(shown) {
		shown = i.about
	} else if i.open {
		shown = plan.ForDisplay(plan.CopyOf(shown))
	}
	return value.Ordinary(shown)
}
