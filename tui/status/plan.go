package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/plan"
)

// ScopeTitle is how a scope is called: its kind and its name, either of which may be "".
func ScopeTitle(s *plan.Scope) (kind, name string) {
	kind, name = string(s.Kind), s.Name
	if s.Kind == plan.ScopeBranch {
		kind = cmp.Or(s.Branch, kind)
	}
	if name != "" && (s.Kind == plan.ScopeBatch || s.Kind == plan.ScopeSection) {
		kind = "" // their names say what they are
	}
	if name == string(s.Kind) || name == s.Branch {
		name = "" // what has no name is called by its kind
	}
	if s.Item != "" && !strings.Contains(name, s.Item) {
		name = strings.TrimLeft(name+" ("+s.Item+")", " ")
	}
	return kind, name
}

// mainArgs are the arguments that say most, in the order they are shown in.
var mainArgs = []string{"cmd", "argv", "msg", "name", "pkg", "src", "dest", "path", "url", "repo", "state", "mode"}

// ArgNames are the names of a step's arguments, those that say most first.
func ArgNames(p *plan.Step) []string {
	rank := func(name string) int {
		if i := slices.Index(mainArgs, name); i >= 0 {
			return i
		}
		return len(mainArgs)
	}
	return slices.SortedFunc(maps.Keys(p.Args), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
}

// Difference is what is different in another plan, by the paths of its steps.
type Difference struct {
	Changed []int // in the new plan, as is Added
	Added   []int
	Gone    int
}

// Differ compares two plans.
func Differ(old, now *plan.Plan) (d Difference) {
	digests := make(map[string]string, len(old.Steps))
	for i := range old.Steps {
		// By path: numbers shift with every step that is added.
		digests[old.Steps[i].Path] = old.Steps[i].Digest
	}
	for i := range now.Steps {
		digest, known := digests[now.Steps[i].Path]
		switch {
		case !known:
			d.Added = append(d.Added, i)
		case digest != now.Steps[i].Digest:
			d.Changed = append(d.Changed, i)
		}
		delete(digests, now.Steps[i].Path)
	}
	d.Gone = len(digests)
	return d
}

// OpenedWords says which open places of a plan have been found in the next one, and how many items of loops; "" if there are none.
func OpenedWords(old, now *plan.Plan) string {
	open := map[string]bool{}
	for i := range old.Steps {
		if s := &old.Steps[i]; s.Open() {
			open[s.Path] = true
		}
	}
	places, items, named, name := 0, 0, 0, ""
	for i := range now.Steps {
		s := &now.Steps[i]
		if s.Place == nil || !s.Place.Opened || !open[s.Path] {
			continue
		}
		if places++; name == "" {
			name = now.StepRef(i)
		}
		if s.Loops() {
			items += s.Place.Items
		} else {
			named++
		}
	}
	switch {
	case places == 0:
		return ""
	case places == 1 && named == 1:
		return name + ": found"
	case named > 0:
		return fmt.Sprintf("%s and %s: found", name, plan.CountOf(places-1, "other place"))
	case places == 1:
		return name + ": " + plan.CountOf(items, "item")
	}
	return fmt.Sprintf("%s and %s: %s", name, plan.CountOf(places-1, "other loop"), plan.CountOf(items, "item"))
}

// PlaceWords says of a place whose steps the run finds whether it has found them; "" of any other step.
func PlaceWords(s *plan.Step) string {
	also := ""
	if s.Approves {
		also = "; approved with this step"
	}
	switch {
	case s.Place == nil:
		return ""
	case s.Open() && !s.Loops():
		return "known in the run, which plans it behind this step" + also
	case !s.Loops():
		return "found, and planned behind this step"
	case s.Open():
		return "known in the run, which adds a step for each" + also
	}
	return fmt.Sprintf("%d found, each a step behind this one", s.Place.Items)
}
