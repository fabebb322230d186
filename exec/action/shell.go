package action

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/process"
	"moon/exec/spec"
)

var _ = exec.Register("shell", exec.Action{Run: runShell, Dry: dryShell, Effect: events.ChangeUnknown, Process: true})

func runShell(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.ShellArgs)
	argv, err := shellArgv(args)
	if err != nil {
		return a.Failure(ctx, err)
	}
	a, skip := a.Within(&args.WithinArgs)
	if skip != nil {
		return a.AsUnneeded(args.Cmd, skip)
	}
	if a.Interactive {
		return a.RunOnTerminal(ctx, argv)
	}
	start := time.Now()
	p := a.PrepareWithOutput(argv)
	p.Stdin = a.StdinText(args.Stdin, args.StdinNewline)
	p.KeepTail()
	// A text in the arguments of a process can be read by every user in /proc.
	seen := exec.HideSecretArg(a.Secrets, p)
	r := a.AsCommand(args.Cmd, start, exec.AddTerminalHint(p, a.EndedAs(p.Run(ctx), events.Changed)))
	if seen {
		r.Warnings = append(r.Warnings,
			"the text of this step holds a secret, and everyone on the machine could see it while it ran: moon knows no way to hand it to this interpreter unseen")
	}
	return r
}

func dryShell(_ context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.ShellArgs)
	return predictCommand(a, args.Cmd, &args.WithinArgs)
}

// predictCommand is the dry run of shell and command.
func predictCommand(a *exec.Attempt, cmd any, args *spec.WithinArgs) exec.Result {
	own, skip := a.Within(args)
	if skip != nil {
		return own.AsUnneeded(cmd, skip)
	}
	return own.AsUnrun(cmd)
}

// shellArgv is the interpreter with its options, the option for a text to run, and the text.
func shellArgv(args *spec.ShellArgs) ([]string, error) {
	if args.Interpreter == process.ShellPath {
		return []string{process.ShellPath, "-c", args.Cmd}, nil
	}
	words, err := spec.Words(args.Interpreter)
	if err != nil || len(words) == 0 {
		return nil, fault.CommandError{Message: "interpreter " + args.Interpreter + " is not a command", Class: fault.Fatal}
	}
	option := "-c"
	switch name := filepath.Base(words[0]); strings.TrimRight(name, "0123456789.") {
	case "perl", "ruby", "node", "nodejs":
		option = "-e"
	}
	return append(words, option, args.Cmd), nil
}
