package exec

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("script", action{run: runScript, dry: dryScript, effect: events.ChangeUnknown})

// scriptGuards decides creates and removes of the action itself. It returns nothing when the attempt goes on.
func (a *attempt) scriptGuards(args *spec.ScriptArgs) *Result {
	job := *a.Job
	job.Creates, job.Removes = args.Creates, args.Removes
	own := *a
	own.Job = &job
	return own.skips()
}

func dryScript(_ context.Context, a *attempt) Result {
	args := a.Args.(*spec.ScriptArgs)
	if skip := a.scriptGuards(args); skip != nil {
		return *skip
	}
	if at, err := a.stat(args.Script); err != nil || at.kind != regular {
		r := unrun("cannot be told before the run: script " + args.Script + " does not exist")
		r.Warnings = []string{"script " + args.Script + " does not exist"}
		return r
	}
	return unrun("")
}

func runScript(ctx context.Context, a *attempt) Result {
	args := a.Args.(*spec.ScriptArgs)
	if skip := a.scriptGuards(args); skip != nil {
		return *skip
	}
	dir, err := os.MkdirTemp("", "moon-script-")
	if err != nil {
		return a.failure(ctx, err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // for its owner only, and in a directory that is cleaned
	path := filepath.Join(dir, filepath.Base(args.Script))
	if err := copyScript(args.Script, path); err != nil {
		return a.failure(ctx, err)
	}
	line := shellQuote(path)
	if args.Executable != "" {
		line = args.Executable + " " + line
	}
	p := a.noisy([]string{shellPath, "-c", strings.TrimSpace(line + " " + args.Rest)})
	if args.Chdir != "" {
		p.dir = args.Chdir
	}
	return a.ended(p.run(ctx), events.Changed)
}

// copyScript makes a copy that can be run. As long as the copy is open for writing no process may be started, which would
// have it open too: a file that somebody writes to cannot be run.
func copyScript(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, os.ErrNotExist) {
		return missing(from, "script %s does not exist", from)
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
