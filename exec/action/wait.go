package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strconv"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/process"
	"moon/exec/spec"
	"moon/internal/pyregexp"
)

var _ = exec.Register("wait", exec.Action{Run: runWait, Dry: dryWait, Effect: events.ChangeNone})

// Bounds of one look at what is waited for, so that one that hangs is not the last.
const (
	httpTimeout = 30 * time.Second
	greetLimit  = 64 << 10
)

// look reports whether the wait is over, and if not why not.
type look func(context.Context) (done bool, why string)

func lookFor(a *exec.Attempt, args *spec.WaitArgs) look {
	switch args.Condition {
	case "file_exists", "file_absent":
		return func(context.Context) (bool, string) { return lookForFile(a, args) }
	case "port":
		if args.State == "drained" {
			return func(ctx context.Context) (bool, string) { return lookAtConnections(ctx, args) }
		}
		return func(ctx context.Context) (bool, string) { return lookAtPort(ctx, args) }
	case "http":
		return func(ctx context.Context) (bool, string) { return lookAtURL(ctx, args) }
	case "command":
		return func(ctx context.Context) (bool, string) {
			p := a.Prepare([]string{process.ShellPath, "-c", args.Cmd})
			exec.HideSecretArg(a.Secrets, p)
			e := p.Run(ctx)
			switch {
			case e.Err != nil:
				return false, fault.Describe(e.Err)
			case e.Stop != "":
				return false, fmt.Sprintf("`%s` did not end", args.Cmd)
			}
			return e.Code == 0, fmt.Sprintf("`%s`: %s", args.Cmd, e)
		}
	}
	return nil // only time is to pass
}

// errTooLong ends a wait at the action's own timeout, which is not the step's.
var errTooLong = errors.New("waited too long")

func runWait(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.WaitArgs)
	start := time.Now()
	elapsed := func() map[string]any {
		fields := map[string]any{"elapsed": int(time.Since(start).Seconds())}
		if args.Path != "" {
			fields["path"] = args.Path
		}
		if args.Port != 0 {
			fields["port"] = args.Port
		}
		fields["state"] = cmp.Or(args.State, "started")
		if is, err := a.Overlay.Stat(args.Path); args.Path != "" && err == nil {
			maps.Copy(fields, is.Fields())
		}
		return fields
	}
	if !waitFor(ctx, args.Delay) {
		return a.Stopped(fault.Stopped(ctx))
	}
	look := lookFor(a, args)
	if look == nil {
		if !waitFor(ctx, args.Timeout) {
			return a.Stopped(fault.Stopped(ctx))
		}
		return exec.Result{Outcome: events.OK, Fields: elapsed()}
	}
	// The limit of the wait has a cause of its own, so that it is not taken for a stop of the step.
	waiting, cancel := context.WithTimeoutCause(ctx, args.Timeout, errTooLong)
	defer cancel()
	var why string
	for {
		done, reason := look(waiting)
		// The end of the wait interrupts a look, which then reports that instead of what it was waiting for.
		if why == "" || !isOver(waiting) { // a look that the end cut short tells less than the one before
			why = reason
		}
		switch {
		case fault.Stopped(ctx) != "":
			return a.Stopped(fault.Stopped(ctx))
		case done:
			return exec.Result{Outcome: events.OK, Fields: elapsed()}
		}
		if !waitFor(waiting, args.Interval) {
			if fault.Stopped(ctx) != "" {
				return a.Stopped(fault.Stopped(ctx))
			}
			r := exec.Result{Outcome: events.Failed, Error: fmt.Sprintf("waited %s: %s", args.Timeout, why), Fields: elapsed()}
			if args.Msg != "" {
				r.Error = args.Msg
			}
			return r
		}
	}
}

// dryWait looks once. A command is not run.
func dryWait(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.WaitArgs)
	look := lookFor(a, args)
	if look == nil || args.Condition == "command" {
		return exec.UnknownChange("")
	}
	if r := a.ChangedEarlier(args.Path); r != nil && args.Path != "" {
		return *r
	}
	if done, why := look(ctx); !done {
		return exec.UnknownChange("would wait: " + why)
	}
	return exec.Result{Outcome: events.OK, Fields: map[string]any{"elapsed": 0}}
}

// waitFor waits, and reports whether it was left to.
func waitFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		// Both may be ready at once, and then the end counts.
		return ctx.Err() == nil
	}
}

// isOver reports whether there is no time left. Network calls notice their deadline before the context does.
func isOver(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(end)
}

func lookForFile(a *exec.Attempt, args *spec.WaitArgs) (bool, string) {
	there, err := a.Exists(args.Path)
	switch {
	case err != nil:
		return false, fault.Describe(err)
	case args.Absent:
		return !there, args.Path + " exists"
	case !there || args.Search == nil:
		return there, args.Path + " does not exist"
	}
	content, err := fsys.ReadRegular(args.Path)
	if err != nil {
		return false, fault.Describe(err)
	}
	found, err := args.Search.Match(string(content))
	if err != nil {
		return false, err.Error()
	}
	return found, args.Path + " does not contain " + args.SearchRegex
}

func lookAtPort(ctx context.Context, args *spec.WaitArgs) (bool, string) {
	address := net.JoinHostPort(args.Host, strconv.Itoa(args.Port))
	dial, cancel := context.WithTimeout(ctx, args.ConnectTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(dial, "tcp", address)
	switch {
	case err != nil && isOver(ctx): // the end of the wait says nothing about the port
		return false, address + " did not answer in time"
	case err != nil:
		return args.Absent, address + " accepts no connection: " + networkReason(err)
	}
	defer func() { _ = conn.Close() }() // nothing was written
	if args.Absent || args.Search == nil {
		return !args.Absent, address + " accepts connections"
	}
	return readGreeting(dial, conn, args.Search), address + " does not say " + args.SearchRegex
}

// readGreeting reads what a server says first until it matches.
func readGreeting(ctx context.Context, conn net.Conn, search *pyregexp.Pattern) bool {
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetReadDeadline(deadline) // it cannot fail on an open connection
	}
	// Read knows nothing of contexts: closing the connection ends it.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var said []byte
	buf := make([]byte, 4<<10)
	for len(said) < greetLimit {
		n, err := conn.Read(buf)
		said = append(said, buf[:n]...)
		if found, err := search.Match(string(said)); found || err != nil {
			return found
		}
		if err != nil {
			return false
		}
	}
	return false
}

func lookAtURL(ctx context.Context, args *spec.WaitArgs) (bool, string) {
	status, _, err := request{method: "GET", url: args.URL, timeout: httpTimeout}.sendRequest(ctx)
	if err != nil {
		return false, args.URL + ": " + networkReason(err)
	}
	return status == args.Status, fmt.Sprintf("%s answers with %d, not %d", args.URL, status, args.Status)
}
