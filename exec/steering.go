package exec

import (
	"context"

	"moon/events"
	"moon/exec/spec"
)

// What steers a play has been carried out when the plan was made: here it only has to have been reached.
var (
	_ = act("include_tasks", action{run: runSteering, effect: events.ChangeNone})
	_ = act("include_role", action{run: runSteering, effect: events.ChangeNone})
	_ = act("include_vars", action{run: runSteering, effect: events.ChangeNone})
)

func runSteering(_ context.Context, a *attempt) Result {
	r := Result{Outcome: events.OK}
	if args, ok := a.Args.(*spec.SteeringArgs); ok {
		r.Fields = args.Registers
	}
	return r
}
