package lint

import (
	"moon/plan/playbook"
)

// changedWhen: a command always counts as changed unless the task says when it is.
var changedWhen = Rule{ID: "no-changed-when", About: "a command of a play says when it has changed something", task: checkChangedWhen}

func checkChangedWhen(r *report, t *playbook.Task) {
	if !r.plays || !isAction(t, "command", "shell", "raw", "script") || len(t.ChangedWhen) > 0 {
		return
	}
	for _, name := range []string{"creates", "removes"} {
		if _, ok := argument(t, name); ok {
			return
		}
	}
	r.add(t.ActionPos, len(t.ActionKey), nil, "say when with changed_when, or what it makes with creates", "this counts as changed in every run")
}
