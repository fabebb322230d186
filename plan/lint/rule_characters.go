package lint

import (
	"moon/internal/pattern"
	"moon/plan/playbook"
)

// shellCharacters: command has no shell, so these are arguments of the program.
var shellCharacters = Rule{ID: "command-shell-characters", About: "characters for a shell in a command that has none", task: checkShellCharacters}

var shellWord = pattern.New(`(?:^|\s)(?:\|\|?|&&|;|[12]?>>?|<|&)(?:\s|$)`)

func checkShellCharacters(r *report, t *playbook.Task) {
	if isAction(t, "command") && shellWord.MatchString(unquoted.ReplaceAllString(commandText(t), "")) {
		r.add(t.ActionPos, len(t.ActionKey), nil, "use shell", "`command` starts the program without a shell, which gets these characters as arguments")
	}
}

// unquoted takes out what is quoted, and templates.
var unquoted = pattern.New(`'[^']*'|"[^"]*"|\{\{.*?\}\}`)
