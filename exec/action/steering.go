package action

import (
	"context"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
)

// What steers a play has been carried out when the plan was made: here it only has to have been reached.
var (
	_ = exec.Register("include_tasks", exec.Action{Run: runSteering, Effect: events.ChangeNone})
	_ = exec.Register("include_role", exec.Action{Run: runSteering, Effect: events.ChangeNone})
	_ = exec.Register("include", exec.Action{Run: runSteering, Effect: events.ChangeNone})
	_ = exec.Register("preset", exec.Action{Run: runSteering, Effect: events.ChangeNone})
	_ = exec.Register("loop", exec.Action{Run: runSteering, Effect: events.ChangeNone})
	_ = exec.Register("include_vars", exec.Action{Run: runSteering, Effect: events.ChangeNone})
)

func runSteering(_ context.Context, a *exec.Attempt) exec.Result {
	r := exec.Result{Outcome: events.OK}
	if args, ok := a.Args.(*spec.SteeringArgs); ok {
		r.Fields = args.Registers
	}
	return r
}
