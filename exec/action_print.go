package exec

import (
	"context"
	"encoding/json"
	"fmt"

	"moon/events"
	"moon/exec/spec"
)

var printAction = action{run: runPrint, effect: events.ChangeNone}

func runPrint(ctx context.Context, a *attempt) Result {
	args := a.Args.(*spec.PrintArgs)
	message := ""
	if args.Var != "" {
		value, err := a.Names.Value(args.Var)
		if err != nil {
			return a.failure(ctx, err)
		}
		message = args.Var + " = " + printed(value)
	} else {
		message = printed(args.Msg)
	}
	return Result{Outcome: events.OK, Message: message, Fields: map[string]any{"msg": message}}
}

// printed is a value as a person reads it: text as it is, lists and maps as JSON.
func printed(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any, map[string]any:
		b, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(b)
	case nil:
		return "null"
	}
	return fmt.Sprint(value)
}
