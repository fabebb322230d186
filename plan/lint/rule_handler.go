package lint

import (
	"moon/internal/pattern"
	"moon/plan/playbook"
)

// handlerInstead: what happens because something has changed is what handlers are for.
var handlerInstead = Rule{ID: "no-handler", About: "tasks that run if another has changed something", task: checkHandlerInstead}

var changed = pattern.New(`^\s*(?:\{\{)?\s*[A-Za-z_][A-Za-z0-9_]*(?:\.changed|\s+is\s+changed|\s*\|\s*changed)\s*(?:\}\})?\s*$`)

func checkHandlerInstead(r *report, t *playbook.Task) {
	if r.plays && t.Kind == playbook.Action && len(t.When) == 1 && changed.MatchString(t.When[0].Text()) {
		r.add(t.When[0].Pos(), len(t.When[0].Text()), nil, "make it a handler, and have the other task notify it", "this runs because something has changed")
	}
}
