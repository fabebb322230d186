package planner

import "moon/plan"

// flushHandlers plans the handlers that may have been notified since the last time, in the order in which they are defined.
func (p *planner) flushHandlers(cs []*taskContext) {
	if len(cs) == 0 {
		return
	}
	play := cs[0].play
	scope := -1
	for _, h := range play.handlers {
		var list []*taskContext
		for _, c := range p.staying(cs) {
			steps := play.notified[c.on][h]
			if len(steps) == 0 {
				continue
			}
			if !c.maybe() {
				delete(play.notified[c.on], h)
			}
			if scope < 0 {
				scope = p.OpenScope(plan.Scope{
					Kind: plan.ScopeSection, Parent: c.scope, Name: "handlers",
					Origin: origin(h.task.Pos, c.chain), Handlers: true, Force: play.force,
				}, "handlers")
			}
			list = append(list, p.handling(c, h, steps, scope))
		}
		if len(list) > 0 {
			from := len(p.plan.Steps)
			p.planTaskForHosts(list, h.task)
			if cs[0].maybe() {
				p.maybeFlushed(play, h, from)
			}
		}
	}
	if scope >= 0 {
		p.CloseScope(scope)
	}
}

// handling is the context of a handler on a host.
func (p *planner) handling(c *taskContext, h *handler, steps []int, scope int) *taskContext {
	in := *c.play.base[c.on]
	in.scope, in.notifiers, in.handler, in.pos = scope, steps, true, h.task.Pos
	if f := c.play.flushed[c.on][h]; f.notifiers == len(steps) {
		in.gates = f.gates
	}
	if !c.maybe() {
		delete(c.play.flushed[c.on], h)
	}
	if h.role == nil {
		return &in
	}
	in.file, in.dir = h.file, h.dir
	p.selectHost(&in)
	return p.enterRole(&in, h.by, h.role)
}
