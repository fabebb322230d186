package lint

import (
	"moon/plan/playbook"
)

// ignoredErrors: whatever goes wrong is ignored, also what no one has thought of.
var ignoredErrors = Rule{ID: "ignore-errors", About: "errors that are ignored, whatever they are", task: checkIgnoredErrors}

func checkIgnoredErrors(r *report, t *playbook.Task) {
	if t.Ignore.Kind() != playbook.Bool || !t.Ignore.Bool() || t.Register != "" {
		return
	}
	for _, e := range t.Keys {
		if e.Key == "ignore_errors" {
			r.add(e.Pos, len(e.Key), nil, "say with failed_when what is a failure, or register the result and look at it", "every error of this is ignored")
		}
	}
}
