package action

import (
	"context"
	"maps"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
)

var _ = exec.Register("set_fact", exec.Action{Run: runSetFact, Effect: events.ChangeNone})

func runSetFact(_ context.Context, a *exec.Attempt) exec.Result {
	values := maps.Clone(a.Args.(*spec.SetFactArgs).Values)
	name := a.ChooseWords("facts", "ansible_facts")
	return exec.Result{Outcome: events.OK, Values: values, Fields: map[string]any{name: values}}
}
