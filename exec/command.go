package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"moon/events"
	"moon/exec/spec"
)

const shellPath = "/bin/sh"

// The statuses a shell gives for what it cannot run.
const (
	rcNotExecutable = 126
	rcNotFound      = 127
)

// commandError is a command that did not end well, as the error of a step.
type commandError struct {
	message string
	rc      *int
	class   string
}

func (e commandError) Error() string { return e.message }

func notStarted(rc int, format string, args ...any) error {
	return commandError{fmt.Sprintf(format, args...), &rc, Fatal}
}

// process prepares a command with the step's environment. Its output is discarded.
func (a *attempt) process(argv []string) *process {
	run, _, ofRun := strings.Cut(a.Attempt, "/")
	if !ofRun {
		run = ""
	}
	return &process{argv: argv, env: a.environ(), dir: a.dir(), grace: a.grace, now: a.Now, watch: a.watch, runID: run, attempt: a.Attempt}
}

// dir is where the step's commands run.
func (a *attempt) dir() string {
	if !a.Roams || !errors.Is(unix.Access(a.Cwd, unix.X_OK), unix.EACCES) {
		return a.Cwd
	}
	if home, err := os.UserHomeDir(); err == nil && unix.Access(home, unix.X_OK) == nil {
		return home
	}
	return "/"
}

// noisy prepares a command whose output is the step's.
func (a *attempt) noisy(argv []string) *process {
	p := a.process(argv)
	if a.Output != nil {
		p.stdout, p.stderr = a.Output.Stdout(), a.Output.Stderr()
	}
	return p
}

// within is the attempt where the command's own arguments have it run. skip is not nil where they say that it need not.
func (a *attempt) within(args *spec.WithinArgs) (own *attempt, skip *Result) {
	job := *a.Job
	job.Creates, job.Removes = args.Creates, args.Removes
	if args.Chdir != "" {
		job.Cwd, job.Roams = args.Chdir, false
	}
	copied := *a
	copied.Job = &job
	return &copied, copied.skips()
}

// command runs the command that is the step.
func (a *attempt) command(ctx context.Context, argv []string, stdin *string) Result {
	if a.Interactive {
		return a.onTerminal(ctx, argv)
	}
	p := a.noisy(argv)
	p.stdin = stdin
	p.keepTail()
	return p.withHint(a.ended(p.run(ctx), events.Changed))
}

// environ is moon's own environment with the step's on top, but without what is read from it as a secret: a step that needs it
// says so.
func (a *attempt) environ() []string {
	own := os.Environ()
	env := make([]string, 0, len(own)+len(a.Env)+2)
	for _, entry := range own {
		name, _, _ := strings.Cut(entry, "=")
		if _, ok := a.Env[name]; !ok && name != "PWD" && name != attemptMark && !a.Secrets.Env(name) {
			env = append(env, entry)
		}
	}
	if a.Attempt != "" {
		env = append(env, attemptMark+"="+marked(os.Getenv(attemptMark), a.Attempt))
	}
	if _, ok := a.Env["PWD"]; !ok {
		env = append(env, "PWD="+a.dir())
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		env = append(env, name+"="+a.Env[name])
	}
	return env
}

// ended is the result of a command that ran. Success is what it means to succeed.
func (a *attempt) ended(e exit, success events.Outcome) Result {
	r := Result{Outcome: success, RC: &e.code}
	switch {
	case e.code == notRun:
		r = a.stop(e.stop)
	case e.err != nil:
		r = Result{Outcome: events.Failed, Class: Fatal, Error: describe(e.err)}
		if c, ok := errors.AsType[commandError](e.err); ok {
			r.RC = c.rc
		}
	case e.stop == Expired:
		// A process that obeys SIGTERM and exits with 0 has still not done its work in time.
		r.Outcome, r.Error = events.Timeout, a.expired()
	case e.code == 0:
		// It may have been told to stop; it ended well all the same.
	case e.stop != "":
		r.Outcome, r.Error = events.Cancelled, string(e.stop)
	default:
		r.Outcome, r.Error = events.Failed, e.String()
	}
	switch others := escapees(e.others); {
	case e.held && others != "":
		r.Warnings = append(r.Warnings, "left running: "+others+"; it still held the output, and what it prints from now on is lost (send it to a file)")
	case e.held:
		r.Warnings = append(r.Warnings, "a process in the background still held the output; what it prints from now on is lost (send it to a file)")
	case others != "":
		r.Warnings = append(r.Warnings, "killed with it, although not in its group any more: "+others)
	}
	if a.Output != nil {
		if err := a.Output.Err(); err != nil {
			r.Warnings = append(r.Warnings, describe(err))
		}
	}
	return r
}

// String words an exit as the error of a step.
func (e exit) String() string {
	if e.signal != 0 {
		name := unix.SignalName(e.signal)
		if name == "" {
			name = fmt.Sprintf("signal %d", e.signal)
		}
		return "killed by " + name
	}
	return fmt.Sprintf("exit status %d", e.code)
}

// find looks the command up as the step's own PATH has it.
func (p *process) find() (string, error) {
	name := p.argv[0]
	if strings.Contains(name, "/") {
		if filepath.IsAbs(name) {
			return name, nil
		}
		return filepath.Join(p.dir, name), nil
	}
	found := ""
	for _, dir := range filepath.SplitList(p.getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.dir, dir)
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			continue
		}
		if info.Mode()&0o111 != 0 {
			return path, nil
		}
		found = path
	}
	if found != "" {
		return "", notStarted(rcNotExecutable, "%s is not executable", found)
	}
	if err := checkDir(p.dir); err != nil {
		return "", err
	}
	return "", notStarted(rcNotFound, "command not found: %s", name)
}

func (p *process) getenv(name string) string {
	value := ""
	for _, entry := range p.env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notStarted(rcNotFound, "cwd %s does not exist", dir)
	case err != nil:
		return notStarted(rcNotFound, "cwd: %s", describe(err))
	case !info.IsDir():
		return notStarted(rcNotFound, "cwd %s is not a directory", dir)
	}
	return nil
}

// startError finds out what the kernel's one word was about.
func (p *process) startError(path string, err error) error {
	if err := checkDir(p.dir); err != nil {
		return err
	}
	_, gone := os.Stat(path)
	switch {
	case gone != nil && errors.Is(err, fs.ErrNotExist):
		return notStarted(rcNotFound, "command not found: %s", p.argv[0])
	case errors.Is(err, fs.ErrNotExist):
		return notStarted(rcNotFound, "%s: the interpreter that its first line names does not exist", path)
	case errors.Is(err, fs.ErrPermission):
		return notStarted(rcNotExecutable, "%s is not executable", path)
	case errors.Is(err, syscall.ENOEXEC):
		return notStarted(rcNotExecutable, "%s is not a program; a script needs a first line like #!/bin/sh", path)
	case errors.Is(err, syscall.E2BIG):
		return notStarted(rcNotExecutable, "%s: the arguments and the environment are too long", p.argv[0])
	}
	e := commandError{message: "start " + p.argv[0] + ": " + describe(err), class: Fatal}
	if isTransient(err) {
		e.class = Transient
	}
	return e
}
