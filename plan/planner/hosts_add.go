package planner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"moon/exec/spec"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/plan/inventory"
	"moon/plan/planner/additions"
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

// groupHost puts a host into the group that its values name.
func (p *fleet) groupHost(c *taskContext, s *plan.Step, t *playbook.Task, args *spec.GroupByArgs) {
	host := p.hostOf(c.on)
	group := inventory.GroupName(args.Key)
	p.addMembership(c, s, t, host.Name, []string{group}, func() {
		p.inventory.AddToGroup(host, group, inventory.GroupNames(args.Parents))
	})
}

// addMembership changes the inventory for what comes after a step, and takes down what is so only if the step is reached.
func (p *fleet) addMembership(c *taskContext, s *plan.Step, t *playbook.Task, host string, groups []string, add func()) {
	before := vars.GroupsOfHost(p.inventory.Host(host))
	known := p.inventory.Has(host)
	p.changeInventory(add)
	sure := s.Prediction == plan.WillRun && !c.rescuing && !c.breaking && !c.handler
	gate := additions.Gate{Step: s.Index, Text: cmp.Or(strings.TrimSpace(s.When), t.Action+" added "+host), Pos: t.Pos}
	p.additions.Note(inventory.Membership{Host: host}, gate, sure, known)
	for _, group := range groups {
		p.additions.Note(inventory.Membership{Host: host, Group: group}, gate, sure, slices.Contains(before, group))
	}
}

// addHost takes a host into the inventory, as far as what is planned from here on is concerned.
func (p *fleet) addHost(c *taskContext, s *plan.Step, t *playbook.Task, args *spec.AddHostArgs) {
	name, port := args.Name, 0
	if host, text, ok := strings.Cut(name, ":"); ok && !strings.Contains(text, ":") {
		if n, err := strconv.Atoi(text); err == nil {
			name, port = host, n
		}
	}
	p.addMembership(c, s, t, name, args.Groups, func() { p.inventory.AddHost(name, args.Groups) })
	m := p.machine(name)
	m.Host = p.inventory.Host(name)
	l := &vars.Layer{}
	for _, key := range slices.Sorted(maps.Keys(args.Values)) {
		p.connector.NoteName(key)
		l.Add(vars.Binding{Name: key, Value: args.Values[key], From: "add_host", Origin: s.Origin})
	}
	if port > 0 {
		l.Add(vars.Binding{Name: "ansible_port", Value: port, From: "add_host", Origin: s.Origin})
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
