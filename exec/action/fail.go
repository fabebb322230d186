package action

import (
	"context"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

var _ = exec.Register("fail", exec.Action{Run: runFail, Effect: events.ChangeNone})

func runFail(_ context.Context, a *exec.Attempt) exec.Result {
	msg := a.Args.(*spec.FailArgs).Msg
	if noMessage(msg) {
		msg = a.ChooseWords("failed as the playbook asks", "Failed as requested from task")
	}
	return exec.Result{Outcome: events.Failed, Error: printValue(msg), Class: fault.Fatal, Fields: map[string]any{"msg": msg}}
}
