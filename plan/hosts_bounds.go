package plan

import (
	"moon/plan/playbook"
)

// reached notes that a task is planned once more, as n steps or scopes, and reports whether that is within bounds. On each host
// the first time is free.
func (p *fleet) reached(n int, k *compiled, c *taskContext) bool {
	if k.reached++; k.reached <= max(len(p.machines), 1) {
		p.engine.Allow(n*taskWork, n*taskText)
		return true
	}
	p.engine.Allow(n*repeatedWork, n*repeatedText)
	p.repeated += n
	limit := max(repeatedSteps, p.o.MaxSteps/100*repeatedShare, repeatedHost*len(p.machines))
	if p.repeated <= limit {
		return true
	}
	if !p.full {
		p.full = true
		p.errorf(k.src.Pos, 0, c.chain, "make the loops and includes around it smaller, or raise the limit with --max-steps",
			"loops and includes in each other would repeat tasks more than %d times", limit)
	}
	return false
}

// rounds reports whether there is room for a loop of n items over a task, on some hosts.
func (p *fleet) rounds(n, hosts int, t *playbook.Task, c *taskContext) bool {
	each := 1
	if t.Kind == playbook.Block {
		each = max(atLeast(t.Body), 1)
	}
	return p.hasRoom(n*hosts*each, t.Loop.Pos, c.chain) && p.reached(n, p.compileTask(t, c), c)
}
