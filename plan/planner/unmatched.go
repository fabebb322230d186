package planner

import (
	"path/filepath"
	"slices"

	"moon/plan"
	"moon/plan/planner/unmatched"
	"moon/plan/playbook"
	"moon/plan/vars"
	"moon/plan/walk"
)

// checkUnmatched reports the mistakes in plays without hosts. It comes last, so that what other plays use too is not looked at again.
func (p *planner) checkUnmatched() {
	for _, play := range p.unmatched {
		c := p.hostlessContext(play.in)
		c.pos = play.play.Pos
		at := walk.Place{Lookout: c.lookout(p.plan.Root), File: c.file, Chain: c.chain, In: play.in.in}
		rule := &unmatched.Rule{
			Collector: p.Collector, Library: p.Library, Compiler: p.Compiler, Disk: p.disk, Engine: p.engine, Plan: p.plan, Home: p.o.Home,
			Names:     func(at walk.Place) *plan.Env { return p.env(c.movedTo(at), nil) },
			CheckMeta: func(t *playbook.Task, at walk.Place) { p.checkMeta(t, c.movedTo(at)) },
		}
		walk.New(walk.Request{
			Library: p.Library, Problems: p.Collector, Disk: p.disk, Options: &p.o, Visitors: []walk.Visitor{rule},
		}).Play(play.play, at)
	}
}

// movedTo is the context of a task at a place of a walk through the play.
func (c *taskContext) movedTo(at walk.Place) *taskContext {
	in, scene := *c, *c.scene
	for _, dir := range slices.Backward(at.Roles) {
		scene.Role = &vars.Role{Name: filepath.Base(dir), Dir: dir, Parent: scene.Role}
	}
	in.collections = at.Collections
	in.scene, in.file, in.dir, in.chain = &scene, at.File, at.Dir, at.Chain
	return &in
}
