package plan

import (
	"slices"
	"strings"

	"moon/plan/eval"
	"moon/plan/playbook"
)

// breaking puts before the conditions of an item that no item before it has ended the loop.
func (p *stepPlanner) breaking(k *task, s *Step, c *taskContext) {
	if len(k.breaks) == 0 || c.item == nil {
		return
	}
	s.Keeps = true
	scope := &p.plan.Scopes[c.scope]
	if scope.First == s.Index {
		return
	}
	before := &earlier{}
	for i := scope.First; i < s.Index; i++ {
		before.steps = append(before.steps, i)
	}
	text := whenText(k.breaks)
	k.when = append([]condition{{value: playbook.Written(k.src.BreakWhen[0].Pos(), "not ("+text+")"), broke: before}}, k.when...)
}

// handOver takes down the facts that a step gives its host.
func (p *stepPlanner) handOver(s *Step, k *task, t *playbook.Task, c *taskContext) {
	var names []string
	switch name := k.action.Name; {
	case name == "package_facts":
		names = []string{"packages"}
	case name == "service_facts":
		names = []string{"services"}
	case name == "getent":
		if k.call == nil {
			return
		}
		database := eval.Text(eval.Plain(k.call.Raw["database"]))
		if strings.Contains(database, "{{") {
			return
		}
		names = []string{"getent_" + database}
	case k.action.Plugin != nil:
		names = []string{anyName}
	}
	if len(names) == 0 || s.Excluded || s.Prediction == WillSkip {
		return
	}
	m := p.factHost(s, c)
	for _, name := range names {
		m.handed.add(&binding{name: name, from: s.Action, origin: origin(t.Pos, c.chain), how: handed, steps: []int{s.Index}, by: t})
	}
}

// relayFacts gives the facts that a task with run_once gives to all hosts it was for.
func relayFacts(cs []*taskContext, t *playbook.Task) {
	var from []*binding
	for _, c := range cs {
		for _, versions := range c.on.handed.versions {
			for _, v := range versions {
				if v.by == t {
					from = append(from, v.binding)
				}
			}
		}
	}
	slices.SortFunc(from, func(a, b *binding) int { return a.steps[0] - b.steps[0] })
	for _, b := range from {
		for _, c := range cs {
			c.on.handed.add(b)
		}
	}
}
