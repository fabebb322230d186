package plan

import (
	"moon/internal/diag"
)

// gather asks the hosts of a play for their facts, all at once. Those that nobody can ask now will give them in the run.
func (p *fleet) gather(cs []*taskContext) {
	var ask []Target
	var of []*plannedHost
	for _, c := range cs {
		m := c.on
		if m.state == gathered {
			continue
		}
		if m.state == ungathered {
			*m.names.produced.now++
			m.since = *m.names.produced.now
		}
		if facts, ok := p.o.known[m.name]; ok && p.disk.closed { // the plan is made again, from its sources alone
			m.facts, m.state = facts, gathered
			continue
		}
		m.state = promised
		if got, ok := p.o.asked[m.name]; ok && got.Facts == nil && p.disk.closed {
			p.unreached(m.name, got.Why)
		}
		if p.disk.closed || p.o.Gather == nil || p.o.NoConnect || m.why != "" {
			continue
		}
		p.names = m.names
		e := p.env(c, nil)
		r := p.renderer(e, c.chain)
		var s Step
		k := &task{}
		s.Conn = p.connectionTo(c, m, e, r)
		p.becomeOnHost(&s, k, c, e, r)
		if s.Conn != nil && s.Conn.Steers != "" && !p.trusts(s.Conn.Steers) {
			m.why = "it is reached with " + s.Conn.Steers + ", which only a trusted playbook may have before approval"
			p.unreached(m.name, m.why)
			p.report(diag.Diagnostic{
				Severity: diag.Warning, Pos: cs[0].pos, Message: "the facts of " + m.name + " are not known yet: " + m.why,
				Hint: "look at the playbook and its inventory; then run moon trust",
			})
			continue
		}
		ask, of = append(ask, Target{Host: m.name, Conn: s.Conn, Become: s.Become, BecomePassword: k.becomePassword}), append(of, m)
	}
	if p.ds.HasErrors() { // nothing will run: no connection is made, but what can be said of this machine is
		all, allOf := ask, of
		ask, of = nil, nil
		for i, target := range all {
			if target.Conn != nil {
				p.unasked = true
				continue
			}
			ask, of = append(ask, target), append(of, allOf[i])
		}
	}
	if len(ask) == 0 {
		return
	}
	for i, got := range p.ask(ask) {
		m := of[i]
		if facts, ok := p.o.known[m.name]; ok && got.Facts == nil { // a run that goes on had reached it
			got.Facts = facts
		}
		if got.Facts == nil {
			m.why = got.Why
			p.unreached(m.name, got.Why)
			p.report(diag.Diagnostic{
				Severity: diag.Warning, Pos: cs[0].pos, Message: "the facts of " + m.name + " are not known yet: " + FirstLine(got.Why),
				Hint: "its steps are planned without them, and asked again when they run",
			})
			continue
		}
		m.facts, m.state = got.Facts, gathered
		if got.Own != nil {
			m.names.own(got.Own, p.here.factsMap)
		}
	}
}

func (p *fleet) unreached(host, why string) {
	p.plan.Unreached = append(p.plan.Unreached, Unreached{Host: host, Why: p.plan.Secrets().Redact(FirstLine(why))})
}

// gatherDelegates takes from hosts that are other machines the facts of this one.
func (p *fleet) gatherDelegates(cs []*taskContext) {
	said := p.ds
	defer func() { p.ds = said }() // the steps say it
	for _, c := range cs {
		m := c.on
		if m.away || m.state == gathered {
			continue
		}
		p.selectHost(c)
		e := p.env(c, nil)
		if p.connectionTo(c, m, e, p.renderer(e, c.chain)) != nil {
			m.away = true
			m.names.own(nil, p.here.factsMap)
		}
	}
}

// ask gives the facts of hosts, of each as it answered when it was asked first.
func (p *fleet) ask(targets []Target) []Gathered {
	var open []Target
	for _, t := range targets {
		if _, ok := p.o.asked[t.Host]; !ok {
			open = append(open, t)
		}
	}
	if len(open) > 0 {
		for i, got := range p.o.Gather(open) {
			p.o.asked[open[i].Host] = got
		}
	}
	got := make([]Gathered, len(targets))
	for i, t := range targets {
		got[i] = p.o.asked[t.Host]
	}
	return got
}

// keepGathered lets the steps keep what they find whose facts change and are used: those are taken from the run.
func (p *fleet) keepGathered() {
	for _, m := range p.machines {
		if m.keeps && m.gatherer >= 0 {
			p.plan.Steps[m.gatherer].Keeps = true
		}
	}
	p.facts.done = true
}

// usedToo adds the facts that another plan of the same hosts has used: the one that says which steps there are to select.
func (p *fleet) usedToo(other *planner) {
	for name, was := range other.machines {
		m, ok := p.machines[name]
		if !ok {
			continue
		}
		for fact := range was.read {
			if m.read == nil {
				m.read = map[string]bool{}
			}
			m.read[fact] = true
		}
		for variable, shown := range was.env {
			if m.env == nil {
				m.env = map[string]bool{}
			}
			m.env[variable] = m.env[variable] || shown
		}
	}
}
