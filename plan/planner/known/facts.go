package known

import (
	"maps"
	"slices"
	"unicode/utf8"

	"moon/internal/pattern"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/secret"
)

// FactsOf are the values that a set_fact will set, as far as they are known: those of arguments in which nothing is open. Maps among them
// have the order in which they are written.
func FactsOf(k *plan.Task, raw map[string]any, f *plan.Fields, secrets *secret.Set) map[string]any {
	if k.Action.Name != "set_fact" || !k.Sound || f.R.Failed || f.R.Undefined || f.R.Fails {
		return nil
	}
	sets := maps.Clone(raw)
	for _, u := range f.Unknowns {
		delete(sets, u.Field)
	}
	for name, v := range sets {
		sets[name] = value.Mixed(secrets, value.InOrderOf(v, f.R.Ordered[name]))
	}
	return sets
}

var variableName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// NameFacts puts the names of the variables that a set_fact sets in the place of the templates they are written as. The tasks after it use
// them, so they are known when the plan is made; the values need not be.
func (k *Reader) NameFacts(task *plan.Task, t *playbook.Task, chain []string, renderer func() *plan.Renderer) {
	templated := func(g plan.Arg) bool { return g.Field == nil && eval.Templated(g.Key) }
	if task.Action.Name != "set_fact" || !slices.ContainsFunc(task.Args, templated) {
		return
	}
	own := *task.Compiled // the other hosts and rounds of the task have names of their own
	own.Args = nil
	for _, g := range task.Args {
		if templated(g) {
			key := playbook.Written(g.KeyPos(t), g.Key)
			r := renderer()
			name := r.Text(key)
			switch {
			case r.Failed || r.Undefined: // said
			case len(r.Missing) > 0:
				k.ReportLate(key, chain, "set a variable with a name that is known, to a map: `found: {\"{{ … }}\": …}`",
					"the name of this variable", r.Missing)
			case !variableName.MatchString(name):
				k.problems.Errorf(key.Pos(), utf8.RuneCountInString(g.Key), chain, "letters, digits and _, not starting with a digit",
					"%s cannot be the name of a variable", plan.Quoted(name))
			default:
				g.Name = name
			}
		}
		own.Args = append(own.Args, g)
	}
	task.Compiled = &own
}
