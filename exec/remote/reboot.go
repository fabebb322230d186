package remote

import (
	"context"
	"fmt"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"moon/events"
	"moon/events/steplog"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

// rebootHost starts a host again and waits until it is back: until what tells one start from another is not what it was, and the test
// command succeeds.
func (l *Pool) rebootHost(ctx context.Context, job *exec.Job) exec.Result {
	// A host that calls home is a machine like one that ssh leads to: its agent is back with it.
	if kind := job.Host.Way.Kind; kind != "" && kind != "nats" {
		return exec.Result{
			Outcome: events.Failed, Class: fault.Fatal,
			Error: "what is reached by `connection: " + kind + "` is not rebooted from inside: restart it on the machine that it runs on",
		}
	}
	args := job.Args.(*spec.RebootArgs)
	began := time.Now()
	before, wrong := l.askLine(ctx, job, args.BootTime)
	switch {
	case wrong != nil && wrong.Outcome != events.Failed:
		return *wrong
	case wrong != nil:
		wrong.Error = "boot_time_command: " + wrong.Error
		return *wrong
	case before == "":
		return exec.Result{
			Outcome: events.Failed, Class: fault.Fatal,
			Error: "boot_time_command printed nothing, so it cannot show when the machine is back",
		}
	}
	ended := func(r exec.Result, rebooted bool) exec.Result {
		if ctx.Err() != nil {
			r = exec.Result{Outcome: events.Cancelled, Error: string(fault.Interrupt)}
			if reasonOf(ctx) == fault.Expired {
				r = exec.Result{Outcome: events.Timeout, Error: string(fault.Expired)}
			}
		}
		r.Fields = map[string]any{"rebooted": rebooted, "elapsed": int(time.Since(began).Seconds())}
		return r
	}

	// The connection may break before the command has answered. Only an answer can say that nothing happens.
	if _, wrong := l.askLine(ctx, job, rebootLine(args)); ctx.Err() == nil && wrong != nil && wrong.Outcome == events.Failed {
		wrong.Error = "the machine was not started again: " + wrong.Error
		return ended(*wrong, false)
	}
	why := l.tryUntil(ctx, job, args, args.After, func(ctx context.Context) string {
		now, wrong := l.askLine(ctx, job, args.BootTime)
		switch {
		case wrong != nil:
			return wrong.Error
		case now == before:
			return "it has not gone down yet"
		}
		return ""
	})
	if why != "" {
		return ended(exec.Result{
			Outcome: events.Failed, Class: fault.Fatal,
			Error: fmt.Sprintf("waited %s for %s to come back: %s", args.Timeout, job.Host.Name, why),
		}, false)
	}
	why = l.tryUntil(ctx, job, args, 0, func(ctx context.Context) string {
		if _, wrong := l.askLine(ctx, job, args.Test); wrong != nil {
			return wrong.Error
		}
		return ""
	})
	if why != "" {
		return ended(exec.Result{
			Outcome: events.Failed, Class: fault.Fatal,
			Error: fmt.Sprintf("%s is back, but waited %s for the test command: %s", job.Host.Name, args.Timeout, why),
		}, true)
	}
	return ended(exec.Result{Outcome: events.Changed}, true)
}

// rebootLine is the command line that starts a machine again.
func rebootLine(args *spec.RebootArgs) string {
	if args.Command != "" {
		return args.Command
	}
	message, err := syntax.Quote(args.Msg, syntax.LangPOSIX)
	if err != nil { // it has a zero byte
		message = "''"
	}
	path, err := syntax.Quote(strings.Join(args.Path, ":"), syntax.LangPOSIX)
	if err != nil {
		path = "/sbin:/usr/sbin"
	}
	return fmt.Sprintf("PATH=$PATH:%s; shutdown -r %d %s", path, args.Before/time.Minute, message)
}

// tryUntil tries something on a host until it gives no reason to try again, and returns the last one where time is up. Each try begins
// with a connection that answers: the one there is may lead to a machine that is about to go.
func (l *Pool) tryUntil(ctx context.Context, job *exec.Job, args *spec.RebootArgs, delay time.Duration,
	try func(context.Context) string,
) string {
	within, cancel := context.WithTimeout(ctx, delay+args.Timeout)
	defer cancel()
	why := "it did not answer"
	for pause := delay; ; pause = time.Second {
		select {
		case <-within.Done():
			return why
		case <-time.After(pause):
		}
		l.Redial(*job.Host)
		said := ""
		if err := l.pingHost(within, *job.Host, args.Connect); err != nil {
			said = err.Error()
		} else {
			said = try(within)
		}
		switch {
		case said == "":
			return ""
		case within.Err() == nil: // a try that the end cut short tells less than the one before
			why = said
		}
	}
}

// askLine returns what a command line prints on the host of a job, as the job's user, and why it did not go well: nil, or what an error
// says too. It is not the job's output.
func (l *Pool) askLine(ctx context.Context, job *exec.Job, line string) (string, *exec.Result) {
	one := *job
	one.Action, one.Raw = "shell", map[string]any{"cmd": line}
	one.Args = &spec.ShellArgs{Cmd: line, Interpreter: "/bin/sh"}
	one.Creates, one.Removes, one.Unless, one.OnlyIf, one.Incremental = "", "", "", "", nil
	one.Output = steplog.NewDiscard()
	one.Output.Keep(1 << 16)
	r := l.runAsking(ctx, purpose{}, &one)
	stdout, stderr, _ := one.Output.Kept() // it has no files that could not be read
	if r.Outcome == events.OK || r.Outcome == events.Changed {
		return strings.TrimSpace(string(stdout.Text)), nil
	}
	if text := strings.TrimSpace(string(stderr.Text)); text != "" {
		r.Error += ": " + text
	}
	return "", &r
}
