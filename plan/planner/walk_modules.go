package planner

import (
	"strings"

	"moon/internal/diag"
	"moon/plan/playbook"
)

// planModules plans a task whose `action:` names its module by a template: for the hosts that have the same, one after the other.
func (p *planner) planModules(cs []*taskContext, t *playbook.Task) {
	var names []string
	of := map[string][]*taskContext{}
	for _, c := range cs {
		p.selectHost(c)
		name, ok := moduleOf(p, c, t)
		if !ok {
			continue
		}
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], c)
	}
	for _, name := range names {
		p.planTaskForHosts(of[name], p.standins.WithModule(cs[0].file, t, name, p.o.Actions(), func(d diag.Diagnostic) {
			d.Chain = cs[0].chain
			p.Report(d)
		}))
	}
}

// moduleOf is the module that the template of a task names on a host.
func moduleOf(p *planner, c *taskContext, t *playbook.Task) (string, bool) {
	e := p.env(c, nil)
	defer p.shaping(e, c, "which module it is", t.Module.Pos())()
	r := p.Renderer(e, c.chain)
	if own := p.deriveContext(c, t); p.saysNo(own) {
		r.Report = func(diag.Diagnostic) {} // that it has none is excused by its condition
	}
	name := strings.TrimSpace(r.Text(t.Module))
	switch {
	case r.Failed:
		return t.Module.Text(), r.Report != nil && p.saysNo(p.deriveContext(c, t))
	case len(r.Missing) > 0:
		p.ReportLate(t.Module, c.chain, "write a task for each module, with `when`", "which module it is", r.Missing)
		return "", false
	}
	return name, true
}
