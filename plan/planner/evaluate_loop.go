package planner

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval"
	"moon/plan/eval/value"
	"moon/plan/playbook"
	"moon/plan/source"
	"moon/plan/vars"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// factNames puts the names of the variables that a set_fact sets in the place of the templates they are written as. The tasks after it use
// them, so they are known when the plan is made; the values need not be.
func (p *evaluator) factNames(k *plan.Task, t *playbook.Task, c *taskContext, e *plan.Env, guards []string) {
	templated := func(g plan.Arg) bool { return g.Field == nil && eval.Templated(g.Key) }
	if k.Action.Name != "set_fact" || !slices.ContainsFunc(k.Args, templated) {
		return
	}
	own := *k.Compiled // the other hosts and rounds of the task have names of their own
	own.Args = nil
	for _, g := range k.Args {
		if templated(g) {
			key := playbook.Written(g.KeyPos(t), g.Key)
			r := p.Renderer(e, c.chain)
			r.Guards = guards
			name := r.Text(key)
			switch {
			case r.Failed || r.Undefined: // said
			case len(r.Missing) > 0:
				p.ReportLate(key, c.chain, "set a variable with a name that is known, to a map: `found: {\"{{ … }}\": …}`",
					"the name of this variable", r.Missing)
			case !variableName.MatchString(name):
				p.Errorf(key.Pos(), utf8.RuneCountInString(g.Key), c.chain, "letters, digits and _, not starting with a digit",
					"%s cannot be the name of a variable", plan.Quoted(name))
			default:
				g.Name = name
			}
		}
		own.Args = append(own.Args, g)
	}
	k.Compiled = &own
}

// fileTree are the items of with_filetree: what is below a directory.
func (p *evaluator) fileTree(c *taskContext, t *playbook.Task, r *plan.Renderer) ([]item, []value.Missing, bool) {
	over := t.Loop.Over
	if over.IsZero() {
		return nil, nil, false // the parser has said why
	}
	fail := func(hint, format string, args ...any) {
		p.Errorf(over.Pos(), utf8.RuneCountInString(plan.FirstLine(over.Text())), c.chain, hint, "with_filetree: "+format, args...)
	}
	name := r.Text(over)
	switch {
	case r.Failed:
		return nil, nil, false
	case len(r.Missing) > 0:
		return nil, r.Missing, false
	}
	list, ok := p.ListTree(name, c.dir, fail)
	return itemsOf(list), nil, ok
}

// lookedUp are the items that a lookup gives: those of with_dict and the like. with_items makes one list of lists. What has no
// braces is a text, and no expression.
func (p *evaluator) lookedUp(t *playbook.Task, r *plan.Renderer, e *plan.Env) (items []item, late []value.Missing, ok bool) {
	over := t.Loop.Over
	terms := r.Value(over)
	if r.Failed {
		return nil, nil, false
	}
	if len(r.Missing) > 0 {
		if t.Loop.Key == "with_items" {
			if items, ok := p.resultsOf(over, e); ok {
				return items, nil, true
			}
		}
		return nil, r.Missing, false
	}
	name := strings.TrimPrefix(t.Loop.Key, "with_")
	list, missing, err := p.engine.LookupItems(e, name, terms, source.SourceDirs[t.Action])
	if err != nil {
		r.Wrong(over, err)
		return nil, nil, false
	}
	return itemsOf(list), missing, len(missing) == 0
}

// resultsOf are the items of a loop over the results of another. How many there are is known, as is the item that each is about: what
// is not known is the rest, so the items are open.
func (p *evaluator) resultsOf(over playbook.Value, e *plan.Env) ([]item, bool) {
	m := plan.LoopResults.FindStringSubmatch(over.Text())
	if m == nil {
		return nil, false
	}
	var from *vars.Binding
	e.Frame.Each(m[1], func(b *vars.Binding) bool {
		from = b
		return true
	})
	if from == nil || from.By != nil && len(from.By.BreakWhen) > 0 {
		return nil, false
	}
	all, given := from.Steps, []*vars.Binding{from}
	if from.How == vars.Relayed { // each host would have given as many
		given = from.Relay
	}
	for _, one := range given {
		if one.How != vars.Collected || len(one.Steps) != len(given[0].Steps) {
			return nil, false
		}
	}
	return p.openResults(m[1], over, e, given[0], all), true
}

// openResults are the results of the steps of a loop, which all of some steps give.
func (p *evaluator) openResults(name string, over playbook.Value, e *plan.Env, from *vars.Binding, all []int) []item {
	items := make([]item, len(from.Steps))
	for i, step := range from.Steps {
		s := &p.plan.Steps[step]
		var about any
		if !s.NoLog {
			about = s.Task.Frame.Loop.Find(s.Loop.Var).Value
		}
		waits := all
		if v, ok := e.Element(name, i); ok { // for this round alone
			if one, is := v.(value.Unknown); is {
				waits = one.Steps
			}
		}
		known := plan.RoundNames(p.plan.Dialect, s.Loop.Var, about, s.NoLog)
		items[i] = item{
			about: about, value: value.Partial{Name: name, Known: known, Steps: slices.Clone(waits)}, open: true,
			raw: playbook.Written(over.Pos(), fmt.Sprintf("{{ %s.results[%d] }}", name, i)), where: e.Frame,
		}
	}
	return items
}

// shaping has an environment note that what is evaluated with it decides what is planned. The caller calls done when it is evaluated.
func (p *evaluator) shaping(e *plan.Env, c *taskContext, what string, at diag.Pos) (done func()) {
	var took []int
	e.Took = &took
	return func() {
		e.Took = nil
		p.noteShape(c, what, at, took)
	}
}

func (p *evaluator) noteShape(c *taskContext, what string, at diag.Pos, took []int) {
	if len(took) > 0 {
		p.plan.Shapes = append(p.plan.Shapes, plan.Shape{What: what, At: at, By: took, Host: c.on.Name, First: len(p.plan.Steps)})
	}
}
