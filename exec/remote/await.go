package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

// awaitHost waits until a host can be reached and its agent answers. A connection that is open already may lead to a machine that is
// about to start again, so it is asked too, and given up where no answer comes.
func (l *Pool) awaitHost(ctx context.Context, job *exec.Job) exec.Result {
	args := job.Args.(*spec.WaitForConnectionArgs)
	began := time.Now()
	within, cancel := context.WithTimeout(ctx, args.Delay+args.Timeout)
	defer cancel()
	pause := args.Delay
	why := errors.New("it did not answer")
	for {
		select {
		case <-within.Done():
		case <-time.After(pause):
		}
		if within.Err() == nil {
			// A connection that failed before is forgotten, so that each round tries.
			l.Redial(*job.Host)
			err := l.pingHost(within, *job.Host, args.Connect)
			if err == nil {
				return exec.Result{Outcome: events.OK, Fields: map[string]any{"elapsed": int(time.Since(began).Seconds())}}
			}
			if within.Err() == nil { // a try that the end cut short tells less than the one before
				why = err
			}
		}
		switch {
		case ctx.Err() != nil && reasonOf(ctx) == fault.Expired:
			return exec.Result{Outcome: events.Timeout, Error: string(fault.Expired)}
		case ctx.Err() != nil:
			return exec.Result{Outcome: events.Cancelled, Error: string(fault.Interrupt)}
		case within.Err() != nil:
			return exec.Result{
				Outcome: events.Failed, Class: fault.Fatal, Error: fmt.Sprintf("waited %s for %s: %v", args.Timeout, job.Host.Name, why),
				Fields: map[string]any{"elapsed": int(time.Since(began).Seconds())},
			}
		}
		pause = args.Sleep
	}
}

// pingHost has the agent of a host answer. A connection over which no answer comes within a time is given up.
func (l *Pool) pingHost(ctx context.Context, h exec.Host, patience time.Duration) error {
	o, err := l.openConn(ctx, connKey{host: h})
	if err != nil {
		return err
	}
	now := make(chan struct{})
	late := time.AfterFunc(patience, func() { close(now) })
	defer late.Stop()
	_, _, err = o.conn.runJob(ctx, purpose{what: forPing}, l.Local, &exec.Job{Host: &h, Now: now})
	return err
}
