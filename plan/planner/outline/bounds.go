package outline

import (
	"moon/plan"
	"moon/plan/playbook"
)

// Reached notes that a task is planned again, as n steps or scopes, and reports whether that is within bounds. On each of the hosts
// the first time is free.
func (o *Outline) Reached(n int, k *plan.Compiled, hosts int, chain []string) bool {
	if k.Reached++; k.Reached <= max(hosts, 1) {
		o.plan.Engine.Allow(n*plan.TaskWork, n*plan.TaskText)
		return true
	}
	o.plan.Engine.Allow(n*plan.RepeatedWork, n*plan.RepeatedText)
	o.repeated += n
	limit := max(plan.RepeatedSteps, o.maxSteps/100*plan.RepeatedShare, plan.RepeatedHost*hosts)
	if o.repeated <= limit {
		return true
	}
	if !o.problems.Full {
		o.problems.Full = true
		o.problems.Errorf(k.Src.Pos, 0, chain, "make the loops and includes around it smaller, or raise the limit with --max-steps",
			"loops and includes in each other would repeat tasks more than %d times", limit)
	}
	return false
}

// Rounds reports whether there is room for a loop over a task: n is the number of its items on all hosts that have them.
func (o *Outline) Rounds(n int, t *playbook.Task, chain []string) bool {
	each := 1
	if t.Kind == playbook.Block {
		each = max(plan.AtLeast(t.Body), 1)
	}
	return o.HasRoom(n*each, t.Loop.Pos, chain)
}
