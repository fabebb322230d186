package planner

import (
	"slices"

	"moon/plan"
	"moon/plan/planner/varsdir"
	"moon/plan/playbook"
)

// includeVars plans include_vars: the variables are read when the plan is made, and are there from here on.
func (p *planner) includeVars(cs []*taskContext, t *playbook.Task) {
	written := t.Args
	if written.IsZero() {
		written, _ = t.ExtraArgs.Get("dir")
	}
	if written.IsZero() {
		return // the parser has said why
	}
	for _, c := range cs {
		c.finds = &plan.Finding{Src: t, Name: written, Sure: true, Ask: true}
	}
	p.taskTelling(cs, t, func(c *taskContext, step int) {
		s := &p.plan.Steps[step]
		if s.Excluded || s.Prediction == plan.WillSkip {
			return
		}
		p.selectHost(c)
		name, ok := p.nameOfVars(c, s, written)
		if !ok {
			return
		}
		read, all := &plan.ReadVars{}, varsdir.Together{}
		for _, f := range p.filesOfVars(c, t, written, name) {
			m, ok := p.ParseVars(f)
			if !ok {
				continue
			}
			read.Files, read.Vars = append(read.Files, f.Path), append(read.Vars, m)
			all.Add(f.Name, m)
		}
		if name, given := t.ExtraArgs.Get("name"); given && len(read.Vars) > 0 {
			read.Under = p.Renderer(p.env(c, nil), c.chain).Text(name)
			b := p.bindings.Bind(read.Under, all.Under(read.Vars), p.ShowPath(read.Files[len(read.Files)-1]), origin(t.Pos, c.chain))
			p.names.Document.Add(&b)
		} else {
			chain := append(slices.Clip(c.chain), origin(t.Pos, nil).String())
			for _, e := range all {
				b := p.bindings.Bind(e.Key, e.Value, e.File, origin(e.Pos, chain))
				p.names.Document.Add(&b)
			}
		}
		if s.Register == "" {
			return
		}
		read.Frame = p.frame(c, nil)
		s.Task.Read = read
	})
}
