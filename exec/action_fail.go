package exec

import (
	"context"

	"moon/events"
	"moon/exec/fault"
	"moon/exec/spec"
)

var _ = act("fail", action{run: runFail, effect: events.ChangeNone})

func runFail(_ context.Context, a *attempt) Result {
	msg := a.Args.(*spec.FailArgs).Msg
	if msg == "" {
		msg = a.inWords("failed as the playbook asks", "Failed as requested from task")
	}
	return Result{Outcome: events.Failed, Error: msg, Class: fault.Fatal, Fields: map[string]any{"msg": msg}}
}
