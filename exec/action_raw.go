package exec

import (
	"context"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("raw", action{run: runRaw, dry: dryRaw, effect: events.ChangeUnknown})

func runRaw(ctx context.Context, a *attempt) Result {
	args := a.Args.(*spec.RawArgs)
	job := *a.Job
	job.Args = &spec.ShellArgs{Cmd: args.Cmd, Interpreter: args.Interpreter}
	own := *a
	own.Job = &job
	return runShell(ctx, &own)
}

func dryRaw(_ context.Context, a *attempt) Result { return a.asUnrun(nil) }
