package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"moon/engine/history"
	"moon/engine/statefile"
	"moon/events/rundir"
)

// refusedStart is the end of moon because a run may not begin.
func refusedStart(err error) error {
	if busy, ok := errors.AsType[*history.BusyError](err); ok {
		return NewExit(ExitDisk, fmt.Sprintf("%s; nothing was run\n  moon attach %s follows it; --wait-lock TIME waits until it has ended", busy, busy.ID))
	}
	if stale, ok := errors.AsType[*statefile.StaleError](err); ok {
		return NewExit(ExitStale, stale.Error()+"; nothing was run\n  plan again")
	}
	return NewExit(ExitDisk, WithRoom(err))
}

// WhenFree does something that another run of the playbook may keep from beginning. It waits so long for that run to end, and then does
// it from the start: what is recorded has changed meanwhile.
func WhenFree(call *Invocation, wait time.Duration, do func() error) error {
	deadline := time.Now().Add(wait)
	said := ""
	for {
		err := do()
		busy, ok := errors.AsType[*history.BusyError](err)
		if !ok {
			return err
		}
		if time.Now().After(deadline) {
			return refusedStart(err)
		}
		if busy.ID != said {
			said = busy.ID
			fmt.Fprintf(call.Err, "moon: waiting for run %s (%s)\n", busy.ID, busy.Owner)
		}
		if err := call.waitFor(busy, deadline); err != nil {
			return err
		}
	}
}

// waitFor waits until a run has ended.
func (call *Invocation) waitFor(run *history.BusyError, deadline time.Time) error {
	state, err := StateDir()
	if err != nil {
		return err
	}
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	for history.Taken(rundir.Of(state.Runs(), run.ID)) && time.Now().Before(deadline) {
		select {
		case <-ctx.Done():
			return NewExit(ExitInterrupted, "interrupted; nothing was run")
		case <-time.After(250 * time.Millisecond):
		}
	}
	return nil
}
