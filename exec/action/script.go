package action

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/process"
	"moon/exec/spec"
)

var _ = exec.Register("script", exec.Action{Run: runScript, Dry: dryScript, Effect: events.ChangeUnknown})

func dryScript(_ context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.ScriptArgs)
	own, skip := a.Within(&args.WithinArgs)
	if skip != nil {
		return own.AsUnneededScript(skip)
	}
	if info, err := a.Files().Stat(args.Script); !a.Overlay.Concerns(args.Script) && (err != nil || !info.Mode().IsRegular()) {
		r := exec.UnknownChange("unpredictable: script " + args.Script + " does not exist")
		r.Warnings = []string{"script " + args.Script + " does not exist"}
		return r
	}
	return own.AsUnrunScript(exec.UnrunScript)
}

func runScript(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.ScriptArgs)
	a, skip := a.Within(&args.WithinArgs)
	if skip != nil {
		return a.AsUnneededScript(skip)
	}
	dir, err := os.MkdirTemp("", "moon-script-")
	if err != nil {
		return a.Failure(ctx, err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // for its owner only, and in a directory that is cleaned
	path := filepath.Join(dir, filepath.Base(args.Script))
	if err := copyScript(a, args.Script, path); err != nil {
		return a.Failure(ctx, err)
	}
	// The shell takes the arguments apart as Ansible does, so quotes and variables in them count.
	line := shellQuote(path)
	if args.Executable != "" {
		line = args.Executable + " " + line
	}
	return a.RunCommand(ctx, []string{process.ShellPath, "-c", strings.TrimSpace(line + " " + args.Rest)}, nil)
}

// copyScript makes a copy that can be run.
func copyScript(a *exec.Attempt, from, to string) error {
	in, err := a.Files().Open(from)
	if errors.Is(err, os.ErrNotExist) {
		return fault.Missing(from, "script %s does not exist", from)
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	return exec.WriteProgram(in, to, "")
}
