package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/exec/spec"
	"moon/plan/eval"
	"moon/plan/inventory"
	"moon/plan/playbook"
)

// adding plans add_host and group_by: the inventory has what they add from here on. add_host is done once for all hosts.
func (p *planner) adding(cs []*scopeContext, t *playbook.Task) {
	if t.Action == "add_host" {
		once := playbook.Written(t.Pos, "true")
		for _, c := range cs {
			c.inherit.runOnce = once
		}
	}
	added := false
	p.certain(cs, t, "whether "+t.Action+" adds something", func(c *scopeContext, s *Step) {
		call := s.task.call
		if call == nil {
			p.unknownArguments(c, s, t)
			return
		}
		switch args := call.Args.(type) {
		case *spec.AddHostArgs:
			if !added || s.Loop != nil && s.Host == cs[0].on.name {
				added = true
				p.addHost(args, s.Origin)
			}
		case *spec.GroupByArgs:
			p.changeInventory(func() {
				p.inventory.AddToGroup(p.hostOf(c.on), groupName(args.Key), groupNames(args.Parents))
			})
		}
	})
}

// unknownArguments refuses what would add something that only the run knows.
func (p *fleet) unknownArguments(c *scopeContext, s *Step, t *playbook.Task) {
	for _, u := range s.Unknowns {
		if v, ok := valueOf(s.task.args, u.Field); ok {
			p.tooLate(v, c.chain, "add what is known before the run, or have the inventory give it", "what "+t.Action+" adds", []eval.Missing{{Name: u.Name, Steps: u.Steps}})
			return
		}
	}
}

// hostOf is the host of the inventory that a machine is. One that no inventory has is taken in.
func (p *fleet) hostOf(m *machine) *inventory.Host {
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
	p.settle(m)
}

// settle gives a machine the variables that its groups have now, and above them what add_host has given it.
func (p *fleet) settle(m *machine) {
	m.inventory = nil
	if m.host == nil {
		return
	}
	for _, dir := range p.besides {
		chain := p.inventoryLayers(m.host, dir)
		for _, l := range m.added {
			chain = &layer{parent: chain, binds: l.binds, last: l.last}
		}
		m.inventory = append(m.inventory, chain)
	}
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
			p.settle(m)
		}
	}
}

// pastInventory is the inventory as it was before a moment.
type pastInventory struct {
	before int
	groups map[string]any
	of     map[string][]string // groups of hosts
	hosts  []string
}

// pastOf is the inventory at the moment of a frame, nil where it is the one there is.
func (fr *frame) pastOf() *pastInventory {
	if fr.scene == nil || fr.scene.past == nil {
		return nil
	}
	list := *fr.scene.past
	for i := range list {
		if fr.producedAt < list[i].before {
			return &list[i]
		}
	}
	return nil
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

// width is how wide a value is as written, on its first line.
func width(v playbook.Value) int { return utf8.RuneCountInString(FirstLine(v.Text())) }
