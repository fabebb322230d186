package planner

import (
	"slices"

	"moon/plan"
	"moon/plan/planner/connect"
	"moon/plan/playbook"
)

// takeLiteral takes a step over from the plan before: one whose task is written out, in a place where nothing around it decides what it
// does. Planning such a step again would give the same, but for its number, its path and the variables that it could see.
func (p *stepPlanner) takeLiteral(c *taskContext, t *playbook.Task, compiled *plan.Compiled) bool {
	before := p.literals.Of(t)
	if before == nil || !c.isBare() || before.Dir != c.dir || !p.secrets.Empty() ||
		!slices.Equal(before.Tags, c.tags) || !slices.Equal(before.Origin.Chain, c.chain) {
		return false
	}
	i := len(p.plan.Steps)
	s, k := *before, *before.Task
	s.Index, s.Group, s.Scope, s.Needs = i, i, c.scope, nil // what it needs is found at the end
	k.Compiled, k.Frame = compiled, p.frame(c, nil)
	s.Task = &k
	if c.form.place(p, &s, t, c); s.Path != before.Path {
		s.Digest = p.concealer.Digest(&s, &k)
	}
	p.plan.Steps = append(p.plan.Steps, s)
	p.prober.Note(&s, c.play != nil || !c.breaking)
	p.register(&s, &k, t, c)
	if p.planned != nil {
		p.planned(c, i)
	}
	return true
}

// isBare reports whether nothing around a task of the step form decides what its step does.
func (c *taskContext) isBare() bool {
	switch {
	case c.form != taskForm(here{}), c.play != nil, c.scene == nil || c.scene.Host != nil, len(c.on.gates)+len(c.gates) > 0:
		return false
	case c.link != connect.Link{}, c.become != connect.Become{}, c.inherit != inherit{}, !c.delegate.IsZero(), c.looks != "", c.path != "", c.once:
		return false
	case len(c.when)+len(c.env)+len(c.ignore)+len(c.notifiers) > 0, !c.cwd.IsZero(), c.handler, c.over != nil:
		return false
	}
	return c.item == nil && c.finds == nil && c.inLoop == nil && c.loop == nil && !c.grown
}
