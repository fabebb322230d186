package lint

import (
	"moon/internal/pattern"
	"moon/plan/playbook"
)

// loggedPassword: each item of a loop is printed, with the password in it.
var loggedPassword = Rule{ID: "no-log-password", About: "passwords in loops without no_log", task: checkPassword}

var (
	passwordArgument = pattern.New(`(?:^|_)(?:password|passphrase|token|secret)$`)
	itemIn           = pattern.New(`\bitem\b`)
)

func checkPassword(r *report, t *playbook.Task) {
	if t.Kind != playbook.Action || t.Args.Kind() != playbook.Map || !t.NoLog.IsZero() {
		return
	}
	for _, e := range t.Args.Entries() {
		if passwordArgument.MatchString(e.Key) && itemIn.MatchString(e.Value.Text()) {
			r.add(e.Pos, len(e.Key), nil, "give the task no_log: true", "the items of this loop are shown, and `"+e.Key+"` is taken from them")
		}
	}
}
