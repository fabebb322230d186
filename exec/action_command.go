package exec

import (
	"context"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("command", action{run: runCommand, dry: dryCommand, effect: events.ChangeUnknown})

func runCommand(ctx context.Context, a *attempt) Result {
	args := a.Args.(*spec.CommandArgs)
	p := a.noisy(args.Argv)
	p.stdin = args.Stdin
	return a.ended(p.run(ctx), events.Changed)
}
