package exec

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"moon/events"
	"moon/exec/fault"
	"moon/exec/process"
	"moon/exec/spec"
)

var _ = act("shell", action{run: runShell, dry: dryShell, effect: events.ChangeUnknown})

func runShell(ctx context.Context, a *attempt) Result {
	args := a.Args.(*spec.ShellArgs)
	argv, err := shellArgv(args)
	if err != nil {
		return a.failure(ctx, err)
	}
	a, skip := a.within(&args.WithinArgs)
	if skip != nil {
		return a.asUnneeded(args.Cmd, skip)
	}
	if a.Interactive {
		return a.onTerminal(ctx, argv)
	}
	start := time.Now()
	p := a.noisy(argv)
	p.Stdin = a.lineOf(args.Stdin, args.StdinNewline)
	p.KeepTail()
	seen := hideSecretArg(a, p)
	r := a.asCommand(args.Cmd, start, withHint(p, a.ended(p.Run(ctx), events.Changed)))
	if seen {
		r.Warnings = append(r.Warnings, "the text of this step holds a secret, and everybody on the machine could see it while it ran: moon knows no way to hand it to this interpreter unseen")
	}
	return r
}

func dryShell(_ context.Context, a *attempt) Result {
	args := a.Args.(*spec.ShellArgs)
	return predictCommand(a, args.Cmd, &args.WithinArgs)
}

// predictCommand is the dry run of shell and command.
func predictCommand(a *attempt, cmd any, args *spec.WithinArgs) Result {
	own, skip := a.within(args)
	if skip != nil {
		return own.asUnneeded(cmd, skip)
	}
	return own.asUnrun(cmd)
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
