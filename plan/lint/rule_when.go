package lint

import (
	"strings"

	"moon/plan/playbook"
)

// templateInWhen: a condition is an expression already.
var templateInWhen = Rule{ID: "no-jinja-when", About: "conditions in {{ }}", condition: checkTemplateInWhen}

func checkTemplateInWhen(r *report, v playbook.Value) {
	if at := strings.Index(v.Text(), "{{"); at >= 0 {
		r.add(v.PosAt(at), 2, nil, "write the names without braces", "a condition is an expression, and what a template in it gives is evaluated again")
	}
}
