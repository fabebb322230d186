package playbook

import (
	"slices"
	"unicode/utf8"
)

// undoKeys are the keys that a step has which only reverses another: it runs by itself, one time, after everything.
var undoKeys = []string{
	"name", "env", "environment", "cwd", "chdir", "timeout", "vars", "args", "creates", "removes", "unless", "onlyif", "changed_when",
	"failed_when",
	"retries", "retry_delay", "delay", "until", "ignore_errors", "become", "become_user", "become_method", "become_flags", "no_log",
	"check_mode", "diff",
}

// readUndo reads the step that reverses another.
func (p *parser) readUndo(t *Task, e Entry) {
	if e.Value.Kind() != Map {
		p.reportKind(e, "a step, such as `{shell: rm -r build}`")
		return
	}
	u := p.readTask(e.Value)
	if u.Kind != Action {
		p.errorf(u.ActionPos, utf8.RuneCountInString(u.ActionKey), "give it one action",
			"`undo:` must be a step with an action; this is `%s`", u.ActionKey)
		return
	}
	for _, k := range u.Keys {
		if _, known := keyIndex[k.Key]; known && !slices.Contains(undoKeys, k.Key) {
			p.errorf(k.Pos, utf8.RuneCountInString(k.Key), "remove it", "`%s` has no meaning in an `undo:`", k.Key)
		}
	}
	t.ownKeys().Undo = u
}
