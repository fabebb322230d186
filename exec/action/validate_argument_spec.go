package action

import (
	"context"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/spec"
)

var _ = exec.Register("validate_argument_spec", exec.Action{Run: runValidateArgumentSpec, Effect: events.ChangeNone})

func runValidateArgumentSpec(_ context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.ValidateArgumentSpecArgs)
	about := args.Context
	if about == nil {
		about = map[string]any{}
	}
	misfits := args.Misfits()
	if len(misfits) == 0 {
		return exec.Result{Outcome: events.OK, Fields: map[string]any{
			"validate_args_context": about, "msg": a.ChooseWords("the arguments are as described", "The arg spec validation passed"),
		}}
	}
	var own, words []string
	wrong := make([]any, len(misfits))
	for i, m := range misfits {
		said := m.Message
		if m.Hint != "" {
			said += "; " + m.Hint
		}
		own, words = append(own, said), append(words, m.Words)
		wrong[i] = a.ChooseWords(said, m.Words)
	}
	msg := a.ChooseWords("the arguments are not as described: "+strings.Join(own, "; "),
		"Validation of arguments failed:\n"+strings.Join(words, "\n"))
	return exec.Result{Outcome: events.Failed, Error: msg, Class: fault.Fatal, Fields: map[string]any{
		"msg": msg, "argument_errors": wrong, "argument_spec_data": args.Options, "validate_args_context": about,
	}}
}
