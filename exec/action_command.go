package exec

import (
	"context"
	"time"

	"moon/events"
	"moon/exec/facts"
	"moon/exec/spec"
)

var _ = act("command", action{run: runCommand, dry: dryExec, effect: events.ChangeUnknown})

func runCommand(ctx context.Context, a *attempt) Result {
	args := a.Args.(*spec.CommandArgs)
	a, skip := a.within(&args.WithinArgs)
	cmd := any(facts.AnyList(args.Argv))
	if skip != nil {
		return a.asUnneeded(cmd, skip)
	}
	start := time.Now()
	return a.asCommand(cmd, start, a.command(ctx, args.Argv, a.lineOf(args.Stdin, args.StdinNewline)))
}

func dryExec(_ context.Context, a *attempt) Result {
	args := a.Args.(*spec.CommandArgs)
	return predictCommand(a, facts.AnyList(args.Argv), &args.WithinArgs)
}
