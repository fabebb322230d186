package planner

import (
	"moon/plan"
	"moon/plan/planner/relay"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// handOver takes down the facts that a step gives its host.
func (p *stepPlanner) handOver(s *plan.Step, k *plan.Task, t *playbook.Task, c *taskContext) {
	names := relay.FactNames(k, s.Delegate != "")
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
