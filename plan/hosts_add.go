package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"moon/exec/spec"
	"moon/plan/eval"
	"moon/plan/inventory"
	"moon/plan/playbook"
)

// unknownArguments refuses what would add something that only the run knows.
func (p *fleet) unknownArguments(c *taskContext, s *Step, t *playbook.Task) {
	for _, u := range s.Unknowns {
		if v, ok := valueOf(s.task.args, u.Field); ok {
			p.tooLate(v, c.chain, "add what is known before the run, or have the inventory give it", "what "+t.Action+" adds", []eval.Missing{{Name: u.Name, Steps: u.Steps}})
			return
		}
	}
}

// hostOf is the host of the inventory that a machine is. One that no inventory has is taken in.
func (p *fleet) hostOf(m *plannedHost) *inventory.Host {
	if m.host == nil {
		m.host = p.inventory.AddHost(m.name, nil)
	}
	return m.host
}

func (p *fleet) addHost(args *spec.AddHostArgs, from Origin) {
	name, port := args.Name, 0
	if host, text, ok := strings.Cut(name, ":"); ok && !strings.Contains(text, ":") {
		if n, err := strconv.Atoi(text); err == nil {
			name, port = host, n
		}
	}
	p.changeInventory(func() { p.inventory.AddHost(name, args.Groups) })
	m := p.machine(name)
	m.host = p.inventory.Host(name)
	l := &layer{}
	for _, key := range slices.Sorted(maps.Keys(args.Values)) {
		p.noteName(key)
		l.add(binding{name: key, value: args.Values[key], from: "add_host", origin: from})
	}
	if port > 0 {
		l.add(binding{name: "ansible_port", value: port, from: "add_host", origin: from})
	}
	m.added = append(m.added, l)
	p.loadInventoryVars(m)
}

// changeInventory lets the inventory change between two moments: what was planned before sees it as it was.
func (p *fleet) changeInventory(change func()) {
	now := p.names.produced.now
	*now++
	past := pastInventory{before: *now, groups: groupsOf(p.inventory), of: map[string][]string{}}
	for name, m := range p.machines {
		past.of[name] = groupsOfHost(m.host)
	}
	for _, h := range p.inventory.Hosts {
		past.hosts = append(past.hosts, h.Name)
	}
	*p.past = append(*p.past, past)
	change()
	for _, m := range p.machines {
		if m.host != nil && !slices.Equal(past.of[m.name], groupsOfHost(m.host)) {
			p.loadInventoryVars(m)
		}
	}
}

// groupName makes a name of a value, as group_by does.
func groupName(text string) string { return strings.Join(strings.Fields(text), "-") }

func groupNames(texts []string) []string {
	names := make([]string, 0, len(texts))
	for _, text := range texts {
		if name := groupName(text); name != "" && name != "all" {
			names = append(names, name)
		}
	}
	return names
}
