package exec

import (
	"context"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("command", action{run: runCommand, dry: dryExec, effect: events.ChangeUnknown})

func runCommand(ctx context.Context, a *attempt) Result {
	args := a.Args.(*spec.CommandArgs)
	a, skip := a.within(&args.WithinArgs)
	if skip != nil {
		return *skip
	}
	return a.command(ctx, args.Argv, args.Stdin)
}

func dryExec(_ context.Context, a *attempt) Result {
	return a.dryCommand(&a.Args.(*spec.CommandArgs).WithinArgs)
}
