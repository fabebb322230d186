package planner

import (
	"slices"
	"strings"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/gates"
	"moon/plan/planner/relay"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// breaking puts before the conditions of an item that no item before it has ended the loop.
func (p *stepPlanner) breaking(k *plan.Task, s *plan.Step, c *taskContext) {
	if len(k.Breaks) == 0 || c.item == nil {
		return
	}
	s.Keeps = true
	scope := &p.plan.Scopes[c.scope]
	if scope.First == s.Index {
		return
	}
	before := &plan.Earlier{}
	for i := scope.First; i < s.Index; i++ {
		before.Steps = append(before.Steps, i)
	}
	text := plan.WhenText(k.Breaks)
	k.When = append([]plan.Condition{{Value: playbook.Written(k.Src.BreakWhen[0].Pos(), "not ("+text+")"), Broke: before}}, k.When...)
}

// addGates puts what decides whether a task is there at all before its own conditions.
func (p *stepPlanner) addGates(k *plan.Task, c *taskContext) {
	if own := p.gatesOf(c); len(c.gates)+len(own) > 0 {
		k.When = slices.Concat(gates.Conditions(own), gates.Conditions(c.gates), k.When)
	}
}

// gatesOf are the gates of the host that are about a place.
func (p *stepPlanner) gatesOf(c *taskContext) []gates.At {
	elsewhere := func(g gates.At) bool { return g.Role > 0 && !p.Within(c.scope, g.Role) }
	if !slices.ContainsFunc(c.on.gates, elsewhere) {
		return c.on.gates
	}
	return slices.DeleteFunc(slices.Clone(c.on.gates), elsewhere)
}

// handOver takes down the facts that a step gives its host.
func (p *stepPlanner) handOver(s *plan.Step, k *plan.Task, t *playbook.Task, c *taskContext) {
	names := relay.FactNames(k, s.Delegate != "")
	switch name := k.Action.Name; {
	case len(names) > 0:
	case name == "getent":
		if k.Call == nil {
			return
		}
		if database := value.Text(value.Plain(k.Call.Raw["database"])); !strings.Contains(database, "{{") {
			names = []string{"getent_" + database}
		}
	case k.Action.Plugin != nil && k.Action.Plugin.Looks:
		names = []string{k.Action.Plugin.Fact()}
	case k.Action.Plugin != nil && (!k.Action.Plugin.NeedsPython() || k.Action.Plugin.GivesFacts), name == "setup" && s.Delegate != "":
		names = []string{vars.AnyName}
	}
	if len(names) == 0 || s.Excluded || s.Prediction == plan.WillSkip {
		return
	}
	m, from := p.factHost(s, c), s.Action
	if from == "setup" {
		from = vars.Gathered
	}
	for _, name := range names {
		m.Handed.Add(&vars.Binding{
			Name: name, From: from, Origin: origin(t.Pos, c.chain), How: vars.Handed, Steps: []int{s.Index},
			By: t, Early: p.prober.Asks(s.Index), GivesFacts: k.Action.Plugin != nil && k.Action.Plugin.GivesFacts,
		})
	}
}
