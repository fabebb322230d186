package planner

import (
	"slices"

	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/planner/imports"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// rootVars renders the variables of the playbook itself.
func (p *variables) rootVars(pb *playbook.Playbook, c *taskContext) {
	p.names.Root = &vars.Layer{}
	// As in plays, a file of variables counts above what was typed.
	asked := p.askFor(pb.Prompts, c, p.importsOf(pb, c))
	if asked != nil {
		for i := range asked.Binds {
			p.shadows(&asked.Binds[i])
		}
	}
	p.names.VarsFiles = &vars.Layer{Parent: asked}
	into := func(l *vars.Layer) func(*vars.Binding) {
		return func(b *vars.Binding) {
			p.shadows(b)
			l.Add(*b)
		}
	}
	// Each value is rendered in a frame of its own, because the layers grow.
	frame := func() *vars.Frame { fr := *p.frame(c, nil); return &fr }
	p.bindings.Own(pb, c.writtenAt(), frame, into(p.names.VarsFiles), into(p.names.Root))
}

// importsOf are the variables that the playbook takes from others, below all that it sets itself.
func (p *variables) importsOf(pb *playbook.Playbook, c *taskContext) *vars.Layer {
	reader := &imports.Reader{Plan: p.plan, Options: &p.o, Problems: p.Collector, Known: p.Reader, Given: p.onCommandLine}
	l := &vars.Layer{}
	for _, b := range reader.Read(pb.Imports, func() *plan.Renderer { return p.Renderer(p.env(c, nil), c.chain) }) {
		p.connector.NoteName(b.Name)
		p.shadows(&b)
		l.Add(b)
	}
	return l
}

// onCommandLine reports whether -e or --vars-file gives a variable.
func (p *variables) onCommandLine(name string) bool {
	return slices.ContainsFunc([]*vars.Layer{p.names.Extra, p.names.Files}, func(l *vars.Layer) bool {
		return l != nil && l.Find(name) != nil
	})
}

// askFor puts variables that are to be typed upon others, unless the command line gives them.
func (p *variables) askFor(list []playbook.Prompt, c *taskContext, below *vars.Layer) *vars.Layer {
	answers := p.asker.Ask(list, p.onCommandLine, func() *plan.Renderer { return p.Renderer(p.env(c, nil), c.chain) }, c.chain)
	if len(answers) == 0 {
		return below
	}
	l := &vars.Layer{Parent: below}
	for _, q := range answers {
		var v any = q.Typed
		if q.Private {
			// What was typed unseen must not show in what is made of it.
			v = value.Mark(p.secrets, v, value.Every)
		}
		p.connector.NoteName(q.Name)
		l.Add(vars.Binding{Name: q.Name, Value: v, From: "vars_prompt", Origin: origin(q.At.Pos, c.chain)})
	}
	return l
}
