package plan

import (
	"slices"

	"moon/internal/diag"
	"moon/plan/playbook"
)

// parallelKey is the key that makes a group parallel.
const parallelKey = "parallel"

// parallelGroup is what `parallel` on a block or an include of a play asks for.
type parallelGroup struct {
	atOnce int // as in Scope.Parallel
	pos    diag.Pos
}

// group reads `parallel` of a group of tasks in a play. With `strategy: graph` a block is not a part of the order, so neither a limit
// nor a rescue has anything to go by.
func (p *playsState) group(c *scopeContext, t *playbook.Task) parallelGroup {
	g := parallelGroup{atOnce: p.parallel(t.Parallel, c), pos: t.Parallel.Pos()}
	if i := slices.IndexFunc(t.Keys, func(e playbook.Entry) bool { return e.Key == parallelKey }); i >= 0 {
		g.pos = t.Keys[i].Pos
	}
	if p.plan.Scopes[c.play.scope].Strategy != "graph" {
		return g
	}
	refuse := func(pos diag.Pos, key, hint string) {
		p.errorf(pos, len(key), c.chain, hint, "`%s` in a play with `strategy: graph`, where only values and needs order the tasks", key)
	}
	if g.atOnce > 0 && g.atOnce < Unlimited {
		refuse(g.pos, parallelKey, "leave it out and limit the whole run with `--forks`, or use another strategy")
	}
	if len(t.Rescue) > 0 {
		refuse(t.RescuePos, "rescue", "use the strategy linear or free, with `parallel: true` on the block")
	}
	if len(t.Always) > 0 {
		refuse(t.AlwaysPos, "always", "use the strategy linear or free, with `parallel: true` on the block")
	}
	return g
}

// inParallel are the contexts inside a group.
func inParallel(cs []*scopeContext, g parallelGroup) []*scopeContext {
	if g.atOnce == 0 {
		return cs
	}
	list := make([]*scopeContext, len(cs))
	for i, c := range cs {
		one := *c
		one.parallel = g.pos
		list[i] = &one
	}
	return list
}

// ordersPlay are the metas that divide a play into what comes before them and what comes after.
var ordersPlay = []string{"flush_handlers", "end_host", "end_play", "end_batch", "end_role", "clear_host_errors", "clear_facts"}

// steersParallel refuses a meta that is about what comes before or after it, where the tasks have no order.
func (p *playsState) steersParallel(c *scopeContext, t *playbook.Task, what string) bool {
	if c.parallel.Line == 0 || !slices.Contains(ordersPlay, what) {
		return false
	}
	p.errorf(c.parallel, len(parallelKey), c.chain, "move the `meta` in front of the parallel tasks or behind them",
		"`meta: %s` (line %d) needs an order of the tasks, and `parallel` gives them none", what, t.Pos.Line)
	return true
}
