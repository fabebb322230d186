package preset

import (
	"unicode/utf8"

	"moon/plan/planner/problems"
	"moon/plan/playbook"
)

// Exported is the task, at the end of a preset, that sets the variable which gets what the preset exports; nil if its user asks for
// nothing. It is rendered inside the preset, and seen outside: what is exported of one use is not touched by the next.
func Exported(file *playbook.PresetFile, name string, t *playbook.Task, list *problems.Collector, chain []string) *playbook.Task {
	if t.Register == "" {
		return nil
	}
	if len(file.Exports) == 0 {
		hint := "add `exports:` with the names of variables to " + file.File.Name
		list.Errorf(t.RegisterPos(), utf8.RuneCountInString(t.Register), chain, hint, "the preset `%s` exports nothing", name)
		return nil
	}
	entries := make([]playbook.Entry, len(file.Exports))
	for i, e := range file.Exports {
		if e.Value.IsZero() {
			e.Value = playbook.Written(e.Pos, "{{ "+e.Key+" }}")
		}
		entries[i] = e
	}
	at := file.Exports[0].Pos
	return playbook.NewTask(playbook.Task{
		Kind: playbook.Vars, Pos: at, ActionKey: "vars", ActionPos: at,
		Args: playbook.WrittenMap(at, playbook.Entry{Key: t.Register, Pos: at, Value: playbook.WrittenMap(at, entries...)}),
		Loop: &playbook.Loop{Var: "item", Index: "index"},
	})
}
