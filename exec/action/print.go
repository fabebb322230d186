package action

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
)

var _ = exec.Register("print", exec.Action{Run: runPrint, Effect: events.ChangeNone})

func runPrint(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.PrintArgs)
	if args.Verbosity > 0 {
		return *exec.SkipFor(events.SkipAction, "verbosity threshold not met")
	}
	name, value, message := "msg", args.Msg, printValue(args.Msg)
	if args.Var != "" {
		var err error
		if value, err = a.Names.Value(args.Var); err != nil {
			return a.Failure(ctx, err)
		}
		name, message = args.Var, args.Var+" = "+printValue(value)
	}
	fields := map[string]any{"msg": message}
	a.RewordForPlays(fields, func(fields map[string]any) { // the value itself, by its name
		delete(fields, "msg")
		fields[name] = value
	})
	return exec.Result{Outcome: events.OK, Message: message, Fields: fields}
}

// printValue returns a value as a person reads it: text as it is, lists and maps as JSON, on one line if it is a short one.
func printValue(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any, map[string]any:
		if line := asJSON(v, ""); len(line) <= lineWidth {
			return line
		}
		return asJSON(v, "  ")
	case nil:
		return "null"
	}
	return fmt.Sprint(value)
}

const lineWidth = 80

func asJSON(value any, indent string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	// Texts are for people: < and & stay as they are.
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
