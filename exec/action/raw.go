package action

import (
	"context"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
)

var _ = exec.Register("raw", exec.Action{Run: runRaw, Dry: dryRaw, Effect: events.ChangeUnknown})

func runRaw(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.RawArgs)
	job := *a.Job
	job.Args = &spec.ShellArgs{Cmd: args.Cmd, Interpreter: args.Interpreter}
	own := *a
	own.Job = &job
	return runShell(ctx, &own)
}

func dryRaw(_ context.Context, a *exec.Attempt) exec.Result { return a.AsUnrunScript("") }
