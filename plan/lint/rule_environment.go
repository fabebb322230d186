package lint

import (
	"strings"

	"moon/internal/pattern"
	"moon/plan/playbook"
)

// inlineEnvironment: only a shell takes A=b in front of a command for a variable.
var inlineEnvironment = Rule{ID: "inline-env-var", About: "variables in front of a command that no shell runs", task: checkEnvironment}

var assignment = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*=\S*\s+\S`)

func checkEnvironment(r *report, t *playbook.Task) {
	if !isAction(t, "command") {
		return
	}
	text := commandText(t)
	if !assignment.MatchString(text) {
		return
	}
	name, _, _ := strings.Cut(text, "=")
	// Ansible takes its own arguments out of the text.
	for _, own := range []string{"chdir", "creates", "removes", "stdin", "executable", "warn"} {
		if name == own {
			return
		}
	}
	key := "env"
	if r.plays {
		key = "environment"
	}
	r.add(t.ActionPos, len(t.ActionKey), nil, "give it with "+key+", or use shell", "`"+name+"=` is the program that this would start")
}
