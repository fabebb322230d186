package lint

import (
	"moon/plan/playbook"
)

// runOnceFree: without rounds there is no first host.
var runOnceFree = Rule{ID: "run-once-free", About: "run_once in a play with strategy: free", task: checkRunOnce}

func checkRunOnce(r *report, t *playbook.Task) {
	if r.free && t.RunOnce.Kind() == playbook.Bool && t.RunOnce.Bool() {
		r.add(t.RunOnce.Pos(), len("true"), nil, "use another strategy, or delegate_to with a condition", "with strategy: free each host runs this")
	}
}
