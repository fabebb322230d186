package planner

import (
	"moon/plan"
	"moon/plan/playbook"
)

// reached notes that a task is planned once more, as n steps or scopes, and reports whether that is within bounds. On each host
// the first time is free.
func (p *fleet) reached(n int, k *plan.Compiled, c *taskContext) bool {
	if k.Reached++; k.Reached <= max(len(p.machines), 1) {
		p.engine.Allow(n*plan.TaskWork, n*plan.TaskText)
		return true
	}
	p.engine.Allow(n*plan.RepeatedWork, n*plan.RepeatedText)
	p.repeated += n
	limit := max(plan.RepeatedSteps, p.o.MaxSteps/100*plan.RepeatedShare, plan.RepeatedHost*len(p.machines))
	if p.repeated <= limit {
		return true
	}
	if !p.Full {
		p.Full = true
		p.Errorf(k.Src.Pos, 0, c.chain, "make the loops and includes around it smaller, or raise the limit with --max-steps",
			"loops and includes in each other would repeat tasks more than %d times", limit)
	}
	return false
}

// rounds reports whether there is room for a loop of n items over a task, on some hosts.
func (p *fleet) rounds(n, hosts int, t *playbook.Task, c *taskContext) bool {
	each := 1
	if t.Kind == playbook.Block {
		each = max(plan.AtLeast(t.Body), 1)
	}
	return p.HasRoom(n*hosts*each, t.Loop.Pos, c.chain) && p.reached(n, p.CompileTask(t, c.chain), c)
}
