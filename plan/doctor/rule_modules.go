package doctor

import (
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan/playbook"
	"moon/plan/walk"
)

// Foreign is a module that moon does not know.
type Foreign struct {
	Name string
	At   []diag.Pos
}

// modulesRule lists the modules that moon does not know, each once with its places.
type modulesRule struct {
	walk.Unmoved
	site
	found map[string][]diag.Pos
	at    map[diag.Pos]bool
}

func newModulesRule(s site) *modulesRule {
	return &modulesRule{site: s, found: map[string][]diag.Pos{}, at: map[diag.Pos]bool{}}
}

// VisitTask notes a task whose action is not known.
func (r *modulesRule) VisitTask(t *playbook.Task, _ walk.Place) {
	if t.Kind != playbook.Action || t.Action != "" || t.ActionKey == "" || r.at[t.ActionPos] {
		return
	}
	r.at[t.ActionPos] = true
	r.found[t.ActionKey] = append(r.found[t.ActionKey], t.ActionPos)
}

// listForeign returns what was found, the most used first.
func (r *modulesRule) listForeign() []Foreign {
	var list []Foreign
	for name, at := range r.found {
		list = append(list, Foreign{name, at})
	}
	slices.SortFunc(list, func(a, b Foreign) int {
		if len(a.At) != len(b.At) {
			return len(b.At) - len(a.At)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}
