package exec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"slices"
	"sync"
	"syscall"

	"moon/events"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/process"
	"moon/exec/spec"
)

// Plugin carries out the jobs of actions that are not compiled in. Package plugin has it; here is only what it may use of
// an attempt, so that guards, timeouts and connections hold for such a job as for any other.
type Plugin func(ctx context.Context, call *PluginCall) Result

func (p Plugin) action(args *spec.PluginArgs) Action {
	act := Action{Run: func(ctx context.Context, a *Attempt) Result { return p(ctx, &PluginCall{Job: a.Job, Args: args, a: a}) }}
	act.Dry = func(context.Context, *Attempt) Result {
		return UnknownChange("the plugin cannot tell what it would do")
	}
	if args.Plugin.Check == spec.CheckFull {
		act.Dry = func(ctx context.Context, a *Attempt) Result {
			return p(ctx, &PluginCall{Job: a.Job, Args: args, Check: true, a: a})
		}
	}
	return act
}

// PluginCall is a job of a plugin's action.
type PluginCall struct {
	*Job
	Args  *spec.PluginArgs
	Check bool // only say what would change
	a     *Attempt
}

// OnController reports whether a job is to be carried out where moon runs, whomever and whatever machine it is about.
func OnController(job *Job) bool {
	args, ok := job.Args.(*spec.PluginArgs)
	return ok && args.Plugin.Where == spec.OnController
}

// Ended is how a program of a call ended.
type Ended struct {
	Result        // Outcome is OK if it exited with 0
	Exited bool   // by itself, with Result.RC as its status
	Words  string // for an error: exit status 3
}

// Command runs a program of the call and waits for its end. What it writes to standard error is the step's; stderr gets it, too,
// unless it is nil. One that prints more than most bytes is killed; 0 is any number.
func (c *PluginCall) Command(ctx context.Context, argv []string, stdin string, most int, stdout, stderr io.Writer) Ended {
	p := c.a.Prepare(argv)
	p.Stdin, p.Stdout, p.Most = &stdin, stdout, most
	switch {
	case c.Output == nil:
		p.Stderr = stderr
	case stderr == nil:
		p.Stderr = c.Output.Stderr()
	default:
		p.Stderr = io.MultiWriter(c.Output.Stderr(), stderr)
	}
	e := p.Run(ctx)
	r := c.a.EndedAs(e, events.OK)
	return Ended{Result: r, Exited: e.Err == nil && e.Stop == "" && e.Signal == 0, Words: e.String()}
}

// Stopped is the result of a call that was asked to end before it had.
func (c *PluginCall) Stopped(ctx context.Context) Result { return c.a.Stopped(fault.Stopped(ctx)) }

// Failed is the result of an error.
func (c *PluginCall) Failed(ctx context.Context, err error) Result { return c.a.Failure(ctx, err) }

// Unknown is the result of a call that could not tell what it would do.
func (c *PluginCall) Unknown(message string) Result { return UnknownChange(message) }

// Unified is the difference of two texts; nil is a file that is not there.
func Unified(path string, before, after *string) string {
	var old, now []byte
	if before != nil {
		old = []byte(*before)
	}
	if after != nil {
		now = []byte(*after)
	}
	return fsys.UnifiedDiff(path, old, now)
}

// Dir is where the call's program runs.
func (c *PluginCall) Dir() string { return c.a.dir() }

// File is a copy of the plugin's file where this process can run it, for its own user alone. It is an error if it is not the file
// that the plan was made with. done removes the copy.
func (c *PluginCall) File() (path string, done func(), err error) {
	g := c.Args.Plugin
	switch {
	case g.Path == "":
		return "", func() {}, nil
	case c.From == nil:
		path, done, err = Verified(g.Path, g.Digest)
	default:
		path, done, err = verified(c.a.Files(), g.Path, g.Digest, nil)
	}
	if errors.Is(err, ErrNotVerified) {
		err = fmt.Errorf("the plugin %s is not what it was when the plan was made; plan again", g.Path)
	}
	return path, done, err
}

// FileDigest is the SHA-256 of a file, as trust and plans keep it.
func FileDigest(path string) (string, error) {
	f, err := fsys.OwnFiles{}.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Private writes a file for its owner alone, which the caller removes. No process that starts meanwhile has it open.
func Private(name, text string) (path string, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := os.CreateTemp("", name) // 0600
	if err != nil {
		return "", err
	}
	if _, err = io.WriteString(f, text); err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), f.Close()
}

// Companion is a program that lives beside steps and is talked to: what is written to it is its standard input, line by line.
type Companion struct {
	*io.PipeWriter
	stop context.CancelCauseFunc
	kill func()
	done chan struct{}
	exit process.Exit
}

// Companion starts a program with the environment of this call, less what is the step's own.
func (c *PluginCall) Companion(argv []string, dir string, stdout, stderr io.Writer) *Companion {
	plain := &Attempt{Job: &Job{Cwd: dir, Secrets: c.Secrets}, grace: c.a.grace, watch: c.a.watch}
	return plain.companion(argv, stdout, stderr)
}

// NewCompanion starts a program that belongs to no step.
func NewCompanion(argv []string, dir string, stdout, stderr io.Writer) *Companion {
	a := &Attempt{Job: &Job{Cwd: dir, Attempt: process.NewMark()}, grace: process.DefaultGrace, watch: func(process.Moment) {}}
	return a.companion(argv, stdout, stderr)
}

func (a *Attempt) companion(argv []string, stdout, stderr io.Writer) *Companion {
	ctx, cancel := context.WithCancelCause(context.Background())
	r, w := io.Pipe()
	now := make(chan struct{})
	c := &Companion{PipeWriter: w, stop: cancel, kill: sync.OnceFunc(func() { close(now) }), done: make(chan struct{})}
	p := a.Prepare(argv)
	p.Input, p.Stdout, p.Stderr, p.Now = r, stdout, stderr, now
	go func() {
		defer close(c.done)
		defer cancel(nil)
		c.exit = p.Run(ctx)
		_ = r.CloseWithError(io.ErrClosedPipe) // it may never have been started
	}()
	return c
}

// Done is closed when it has ended.
func (c *Companion) Done() <-chan struct{} { return c.done }

// Stop ends it: its input ends, and it gets SIGTERM, and after a grace its whole group SIGKILL.
func (c *Companion) Stop() {
	_ = c.Close() // a pipe in memory
	c.stop(fault.Expired)
}

// Kill ends it at once.
func (c *Companion) Kill() { c.kill() }

// End words how it ended; Done must be closed.
func (c *Companion) End() string {
	if c.exit.Err != nil {
		return fault.Describe(c.exit.Err)
	}
	return c.exit.String()
}

// Argv is the command line of a plugin whose file is at path.
func Argv(g *spec.Plugin, path string, args ...string) []string {
	argv := slices.Clone(g.Program)
	if path != "" {
		argv = append(argv, path)
	}
	return append(argv, args...)
}

// LookPath finds a program as moon's own PATH has it.
func LookPath(name string) (string, error) { return osexec.LookPath(name) }
