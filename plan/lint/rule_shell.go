package lint

import (
	"slices"
	"strings"

	"moon/plan/playbook"
)

// shellInstead: a shell is one more thing that takes words apart.
var shellInstead = Rule{ID: "shell-without-need", About: "a shell in a play that only starts a program", task: checkShellInstead}

func checkShellInstead(r *report, t *playbook.Task) {
	text := commandText(t)
	if !r.plays || !isAction(t, "shell") || text == "" || strings.ContainsAny(text, "|&;<>()$`\\\"'*?[]#~=%\n!{}") {
		return
	}
	first, _, _ := strings.Cut(text, " ")
	if slices.Contains([]string{"cd", "set", "source", ".", "export", "ulimit", "umask", "type", "command", "exec", "eval", "trap", "wait"}, first) {
		return
	}
	if _, ok := argument(t, "executable"); ok {
		return
	}
	r.add(t.ActionPos, len(t.ActionKey), nil, "use command", "this needs no shell")
}
