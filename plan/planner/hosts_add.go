package planner

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"moon/exec/spec"
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

// addition is a membership that a step brings about if it is reached, which only the run knows.
type addition struct {
	inventory.Membership
	gate gateAt
}

// groupHost puts a host into the group that its values name.
func (p *fleet) groupHost(c *taskContext, s *plan.Step, t *playbook.Task, args *spec.GroupByArgs) {
	host := p.hostOf(c.on)
	group := inventory.GroupName(args.Key)
	p.addMembership(c, s, t, host.Name, []string{group}, func() {
		p.inventory.AddToGroup(host, group, inventory.GroupNames(args.Parents))
	})
}

// addMembership changes the inventory for what comes after a step, and takes down what is so only if the step is reached. An addition
// that is certain makes earlier ones certain, too.
func (p *fleet) addMembership(c *taskContext, s *plan.Step, t *playbook.Task, host string, groups []string, add func()) {
	before := vars.GroupsOfHost(p.inventory.Host(host))
	known := p.inventory.Has(host)
	p.changeInventory(add)
	sure := s.Prediction == plan.WillRun && !c.rescuing && !c.breaking && !c.handler
	text := strings.TrimSpace(s.When)
	if text == "" {
		text = t.Action + " added " + host
	}
	gate := gateAt{Gate: plan.Gate{Step: s.Index, Ran: true}, text: text, pos: t.Pos, role: 0}
	note := func(m inventory.Membership, had bool) {
		if sure {
			p.additions = slices.DeleteFunc(p.additions, func(a addition) bool { return a.Membership == m })
			return
		}
		// What is there for certain stays so.
		if !had || slices.ContainsFunc(p.additions, func(a addition) bool { return a.Membership == m }) {
			p.additions = append(p.additions, addition{m, gate})
		}
	}
	note(inventory.Membership{Host: host}, known)
	for _, group := range groups {
		note(inventory.Membership{Host: host, Group: group}, slices.Contains(before, group))
	}
}

// without are the hosts of a pattern if no addition is made but those of one host by one step; -1 stands for no step.
func (p *fleet) without(pattern, kept string, step int) []*inventory.Host {
	var absent []inventory.Membership
	for _, a := range p.additions {
		// Two steps may bring about the same.
		if !slices.ContainsFunc(p.additions, func(b addition) bool {
			return b.Membership == a.Membership && b.Host == kept && b.gate.Step == step
		}) {
			absent = append(absent, a.Membership)
		}
	}
	found, _ := p.inventory.Without(absent).Match(pattern) // what is wrong with the pattern has been said
	return found
}

func hasHost(list []*inventory.Host, name string) bool {
	return slices.ContainsFunc(list, func(h *inventory.Host) bool { return h.Name == name })
}

// refuseRemoved reports that an addition which only the run decides would keep a host from a play: `all:!new`.
func (p *fleet) refuseRemoved(pl *playbook.Play, pattern string, hosts []*inventory.Host, in importContext) (refused bool) {
	if len(p.additions) == 0 {
		return false
	}
	for _, h := range p.without(pattern, "", -1) {
		if !hasHost(hosts, h.Name) {
			p.Errorf(pl.Hosts.Pos(), 0, in.chain, "write the play for hosts that are known, and a `when` for its tasks",
				"whether `%s` is in this play is known only in the run: the pattern excludes it if an earlier step adds it to a group", h.Name)
			return true
		}
	}
	return false
}

// gatesInto are what decides in the run whether hosts of a play are in it: the additions without which its pattern would not have
// them.
func (p *fleet) gatesInto(pl *playbook.Play, pattern string, hosts []*inventory.Host, in importContext) map[string][]gateAt {
	if len(p.additions) == 0 {
		return nil
	}
	certain := p.without(pattern, "", -1)
	gates := map[string][]gateAt{}
	for _, h := range hosts {
		if hasHost(certain, h.Name) {
			continue
		}
		var of, alone []gateAt
		for _, a := range p.additions {
			if a.Host != h.Name || slices.ContainsFunc(of, func(g gateAt) bool { return g.Step == a.gate.Step }) {
				continue
			}
			of = append(of, a.gate)
			if hasHost(p.without(pattern, h.Name, a.gate.Step), h.Name) {
				alone = append(alone, a.gate)
			}
		}
		switch len(alone) {
		case 0: // it takes all of them
			gates[h.Name] = of
		case 1:
			gates[h.Name] = alone
		default:
			p.Errorf(pl.Hosts.Pos(), 0, in.chain, "let one of them add it to a group of its own, and write a play for each",
				"whether `%s` is in this play is known only in the run: %s and %s may both add it", h.Name,
				p.plan.StepRef(alone[0].Step), p.plan.StepRef(alone[1].Step))
		}
	}
	return gates
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
