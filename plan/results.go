package plan

import (
	"fmt"
	"regexp"
	"slices"

	"moon/plan/eval"
	"moon/plan/playbook"
)

// loopResults is a loop over what another loop has registered.
var loopResults = regexp.MustCompile(`^\s*\{\{\s*(\w+)\.results\s*(?:\|\s*(?:list|default\(\s*\[\s*\]\s*\)|d\(\s*\[\s*\]\s*\))\s*)*\}\}\s*$`)

// resultsOf are the items of a loop over the results of another. How many there are is known, as is the item that each is about: what
// is not known is the rest, so the items are open.
func (p *evaluator) resultsOf(over playbook.Value, e *env) ([]item, bool) {
	m := loopResults.FindStringSubmatch(over.Text())
	if m == nil || e.frame.all.of == nil {
		return nil, false
	}
	var from *binding
	e.frame.each(m[1], func(b *binding) bool {
		from = b
		return true
	})
	if from == nil || from.by != nil && len(from.by.BreakWhen) > 0 {
		return nil, false
	}
	all, given := from.steps, []*binding{from}
	if from.how == relayed { // each host would have given as many
		given = from.relay
	}
	for _, one := range given {
		if one.how != collected || len(one.steps) != len(given[0].steps) {
			return nil, false
		}
	}
	return p.openResults(m[1], over, e, given[0], all), true
}

// openResults are the results of the steps of a loop, which all of some steps give.
func (p *evaluator) openResults(name string, over playbook.Value, e *env, from *binding, all []int) []item {
	items := make([]item, len(from.steps))
	for i, step := range from.steps {
		s := &p.plan.Steps[step]
		known := map[string]any{"ansible_loop_var": s.Loop.Var}
		if !s.NoLog {
			known[s.Loop.Var] = s.task.frame.loop.find(s.Loop.Var).value
		}
		items[i] = item{
			value: eval.Partial{Name: name, Known: known, Steps: slices.Clone(all)}, open: true,
			raw: playbook.Written(over.Pos(), fmt.Sprintf("{{ %s.results[%d] }}", name, i)), where: e.frame,
		}
	}
	return items
}
