package planner

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/inventory"
	"moon/plan/playbook"
	"moon/plan/vars"
)

// unknownArguments refuses what would add something that only the run knows.
func (p *fleet) unknownArguments(c *taskContext, s *plan.Step, t *playbook.Task) {
	for _, u := range s.Unknowns {
		if v, ok := plan.ValueOf(s.Task.Args, u.Field); ok {
			p.ReportLate(v, c.chain, "add what is known before the run, or have the inventory give it", "what "+t.Action+" adds",
				[]value.Missing{{Name: u.Name, Steps: u.Steps}})
			return
		}
	}
}

// hostOf is the host of the inventory that a machine is. One that no inventory has is taken in.
func (p *fleet) hostOf(m *plannedHost) *inventory.Host {
	if m.Host == nil {
		m.Host = p.inventory.AddHost(m.Name, nil)
	}
	return m.Host
}

func (p *fleet) addHost(args *spec.AddHostArgs, from diag.Origin) {
	name, port := args.Name, 0
	if host, text, ok := strings.Cut(name, ":"); ok && !strings.Contains(text, ":") {
		if n, err := strconv.Atoi(text); err == nil {
			name, port = host, n
		}
	}
	p.changeInventory(func() { p.inventory.AddHost(name, args.Groups) })
	m := p.machine(name)
	m.Host = p.inventory.Host(name)
	l := &vars.Layer{}
	for _, key := range slices.Sorted(maps.Keys(args.Values)) {
		p.connector.NoteName(key)
		l.Add(vars.Binding{Name: key, Value: args.Values[key], From: "add_host", Origin: from})
	}
	if port > 0 {
		l.Add(vars.Binding{Name: "ansible_port", Value: port, From: "add_host", Origin: from})
	}
	m.added = append(m.added, l)
	p.loadInventoryVars(m)
}

// changeInventory lets the inventory change between two moments: what was planned before sees it as it was.
func (p *fleet) changeInventory(change func()) {
	now := p.names.Produced.Now
	*now++
	past := vars.PastInventory{Before: *now, Groups: vars.GroupsOf(p.inventory), Of: map[string][]string{}}
	for name, m := range p.machines {
		past.Of[name] = vars.GroupsOfHost(m.Host)
	}
	for _, h := range p.inventory.Hosts {
		past.Hosts = append(past.Hosts, h.Name)
	}
	*p.past = append(*p.past, past)
	change()
	for _, m := range p.machines {
		if m.Host != nil && !slices.Equal(past.Of[m.Name], vars.GroupsOfHost(m.Host)) {
			p.loadInventoryVars(m)
		}
	}
}
