package exec

import (
	"context"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("command", action{run: runCommand, dry: dryCommand, effect: events.ChangeUnknown})

func runCommand(ctx context.Context, a *attempt) Result {
	args := a.Args.(*spec.CommandArgs)
	return a.command(ctx, args.Argv, args.Stdin)
}
