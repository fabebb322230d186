package exec

import (
	"context"
	"maps"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("set_fact", action{run: runSetFact, effect: events.ChangeNone})

func runSetFact(_ context.Context, a *attempt) Result {
	values := maps.Clone(a.Args.(*spec.SetFactArgs).Values)
	name := "facts"
	if a.Plays {
		name = "ansible_facts"
	}
	return Result{Outcome: events.OK, Values: values, Fields: map[string]any{name: values}}
}
