package fix

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/plan"
	"moon/plan/counterpart"
	"moon/tui/status"
)

// Effect is what a plan becomes with other values.
type Effect struct {
	Gone    bool     // the step is not in it any more
	Same    bool     // what the step does stays as it is
	Changes []Change // to the step
	Notes   []string // instead of them: what was overridden, where nothing can be seen of it
	Others  []*plan.Step
	Done    []*plan.Step // done already with the old value; they change only if they are run again
	Left    int          // how many steps are not in it any more
}

// Change is a part of a step before and after. Label is "" for what it runs.
type Change struct{ Label, Was, Now string }

// EffectOf compares the plan that would be with the one there is. path is the step that the values are of, or "". done says
// which steps of the one there is have succeeded.
func EffectOf(old, next *plan.Plan, path string, done func(step int) bool) (e Effect) {
	find := func(p *plan.Plan) *plan.Step {
		if i := slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.Path == path }); i >= 0 {
			return &p.Steps[i]
		}
		return nil
	}
	d := status.Differ(old, next)
	// What has run is known by the numbers of the old plan.
	was := counterpart.Of(next, old)
	for _, i := range slices.Sorted(slices.Values(slices.Concat(d.Changed, d.Added))) {
		switch s := &next.Steps[i]; {
		case s.Path == path:
		case was[i] >= 0 && done(was[i]):
			e.Done = append(e.Done, s)
		default:
			e.Others = append(e.Others, s)
		}
	}
	e.Left = d.Gone
	if path != "" {
		e.step(find(old), find(next))
	}
	return e
}

// step compares the step that the values are of.
func (e *Effect) step(old, next *plan.Step) {
	switch {
	case next == nil:
		e.Gone = true
		return
	case old == nil:
		e.Same = true
		return
	case old.Digest == next.Digest && (len(next.Overridden) == 0 || len(old.Overridden) == len(next.Overridden)):
		// A new override is not the same: it gets a note even if nothing can be seen of it.
		e.Same = true
		return
	}
	change := func(label, was, now string) {
		if was != now {
			e.Changes = append(e.Changes, Change{label, was, now})
		}
	}
	change("", runs(old), runs(next))
	change("cwd ", old.Cwd, next.Cwd)
	change("when ", string(old.Prediction), string(next.Prediction))
	if !inOneLine(next) {
		for _, name := range slices.Sorted(maps.Keys(next.Env)) {
			change(name+"=", old.Env[name], next.Env[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.Args)) {
		if name != "cmd" && name != "argv" && name != "msg" { // they are what it runs
			change(name+" ", shown(old.Args[name]), shown(next.Args[name]))
		}
	}
	if len(e.Changes) == 0 {
		for _, o := range next.Overridden {
			e.Notes = append(e.Notes, o.Text())
		}
	}
}

// runs is what a step runs; where that is a line, with the environment that the playbook gives it.
func runs(p *plan.Step) string {
	text := cmp.Or(shown(p.Args["cmd"]), p.Summary)
	if !inOneLine(p) {
		return text
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		fmt.Fprintf(&b, "%s=%q ", name, p.Env[name])
	}
	return b.String() + text
}

func inOneLine(p *plan.Step) bool {
	return !strings.Contains(strings.TrimRight(shown(p.Args["cmd"]), "\n"), "\n")
}

func shown(v any) string {
	text, after := plan.Display(v)
	if len(after) > 0 {
		return "known later"
	}
	return text
}
