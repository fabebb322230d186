package playbook

import (
	"strings"
	"unicode/utf8"
)

// FlushesHandlers reports whether a task is one that runs the handlers that were notified so far.
func (t *Task) FlushesHandlers() bool {
	return t.Action == "meta" && strings.TrimSpace(t.Args.Text()) == "flush_handlers"
}

// handlersParser reads handlers, of plays and of playbooks of steps.
type handlersParser struct{ *parser }

// read parses a list of handlers.
func (p handlersParser) read(e Entry) []*Task {
	// Handlers may listen and cannot be blocks; the copy remembers that it reads handlers.
	q := *p.parser
	q.handlers = true
	list := q.readTasks(e.Value, "`"+e.Key+":`")
	for _, t := range list {
		p.checkHandler(p, t)
	}
	return list
}

// check refuses a handler of a playbook of steps that could never run, or that would not be a step.
func (p handlersParser) check(t *Task) {
	switch {
	case t.Kind != Action && t.Kind != Include:
		p.errorf(t.ActionPos, utf8.RuneCountInString(t.ActionKey), "write the steps one by one, or into a file that `include` names",
			"`%s` cannot be a handler", t.ActionKey)
	case t.Name.IsZero() && len(t.Listen) == 0:
		p.errorf(t.Pos, 0, "add `name:`, which `notify` can give", "this handler has no name, so nothing can notify it")
	}
}

// checkFlush refuses keys on a step that runs handlers: it is none of those that run.
func (p handlersParser) checkFlush(t *Task) {
	for _, e := range t.Keys {
		if e.Pos != t.ActionPos && e.Key != "name" && e.Key != "when" && e.Key != "tags" {
			p.errorf(e.Pos, utf8.RuneCountInString(e.Key), "write it on the handlers",
				"`%s` has no effect on `meta: flush_handlers`", e.Key)
		}
	}
}
