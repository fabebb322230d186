package plan

import (
	"regexp"
	"slices"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan/eval"
	"moon/plan/playbook"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// factNames puts the names of the variables that a set_fact sets in the place of the templates they are written as. The tasks after it use
// them, so they are known when the plan is made; the values need not be.
func (p *evaluator) factNames(k *task, t *playbook.Task, c *scopeContext, e *env, guards []string) {
	templated := func(g arg) bool { return g.field == nil && eval.Templated(g.key) }
	if k.action.Name != "set_fact" || !slices.ContainsFunc(k.args, templated) {
		return
	}
	own := *k.compiled // the other hosts and rounds of the task have names of their own
	own.args = nil
	for _, g := range k.args {
		if templated(g) {
			key := playbook.Written(keyPos(t, g), g.key)
			r := p.renderer(e, c.chain)
			r.guards = guards
			name := r.text(key)
			switch {
			case r.failed || r.undefined: // said
			case len(r.missing) > 0:
				p.tooLate(key, c.chain, "set a variable with a name that is known, to a map: `found: {\"{{ … }}\": …}`", "the name of this variable", r.missing)
			case !variableName.MatchString(name):
				p.errorf(key.Pos(), utf8.RuneCountInString(g.key), c.chain, "letters, digits and _, not starting with a digit", "%s cannot be the name of a variable", quoted(name))
			default:
				g.name = name
			}
		}
		own.args = append(own.args, g)
	}
	k.compiled = &own
}

// keyPos is where the key of an argument is written.
func keyPos(t *playbook.Task, g arg) diag.Pos {
	for _, v := range []playbook.Value{t.Args, t.ExtraArgs} {
		for _, e := range v.Entries() {
			if e.Key == g.key {
				return e.Pos
			}
		}
	}
	return g.value.Pos()
}
