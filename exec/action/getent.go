package action

import (
	"context"
	"fmt"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/facts"
	"moon/exec/fault"
	"moon/exec/spec"
)

var _ = exec.Register("getent", exec.Action{Run: runGetent, Effect: events.ChangeNone})

// What getent says by its exit status.
const (
	getentUnknown  = 1
	getentNotFound = 2
	getentNoList   = 3
)

func runGetent(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.GetentArgs)
	if err := lacksTool(a, "getent", "libc-bin"); err != nil {
		return a.Failure(ctx, err)
	}
	argv := []string{"getent"}
	if args.Service != "" {
		argv = append(argv, "-s", args.Service)
	}
	argv = append(argv, args.Database)
	if args.Key != "" {
		argv = append(argv, args.Key)
	}
	said, err := a.AskTool(ctx, exec.NewTool(argv...))
	if err != nil {
		return a.Failure(ctx, err)
	}
	found := map[string]any{}
	switch {
	case said.Code == 0:
		found = getentEntries(said.Stdout, args)
	case said.Code == getentNotFound && !args.FailKey:
		found[args.Key] = nil
	default:
		message := fmt.Sprintf("getent ends with %d: %s", said.Code, said.LastWords())
		switch said.Code {
		case getentUnknown:
			message = "there is no database " + args.Database
		case getentNotFound:
			message = fmt.Sprintf("%s has no %s; fail_key: false gives null instead", args.Database, args.Key)
		case getentNoList:
			message = args.Database + " gives no list of everything; name a key"
		}
		return a.Failure(ctx, fault.CommandError{Message: message, RC: &said.Code, Class: fault.Fatal})
	}
	return exec.Result{Outcome: events.OK, Fields: map[string]any{"ansible_facts": map[string]any{"getent_" + args.Database: found}}}
}

// getentEntries takes the lines apart. Of several with the same first field the last counts.
func getentEntries(text string, args *spec.GetentArgs) map[string]any {
	split := args.Split
	// Ansible splits these by itself; other databases have blanks between their fields.
	if colon := ":"; split == nil && strings.Contains(" passwd shadow group gshadow ", " "+args.Database+" ") {
		split = &colon
	}
	found := map[string]any{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		fields := strings.Fields(line)
		if split != nil {
			fields = strings.Split(line, *split)
		}
		if len(fields) > 0 {
			found[fields[0]] = facts.AnyList(fields[1:])
		}
	}
	return found
}
