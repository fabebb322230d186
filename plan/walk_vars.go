package plan

import (
	"slices"

	"moon/plan/playbook"
)

// includeVars plans include_vars: the variables are read when the plan is made, and are there from here on.
func (p *planner) includeVars(cs []*taskContext, t *playbook.Task) {
	p.certain(cs, t, "whether to read this file", func(c *taskContext, s *Step) {
		p.selectHost(c)
		read := &readVars{}
		for _, f := range p.filesOfVars(c, t, s) {
			m, ok := p.parseVars(f)
			if !ok {
				continue
			}
			read.files, read.vars = append(read.files, f.Path), append(read.vars, m)
			chain := append(slices.Clip(c.chain), origin(t.Pos, nil).String())
			if name, given := t.ExtraArgs.Get("name"); given {
				under := p.renderer(p.env(c, nil), c.chain).text(name)
				b := p.lazyBinding(under, m, f.Name, origin(t.Pos, c.chain))
				p.names.document.add(&b)
				continue
			}
			for _, e := range m.Entries() {
				b := p.lazyBinding(e.Key, e.Value, f.Name, origin(e.Pos, chain))
				p.names.document.add(&b)
			}
		}
		if s.Register == "" {
			return
		}
		if name, given := t.ExtraArgs.Get("name"); given {
			read.under = p.renderer(p.env(c, nil), c.chain).text(name)
		}
		read.frame = p.frame(c, nil)
		s.task.read = read
	})
}
