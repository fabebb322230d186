package planner

import (
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner/connect"
	"moon/plan/vars"
)

// gather asks the hosts of a play for their facts, all at once. Those that cannot be asked now will give them in the run.
func (p *fleet) gather(cs []*taskContext) {
	var ask []plan.Target
	var of []*plannedHost
	var askers []*taskContext
	for _, c := range cs {
		m := c.on
		if m.State == vars.FactsKnown {
			continue
		}
		if m.State == vars.FactsUnasked {
			*m.Names.Produced.Now++
			m.Since = *m.Names.Produced.Now
		}
		if facts, ok := p.o.Facts.Hosts[m.Name]; ok && (p.disk.Closed || p.o.Growing) { // the plan is made again, from its sources alone
			m.Facts, m.State = facts, vars.FactsKnown
			if own, ok := facts[vars.OwnFacts].(map[string]any); ok && m.Away {
				m.Names.Own(own, p.here.FactsMap)
			}
			continue
		}
		m.State = vars.FactsPromised
		if got, ok := p.o.Facts.Asked[m.Name]; ok && got.Facts == nil && p.disk.Closed {
			p.unreached(m.Name, got.Why)
		}
		if why, ok := p.o.Facts.Excluded[m.Name]; ok {
			m.Why = why
			p.unreached(m.Name, why)
			continue
		}
		// A host that the run has brought is asked by the run: it may not be up yet, and what is done on it was planned without its facts.
		if m.late || p.disk.Closed || p.o.Growing || p.o.Outside.Gather == nil || p.o.Hosts.NoConnect || m.Why != "" {
			continue
		}
		p.names = m.Names
		e := p.env(c, nil)
		r := p.Renderer(e, c.chain)
		var s plan.Step
		k := plan.NewTask(plan.Task{})
		s.Conn = p.connector.ConnectionTo(c.place(), m.Machine, e, r)
		p.connector.BecomeOnHost(&s, k, c.place(), c.on.Name, e, r)
		if s.Conn != nil && s.Conn.Steers != "" && !p.plan.Trusts(s.Conn.Steers) {
			m.Why = "it is reached with " + s.Conn.Steers + ", which only a trusted playbook may have before approval"
			p.unreached(m.Name, m.Why)
			p.Report(diag.Diagnostic{
				Severity: diag.Warning, Pos: cs[0].pos, Message: "the facts of " + m.Name + " are not known yet: " + m.Why,
				Hint: "look at the playbook and its inventory; then run moon trust",
			})
			continue
		}
		ask = append(ask, plan.Target{Host: m.Name, Conn: s.Conn, Become: s.Become, BecomePassword: k.BecomePassword})
		of, askers = append(of, m), append(askers, c)
	}
	if p.Found.HasErrors() { // nothing will run: no connection is made, but what can be said of this machine is
		all, allOf, allAskers := ask, of, askers
		ask, of, askers = nil, nil, nil
		for i, target := range all {
			if target.Conn != nil {
				p.Unasked = true
				continue
			}
			ask, of, askers = append(ask, target), append(of, allOf[i]), append(askers, allAskers[i])
		}
	}
	if len(ask) == 0 {
		return
	}
	for i, got := range p.connector.Ask(ask) {
		m := of[i]
		if facts, ok := p.o.Facts.Hosts[m.Name]; ok && got.Facts == nil { // a run that goes on had reached it
			got.Facts = facts
			got.Own, _ = facts[vars.OwnFacts].(map[string]any)
		}
		if got.Facts == nil {
			m.Why = got.Why
			p.unreached(m.Name, got.Why)
			p.Report(diag.Diagnostic{
				Severity: diag.Warning, Pos: cs[0].pos,
				Message: "the facts of " + m.Name + " are not known yet: " + plan.FirstLine(got.Why),
				Hint:    "its steps are planned without them, and asked again when they run",
			})
			continue
		}
		m.Facts, m.State = connect.WithEnvironment(got.Facts, p.environmentOf(askers[i])), vars.FactsKnown
		if got.Own != nil {
			m.Names.Own(got.Own, p.here.FactsMap)
		}
	}
}

// environmentOf is the environment of the tasks of a play on a host: facts are gathered by one of them. As with Ansible, it is without what
// is made of facts. What is wrong with it is said where tasks use it.
func (p *fleet) environmentOf(c *taskContext) (list []map[string]string) {
	p.names = c.on.Names
	for _, v := range c.env {
		list = append(list, plan.KnownEnvironment(v, func() *plan.Renderer { return p.rendererAt(c) }))
	}
	return list
}

func (p *fleet) unreached(host, why string) {
	p.plan.Unreached = append(p.plan.Unreached, plan.Unreached{Host: host, Why: p.plan.Secrets().Redact(plan.FirstLine(why))})
}

// excludes notes that the host whose tasks are planned is excluded, if its facts could not be had and decide what it does. Some steps
// give what is missing.
func (p *fleet) excludes(steps []int) bool {
	m, ok := p.machines[p.Host]
	if !ok || m.State != vars.FactsPromised || m.late || p.o.Unseen != nil || len(steps) == 0 {
		return false
	}
	for _, step := range steps {
		if p.plan.Steps[step].Host != m.Name {
			return false
		}
	}
	why := m.Why
	switch {
	case why != "":
		why = plan.FirstLine(why)
	case p.o.Hosts.NoConnect:
		why = "no host is asked, with --no-connect"
	default:
		return false
	}
	if p.leaves == nil {
		p.leaves = map[string]string{}
	}
	p.leaves[m.Name] = why
	return true
}

// gatherDelegates takes from hosts that are other machines the facts of this one.
func (p *fleet) gatherDelegates(cs []*taskContext) {
	said := p.Found
	defer func() { p.Found = said }() // the steps say it
	for _, c := range cs {
		m := c.on
		if m.Away || m.State == vars.FactsKnown {
			continue
		}
		p.selectHost(c)
		e := p.env(c, nil)
		if p.connector.ConnectionTo(c.place(), m.Machine, e, p.Renderer(e, c.chain)) != nil {
			m.Away = true
			m.Names.Own(nil, p.here.FactsMap)
		}
	}
}

// keepGathered lets the steps keep what they find whose facts change and are used: those are taken from the run.
func (p *fleet) keepGathered() {
	for _, m := range p.machines {
		if m.Keeps && m.Gatherer >= 0 {
			p.plan.Steps[m.Gatherer].Keeps = true
		}
	}
	p.facts.Done = true
}

// usedToo adds the facts that another plan of the same hosts has used: the one that says which steps there are to select.
func (p *fleet) usedToo(other *planner) {
	for name, was := range other.machines {
		if m, ok := p.machines[name]; ok {
			m.UseToo(was.Machine)
		}
	}
}
