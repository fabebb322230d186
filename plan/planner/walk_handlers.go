package planner

import (
	"cmp"
	"slices"

	"moon/plan"
	"moon/plan/planner/calls"
	"moon/plan/playbook"
	"moon/plan/sequence"
)

// defineHandlers adds the handlers of a file of steps: they belong to what is in the file, and have its variables.
func (p *planner) defineHandlers(c *taskContext, tasks []*playbook.Task) {
	if len(tasks) == 0 {
		return
	}
	around := *c
	around.when, around.notify, around.item = nil, nil, nil // a step inside has notified them, so the conditions have held
	around.over = nil                                       // they run where they are notified
	list := p.handlersOf(playbook.TasksOf{File: c.file, Tasks: tasks}, &around, nil, nil)
	for _, h := range list {
		h.around = &around
	}
	c.handlers.list = append(c.handlers.list, list...)
}

// flushHandlers plans the handlers that may have been notified since the last time, in the order in which they are defined.
func (p *planner) flushHandlers(cs []*taskContext) {
	if len(cs) == 0 {
		return
	}
	hs := cs[0].handlers
	scope := -1
	for _, h := range hs.list {
		var list []*taskContext
		for _, c := range p.notifiedOn(p.staying(cs), h) {
			by := hs.notified[notice{c.on, h}]
			if len(by.Steps) == 0 {
				continue
			}
			if !c.mayFlush() {
				delete(hs.notified, notice{c.on, h})
			}
			if scope < 0 {
				scope = p.OpenScope(plan.Scope{
					Kind: plan.ScopeSection, Parent: c.scope, Name: "handlers",
					Origin: origin(h.task.Pos, c.chain), Handlers: true, Force: hs.force && !cs[0].mayFlush(),
				}, "handlers")
			}
			list = append(list, p.handling(c, h, by, scope))
		}
		from := len(p.plan.Steps)
		switch {
		case len(list) == 0:
			continue
		case h.around != nil:
			p.planHandler(list, h)
		default:
			p.planTaskForHosts(list, h.task)
		}
		for _, in := range list {
			// Of a play the steps of all hosts come one after the other; of steps each round is planned by itself.
			switch {
			case !cs[0].mayFlush():
			case h.around != nil:
				p.maybeFlushed(in, h, in.group)
			default:
				p.maybeFlushed(in, h, p.firstOf(in.on, from))
			}
		}
	}
	if scope >= 0 {
		p.CloseScope(scope)
	}
}

// mayFlush reports whether it is known only in the run that handlers are flushed at a place: a failure may keep it from being reached.
func (c *taskContext) mayFlush() bool { return c.maybe() || c.breaking }

// handling is the context of a handler on a host.
func (p *planner) handling(c *taskContext, h *handler, by calls.Callers, scope int) *taskContext {
	hs := c.handlers
	in := *cmp.Or(h.around, h.use, hs.base[c.on])
	if h.use != nil { // as with Ansible, a handler has the keys of all that its role is in
		in.on, in.scene, in.inLoop, in.gates = c.on, hs.base[c.on].scene, nil, nil
		in.rescuing, in.breaking, in.caught = c.rescuing, c.breaking, c.caught
	}
	in.scope, in.notifiers, in.handler, in.pos = scope, by, true, h.task.Pos
	in.flushes = hs.flushed[notice{c.on, h}]
	if !c.mayFlush() {
		delete(hs.flushed, notice{c.on, h})
	}
	if h.around != nil && c.scene.Host != nil {
		in.on, in.scene = c.on, p.sceneOfSteps(sceneOf{dir: in.dir, pattern: c.scene.Play, host: c.on.Machine})
	}
	if h.role == nil {
		return inHandlers(p, &in, h)
	}
	in.file, in.dir = h.file, h.dir
	p.selectHost(&in)
	return inHandlers(p, p.enterRole(&in, h.by, h.role, false), h)
}

// inHandlers gives a handler the keys of the blocks and imports that it is in.
func inHandlers(p *planner, in *taskContext, h *handler) *taskContext {
	for _, t := range h.inside {
		p.selectHost(in)
		in = p.deriveContext(in, t)
		if t != h.by {
			in.block = p.shareLayer(t, in.block, "block vars", in.chain)
		}
	}
	if len(h.inside) > 0 {
		in.file, in.dir, in.pos = h.file, h.dir, h.task.Pos
		in.chain = append(slices.Clip(in.chain), h.chain...)
	}
	return in
}

// flushHere plans the handlers that the steps before have notified, at a place of a playbook of steps.
func (p *planner) flushHere(c *taskContext, t *playbook.Task) {
	if p.tags.Exclude(c.tags) {
		return
	}
	for s := c.scope; s >= 0; s = p.plan.Scopes[s].Parent {
		if tree := (sequence.Tree{Plan: p.plan}); tree.Parallel(s) > 0 {
			p.Errorf(t.Pos, 0, c.chain, "move it in front of the parallel steps or behind them; handlers run at the end, too",
				"`meta: flush_handlers` needs an order of the steps, and here they have none")
			return
		}
	}
	r := p.Renderer(p.env(c, nil), c.chain)
	v := r.Decide(c.when)
	switch {
	case r.Failed:
	case !v.Known:
		p.ReportLate(t.Args, c.chain, "remove it, or write a condition that is known before the run", "whether the handlers run here",
			r.Missing)
	case v.Holds:
		p.flushHandlers([]*taskContext{c})
	}
}
