package bindings

import (
	"unicode/utf8"

	"moon/plan/playbook"
)

// CheckIncluded reports keys at the top of a file that have a meaning only in the playbook itself, where the file is included.
func (m *Maker) CheckIncluded(pb *playbook.Playbook, t *playbook.Task, chain []string) {
	name, root := pb.File.Name, "put it on the root playbook"
	if pb.Strategy != "" {
		m.problems.Errorf(t.Args.Pos(), 0, chain, root+", or use `parallel`", "`strategy` in an included file (%s)", name)
	}
	if pb.Orphans != "" {
		m.problems.Errorf(t.Args.Pos(), 0, chain, root, "`orphans` in an included file (%s)", name)
	}
	if !pb.Force.IsZero() {
		m.problems.Errorf(pb.Force.Pos(), 0, chain, root, "`force_handlers` in an included file (%s)", name)
	}
	for _, q := range pb.Prompts {
		m.problems.Errorf(q.Pos, 0, chain, root, "`vars_prompt` in an included file (%s)", name)
	}
	for _, imported := range pb.Imports {
		m.problems.Errorf(imported.Pos, 0, chain, root, "`imports` in an included file (%s)", name)
	}
	for _, e := range pb.Exports {
		m.problems.Errorf(e.Pos, utf8.RuneCountInString(e.Key), chain, root, "`exports` in an included file (%s)", name)
	}
	if !pb.Hosts.IsZero() {
		m.problems.Errorf(pb.Hosts.Pos(), 0, chain, root+", or next to the include", "`hosts` in an included file (%s)", name)
	}
}
