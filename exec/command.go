package exec

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"moon/events"
	"moon/exec/fault"
	"moon/exec/process"
	"moon/exec/spec"
)

// Prepare prepares a command with the step's environment. Its output is discarded.
func (a *Attempt) Prepare(argv []string) *process.Command {
	run, _, ofRun := strings.Cut(a.Attempt, "/")
	if !ofRun {
		run = ""
	}
	return &process.Command{
		Argv: argv, Env: a.environ(), Dir: a.dir(), Grace: a.grace, Now: a.Now, Watch: a.watch, RunID: run,
		Attempt: a.Attempt, Owner: a.Owner,
	}
}

// dir is where the step's commands run.
func (a *Attempt) dir() string {
	// Other errors show when the command starts, with the right words.
	if !a.Roams || !errors.Is(unix.Access(a.Cwd, unix.X_OK), unix.EACCES) {
		return a.Cwd
	}
	if home, err := os.UserHomeDir(); err == nil && unix.Access(home, unix.X_OK) == nil {
		return home
	}
	return "/"
}

// PrepareWithOutput prepares a command whose output is the step's.
func (a *Attempt) PrepareWithOutput(argv []string) *process.Command {
	p := a.Prepare(argv)
	if a.Output != nil {
		p.Stdout, p.Stderr = a.Output.Stdout(), a.Output.Stderr()
	}
	return p
}

// Within is the attempt where the command's own arguments have it run. skip is not nil where they say that it need not.
func (a *Attempt) Within(args *spec.WithinArgs) (own *Attempt, skip *Result) {
	job := *a.Job
	job.Creates, job.Removes = args.Creates, args.Removes
	if args.Chdir != "" {
		job.Cwd, job.Roams = args.Chdir, false
	}
	copied := *a
	copied.Job = &job
	return &copied, copied.Skips()
}

// RunCommand runs the command that is the step.
func (a *Attempt) RunCommand(ctx context.Context, argv []string, stdin *string) Result {
	if a.Interactive {
		return a.RunOnTerminal(ctx, argv)
	}
	p := a.PrepareWithOutput(argv)
	p.Stdin = stdin
	p.KeepTail()
	return AddTerminalHint(p, a.EndedAs(p.Run(ctx), events.Changed))
}

// terminalHint is added to the error of a step that failed because it wanted a terminal.
const terminalHint = " (it wanted a terminal, which a step has only with `interactive: true`)"

// AddTerminalHint names `interactive` in the result of a process that failed and said that it wanted a terminal.
func AddTerminalHint(p *process.Command, r Result) Result {
	if r.Outcome == events.Failed && r.RC != nil && p.WantedTerminal() {
		r.Error += terminalHint
	}
	return r
}

// environ is moon's own environment with the step's on top, but without what is read from it as a secret: a step that needs it
// says so.
func (a *Attempt) environ() []string {
	own := os.Environ()
	env := make([]string, 0, len(own)+len(a.Env)+2)
	for _, entry := range own {
		// PWD and moon's own mark belong to the parent; the child gets its own.
		name, _, _ := strings.Cut(entry, "=")
		if _, ok := a.Env[name]; !ok && name != "PWD" && name != process.MarkVariable && !a.Secrets.Env(name) {
			env = append(env, entry)
		}
	}
	if a.Attempt != "" {
		env = append(env, process.MarkVariable+"="+process.NestMark(os.Getenv(process.MarkVariable), a.Attempt))
	}
	if _, ok := a.Env["PWD"]; !ok {
		env = append(env, "PWD="+a.dir())
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		env = append(env, name+"="+a.Env[name])
	}
	return env
}

// EndedAs is the result of a command that ran. Success is what it means to succeed.
func (a *Attempt) EndedAs(e process.Exit, success events.Outcome) Result {
	r := Result{Outcome: success, RC: &e.Code}
	switch {
	case e.Code == process.NotRun:
		r = a.Stopped(e.Stop)
	case e.Err != nil:
		r = Result{Outcome: events.Failed, Class: fault.Fatal, Error: fault.Describe(e.Err)}
		if c, ok := errors.AsType[fault.CommandError](e.Err); ok {
			r.RC = c.RC
		}
	case e.Stop == fault.Expired:
		// A process that obeys SIGTERM and exits with 0 has still not done its work in time.
		r.Outcome, r.Error = events.Timeout, a.expired()
	case e.Code == 0:
		// It may have been asked to stop; it ended well all the same.
	case e.Stop != "":
		r.Outcome, r.Error = events.Cancelled, string(e.Stop)
	default:
		r.Outcome, r.Error = events.Failed, e.String()
	}
	switch others := process.DescribeOrphans(e.Others); {
	// The output is closed after a while, or a daemon would keep the step from ending.
	case e.Held && others != "":
		r.Warnings = append(r.Warnings,
			"left running: "+others+"; it still held the output, and what it prints from now on is lost (send it to a file)")
	case e.Held:
		r.Warnings = append(r.Warnings,
			"a process in the background still held the output; what it prints from now on is lost (send it to a file)")
	case others != "":
		r.Warnings = append(r.Warnings, "killed with it, although not in its group any more: "+others)
	}
	if a.Output != nil {
		if err := a.Output.Err(); err != nil {
			r.Warnings = append(r.Warnings, fault.Describe(err))
		}
	}
	return r
}
