package action

import (
	"context"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

// pauseAction only lets time pass: the question of a pause that asks has been answered when it runs.
var _ = exec.Register("pause", exec.Action{Run: runPause, Dry: dryPause, Effect: events.ChangeNone})

func runPause(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.PauseArgs)
	start := time.Now()
	if args.Time > 0 && !waitFor(ctx, args.Time) {
		return a.Stopped(fault.Stopped(ctx))
	}
	return exec.Result{Outcome: events.OK, Message: args.Prompt, Fields: map[string]any{"elapsed": int(time.Since(start).Seconds())}}
}

func dryPause(_ context.Context, a *exec.Attempt) exec.Result {
	return exec.Result{Outcome: events.OK, Message: a.Args.(*spec.PauseArgs).Prompt, Fields: map[string]any{"elapsed": 0}}
}
