package lint

import (
	"moon/plan/playbook"
)

// keyOrder: what a task is called is read first.
var keyOrder = Rule{ID: "key-order", About: "name is the first key of a task", task: checkKeyOrder}

func checkKeyOrder(r *report, t *playbook.Task) {
	for i, e := range t.Keys {
		// An id names a step as well.
		if e.Key == "name" && i > 0 && t.Keys[0].Key != "id" {
			r.add(e.Pos, len(e.Key), nil, "put it first", "`name` stands behind other keys")
		}
	}
}
