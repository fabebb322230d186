package planner

import (
	"moon/internal/diag"
	"moon/plan/planner/bindings"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// documentVars renders the variables of a `vars` or `include_vars` step into the document's history.
func (p *variables) documentVars(m playbook.Value, c *taskContext, from string, chain []string) {
	frame := func() *vars.Frame { return p.frame(c, nil) }
	p.bindings.Render(m.Entries(), from, chain, frame, func(b *vars.Binding) {
		p.shadows(b)
		b.Passing = c.rescuing
		p.names.Document.Add(b)
	})
}

// shadows warns about a variable that hides a fact.
func (p *variables) shadows(b *vars.Binding) {
	if _, ok := p.names.FactsMap[b.Name]; ok || b.Name == "facts" {
		p.bindings.WarnHides(b)
	}
}

func origin(pos diag.Pos, chain []string) diag.Origin {
	return pos.Origin(chain)
}

// writtenAt is where the variables of a task or of its file are written.
func (c *taskContext) writtenAt() bindings.Site { return bindings.Site{Dir: c.dir, Chain: c.chain} }
