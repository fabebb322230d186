package lint

import (
	"strings"

	"moon/plan/playbook"
)

// keyOrder: what a task is called is read first.
var keyOrder = Rule{ID: "key-order", About: "name is the first key of a task", Fixes: true, task: checkKeyOrder}

func checkKeyOrder(r *report, t *playbook.Task) {
	for i, e := range t.Keys {
		// An id names a step as well.
		if e.Key == "name" && i > 0 && t.Keys[0].Key != "id" {
			r.add(e.Pos, len(e.Key), moveFirst(r, t, i), "put it first", "`name` stands behind other keys")
		}
	}
}

// moveFirst is the edit that puts a key of one line in front of the others; nil if it is not alone on its line.
func moveFirst(r *report, t *playbook.Task, at int) *Edit {
	e, first := t.Keys[at], t.Keys[0]
	f := r.library.Sources[e.Pos.File]
	if f == nil || first.Pos.File != e.Pos.File || first.Pos.Column != e.Pos.Column || first.Pos.Line >= e.Pos.Line {
		return nil
	}
	lines := f.Lines()
	if e.Pos.Line > len(lines) || at+1 < len(t.Keys) && t.Keys[at+1].Pos.Line != e.Pos.Line+1 || len(lines) > e.Pos.Line && continues(lines[e.Pos.Line], e.Pos.Column) {
		return nil
	}
	line := lines[e.Pos.Line-1]
	text := strings.TrimLeft(line, " ")
	return &Edit{
		Line: e.Pos.Line, Column: 1, Old: line, Drop: true,
		Also: &Edit{Line: first.Pos.Line, Column: first.Pos.Column, New: text + "\n" + strings.Repeat(" ", first.Pos.Column-1)},
	}
}

// continues reports whether a line belongs to the key above it, which begins in a column.
func continues(line string, column int) bool {
	trimmed := strings.TrimLeft(line, " ")
	return trimmed != "" && len(line)-len(trimmed) >= column
}
