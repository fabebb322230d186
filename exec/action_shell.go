package exec

import (
	"context"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("shell", action{run: runShell, dry: dryCommand, effect: events.ChangeUnknown})

func runShell(ctx context.Context, a *attempt) Result {
	args := a.Args.(*spec.ShellArgs)
	argv, err := shellArgv(args)
	if err != nil {
		return a.failure(ctx, err)
	}
	p := a.noisy(argv)
	p.stdin = args.Stdin
	return a.ended(p.run(ctx), events.Changed)
}

// dryCommand is the dry run of shell and command.
func dryCommand(context.Context, *attempt) Result {
	return unrun("")
}

// shellArgv is the interpreter with its options, the option for a text to run, and the text.
func shellArgv(args *spec.ShellArgs) ([]string, error) {
	if args.Interpreter == shellPath {
		return []string{shellPath, "-c", args.Cmd}, nil
	}
	words, err := spec.Words(args.Interpreter)
	if err != nil || len(words) == 0 {
		return nil, commandError{message: "interpreter " + args.Interpreter + " is not a command", class: Fatal}
	}
	option := "-c"
	switch name := filepath.Base(words[0]); strings.TrimRight(name, "0123456789.") {
	case "perl", "ruby", "node", "nodejs":
		option = "-e"
	}
	return append(words, option, args.Cmd), nil
}
