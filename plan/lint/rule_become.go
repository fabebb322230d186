package lint

import (
	"moon/plan/playbook"
)

// partialBecome: become_user alone does nothing, unless something above says become.
var partialBecome = Rule{ID: "partial-become", About: "become_user of plays without become next to it", task: checkBecome}

func checkBecome(r *report, t *playbook.Task) {
	if !r.plays {
		return
	}
	user, become := -1, false
	for i, e := range t.Keys {
		become = become || e.Key == "become"
		if e.Key == "become_user" {
			user = i
		}
	}
	if user >= 0 && !become {
		e := t.Keys[user]
		r.add(e.Pos, len(e.Key), nil, "write become: true next to it", "`become_user` counts only with `become`")
	}
}
