package loops

import (
	"fmt"
	"slices"
	"strings"

	"moon/plan"
	"moon/plan/playbook"
)

// Name is how a loop is called, and its part of paths, which does not hold what the steps do.
func Name(t *playbook.Task) (name, label string) {
	if name := plan.FirstLine(t.Name.Text()); name != "" {
		return name, name
	}
	text := plan.FirstLine(t.Args.Text())
	switch {
	case t.Kind == playbook.Include, t.Kind == playbook.Preset:
		return text, text
	case t.Kind == playbook.Action && text != "":
		return t.ActionKey + ": " + text, t.Action
	}
	return t.ActionKey, t.ActionKey
}

// Expression says what a loop is over.
func Expression(l *playbook.Loop) string {
	switch l.Over.Kind() {
	case playbook.List:
		return fmt.Sprintf("list of %d", l.Over.Len())
	case playbook.Map:
		return fmt.Sprintf("map of %d", l.Over.Len())
	case playbook.Null, playbook.Bool, playbook.Int, playbook.Float, playbook.String:
	}
	return strings.TrimSpace(l.Over.Text())
}

// Sets are the names that what is inside a task sets, as far as the text says: register and set_fact.
func Sets(t *playbook.Task) (names []string) {
	if t.Register != "" {
		names = append(names, t.Register)
	}
	if t.Kind == playbook.Vars || t.Kind == playbook.Action && t.Action == "set_fact" {
		for _, v := range []playbook.Value{t.Args, t.ExtraArgs} {
			for _, e := range v.Entries() {
				if !strings.Contains(e.Key, "{{") {
					names = append(names, e.Key)
				}
			}
		}
	}
	for _, part := range t.Parts() {
		for _, inner := range part.Tasks {
			names = append(names, Sets(inner)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
