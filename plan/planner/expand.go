package planner

import (
	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/playbook"
)

// circleShown is how many files of each end of a long circle are named.
const circleShown = 5

// mayHide reports whether no_log hides a task: then its items give its steps neither names nor paths. A value that is
// not written out counts as true, since it may be another one in each round.
func mayHide(noLog playbook.Value) bool {
	if noLog.IsZero() {
		return false
	}
	hide, written := spec.ParseBool(plan.Plain(noLog))
	return hide || !written
}

// item is an item of a loop as planned. An open one is rendered again when its step runs.
type item struct {
	value any
	open  bool
	raw   playbook.Value
	where *plan.Frame
}

// shown is the item as far as it is known, for display.
func (i item) shown() any {
	shown := i.value
	if partial, ok := shown.(eval.Partial); ok {
		shown = partial.Known[partial.Known["ansible_loop_var"].(string)]
	} else if i.open {
		shown = plan.ForDisplay(plan.CopyOf(shown))
	}
	return eval.Ordinary(shown)
}
