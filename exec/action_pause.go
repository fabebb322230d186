package exec

import (
	"context"
	"time"

	"moon/events"
	"moon/exec/fault"
	"moon/exec/spec"
)

// pauseAction only lets time pass: the question of a pause that asks has been answered when it runs.
var _ = act("pause", action{run: runPause, dry: dryPause, effect: events.ChangeNone})

func runPause(ctx context.Context, a *attempt) Result {
	args := a.Args.(*spec.PauseArgs)
	start := time.Now()
	if args.Time > 0 && !pause(ctx, args.Time) {
		return a.stop(fault.Stopped(ctx))
	}
	return Result{Outcome: events.OK, Message: args.Prompt, Fields: map[string]any{"elapsed": int(time.Since(start).Seconds())}}
}

func dryPause(_ context.Context, a *attempt) Result {
	return Result{Outcome: events.OK, Message: a.Args.(*spec.PauseArgs).Prompt, Fields: map[string]any{"elapsed": 0}}
}
