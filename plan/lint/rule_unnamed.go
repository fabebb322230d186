package lint

import (
	"moon/plan/playbook"
)

// unnamed: reports, --start-at-task and readers know tasks by their names.
var unnamed = Rule{ID: "name-missing", About: "tasks of plays without a name", task: checkName}

func checkName(r *report, t *playbook.Task) {
	if r.plays && t.Kind == playbook.Action && t.Name.IsZero() && !isAction(t, "meta") {
		r.add(t.Pos, 1, nil, "give it a name", "this task has no name")
	}
}
