package planner

import (
	"cmp"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner/orphans"
	"moon/plan/playbook"
)

// planOrphans plans the steps that remove what no step gives any more: before the new work, or what is late, after it.
func (p *planner) planOrphans(root *taskContext, do doOrphan, late bool) {
	p.plan.Orphans, p.plan.Moved = p.o.Prior.Orphans, p.o.Prior.Moved
	phases := orphans.Phases(p.plan.Orphans, late)
	if len(phases) == 0 {
		return
	}
	from := diag.Origin{File: p.plan.RootFile, Line: 1, Column: 1}
	head := plan.Scope{Kind: plan.ScopeOrphans, Parent: root.scope, Name: "orphans", Origin: from}
	if p.o.Prior.Destroy {
		head.Name = "destroy"
	}
	if len(phases) == 1 {
		head.Parallel = plan.Unlimited
	}
	scope := p.OpenScope(head, "orphans")
	steps := map[int]int{}
	for _, phase := range phases {
		inside := scope
		if play := p.plan.Orphans[phase[0]].Thing.Play; len(phases) > 1 {
			inside = p.OpenScope(plan.Scope{
				Kind: plan.ScopeSection, Parent: scope, Name: cmp.Or(play, "play"), Origin: from, Parallel: plan.Unlimited,
			}, cmp.Or(play, "play"))
		}
		for _, i := range phase {
			if step := planOrphan(p, do, inside, i); step >= 0 {
				steps[i] = step
			}
		}
		if inside != scope {
			p.CloseScope(inside)
		}
	}
	p.CloseScope(scope)
	orphans.Order(p.plan, steps)
}

// planOrphan plans the step that removes one, and gives its number; -1: there is none.
func planOrphan(p *planner, do doOrphan, scope, i int) int {
	o := &p.plan.Orphans[i]
	t, err := orphans.Task(o, p.plan.Root, p.o.Prior.Edited)
	if err != nil {
		p.Errorf(diag.Pos{File: p.plan.RootFile}, 0, nil, "`moon state forget` drops it from what is recorded", "%s cannot be removed: %s",
			o.What(), err)
		return -1
	}
	first := len(p.plan.Steps)
	do(o.Thing.Host, t, scope)
	if len(p.plan.Steps) == first {
		return -1
	}
	p.plan.Steps[first].Orphan = i + 1
	return first
}

// doOrphan plans a task on a host, in a scope.
type doOrphan func(host string, t *playbook.Task, scope int)

// onPlaysHost plans such a task in the form of plays. There is no play for it, so it has one of its own.
func onPlaysHost(p *planner, pb *playbook.Playbook) doOrphan {
	return func(host string, t *playbook.Task, scope int) {
		in := p.hostlessContext(importContext{file: pb.File, dir: p.plan.Root, scope: scope})
		in.on, in.handlers = p.machine(host), newHandlerSet()
		in.play = &playPlanner{src: &playbook.Play{}, scope: scope, handlers: in.handlers, maxFail: -1, scene: in.scene}
		p.planTaskScope([]*taskContext{p.deriveContext(in, t)}, t)
	}
}

// onStepsHost plans it in the form of steps: here, or as a round on the host.
func onStepsHost(p *planner, root *taskContext) doOrphan {
	return func(host string, t *playbook.Task, scope int) {
		in := *root
		in.scope, in.handlers = scope, newHandlerSet()
		if host == "localhost" {
			p.planTask(&in, t)
			return
		}
		p.hosts()
		own := p.CompileTask(t, nil)
		in.when, in.become = own.When, in.become.With(t)
		over := &hostRounds{pattern: host, hosts: []*plannedHost{p.machine(host)}}
		p.planHostRound(p.roundsOnHosts(&in, t, over, scope)[0], t)
	}
}
