package action

import (
	"context"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/facts"
	"moon/exec/spec"
)

var _ = exec.Register("command", exec.Action{Run: runCommand, Dry: dryExec, Effect: events.ChangeUnknown, Process: true})

func runCommand(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.CommandArgs)
	a, skip := a.Within(&args.WithinArgs)
	cmd := any(facts.AnyList(args.Argv))
	if skip != nil {
		return a.AsUnneeded(cmd, skip)
	}
	start := time.Now()
	return a.AsCommand(cmd, start, a.RunCommand(ctx, args.Argv, a.StdinText(args.Stdin, args.StdinNewline)))
}

func dryExec(_ context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.CommandArgs)
	return predictCommand(a, facts.AnyList(args.Argv), &args.WithinArgs)
}
