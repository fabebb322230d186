package exec

import (
	"context"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("fail", action{run: runFail, effect: events.ChangeNone, inward: true})

func runFail(_ context.Context, a *attempt) Result {
	msg := a.Args.(*spec.FailArgs).Msg
	return Result{Outcome: events.Failed, Error: msg, Class: Fatal, Fields: map[string]any{"msg": msg}}
}
