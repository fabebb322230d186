package inventory

import (
	"cmp"
	"slices"
	"strings"

	"moon/internal/diag"
	"moon/plan/playbook"
)

// Inventory is what the sources say, put together. The group `all` comes first and `ungrouped` second; the others are in the
// order of the sources, as are the hosts.
type Inventory struct {
	Hosts  []*Host
	Groups []*Group

	Pending []Pending // what steps of the run may still add

	hosts   map[string]*Host
	groups  map[string]*Group
	local   *Host // what localhost stands for where no host has that name
	from    Files
	ds      *diag.List
	sources []*varsDir            // beside the inventories
	dirs    map[string]*varsDir   // these, and those beside playbooks
	beside  string                // the directory of the playbook; "" if there is none
	named   []string              // what it is read from
	added   []func(to *Inventory) // what steps have added
	shared  map[string][]*Layer
	changes int
}

// Host is a machine by the name it has in the inventory.
type Host struct {
	Name   string
	Pos    diag.Pos
	Source string // the absolute path of the inventory that has it first, or the list of hosts; "" for hosts added later
	// localhost, which no inventory has: its connection is local, and it is in no group but those that group_by has put it in
	Implicit bool
	Groups   []*Group // all it is in, directly or not, with all; parents before children, otherwise by priority and name

	direct []*Group
	inline *Layer
	layers map[string][]*Layer // by the directory of the playbook; nil: to be found again
}

// Group is a set of hosts.
type Group struct {
	Name     string
	Pos      diag.Pos
	Depth    int // of all: 0
	Priority int // ansible_group_priority
	Parents  []*Group
	Children []*Group
	Hosts    []*Host // those directly in it

	inline *Layer
	member map[*Host]bool
}

// Layer is a place that gives variables, such as group_vars/web.yml. Hosts share those of their groups.
type Layer struct {
	From string // as shown
	Vars []Var

	index map[string]int
}

// Var is a variable as written. Its value may hold templates.
type Var struct {
	Name  string
	Value playbook.Value
}

// IsSecret reports whether the name of a variable says that its value is a secret: passwords of connections, and tokens.
func IsSecret(name string) bool {
	ansible := strings.HasPrefix(name, "ansible_") &&
		(strings.HasSuffix(name, "password") || strings.HasSuffix(name, "_pass") || strings.HasSuffix(name, "_passphrase"))
	return ansible || strings.HasSuffix(name, "_token")
}

// setVar gives a variable its value. Given again it keeps its place.
func (l *Layer) setVar(name string, v playbook.Value) {
	if i, ok := l.index[name]; ok {
		l.Vars[i].Value = v
		return
	}
	if l.index == nil {
		l.index = map[string]int{}
	}
	l.index[name] = len(l.Vars)
	l.Vars = append(l.Vars, Var{name, v})
}

func newEmpty() *Inventory {
	inv := &Inventory{hosts: map[string]*Host{}, groups: map[string]*Group{}, dirs: map[string]*varsDir{}}
	addChild(inv.findGroup("all", diag.Pos{}), inv.findGroup("ungrouped", diag.Pos{}))
	return inv
}

// Host is the one of that name; nil if there is none. It knows localhost by its three names, also where no inventory has it.
func (inv *Inventory) Host(name string) *Host {
	if h := inv.hosts[name]; h != nil || !slices.Contains(localNames, name) {
		return h
	}
	if inv.local == nil {
		inv.local = newImplicit(name)
	}
	return inv.local
}

// Has reports whether a host is one of the inventory, and not only known to it, as localhost is.
func (inv *Inventory) Has(name string) bool { return inv.hosts[name] != nil }

// Group is the one of that name; nil if there is none.
func (inv *Inventory) Group(name string) *Group { return inv.groups[name] }

// localNames are those of the machine that moon runs on.
var localNames = []string{"localhost", "127.0.0.1", "::1"}

// IsLocalhost reports whether a name means the machine that moon runs on, whether or not an inventory has it.
func IsLocalhost(name string) bool { return slices.Contains(localNames, name) }

func newImplicit(name string) *Host {
	h := &Host{Name: name, Implicit: true, inline: &Layer{From: "implicit " + name}}
	h.inline.setVar("ansible_connection", playbook.Literal(&playbook.File{Name: "implicit " + name}, "local", 1, nil))
	return h
}

// Priority that a group has unless its variables say otherwise.
const usualPriority = 1

// findGroup returns the one of that name, made if there is none.
func (inv *Inventory) findGroup(name string, pos diag.Pos) *Group {
	g := inv.groups[name]
	if g == nil {
		g = &Group{
			Name: name, Pos: pos, Priority: usualPriority, inline: &Layer{From: "inventory, group " + name},
			member: map[*Host]bool{},
		}
		inv.groups[name] = g
		inv.Groups = append(inv.Groups, g)
	}
	return g
}

// findHost returns the one of that name, made if there is none.
func (inv *Inventory) findHost(name, source string, pos diag.Pos) *Host {
	h := inv.hosts[name]
	if h == nil {
		h = &Host{Name: name, Pos: pos, Source: source, inline: &Layer{From: "inventory, host " + name}}
		inv.hosts[name] = h
		inv.Hosts = append(inv.Hosts, h)
		// A host of that name replaces the implicit localhost.
		if (inv.local == nil || inv.local.Implicit) && slices.Contains(localNames, name) {
			inv.local = h
		}
	}
	return h
}

// addMember puts a host directly into a group.
func addMember(g *Group, h *Host) {
	if g.member[h] {
		return
	}
	g.member[h] = true
	g.Hosts = append(g.Hosts, h)
	h.direct = append(h.direct, g)
}

func removeMember(g *Group, h *Host) {
	if !g.member[h] {
		return
	}
	delete(g.member, h)
	g.Hosts = slices.DeleteFunc(g.Hosts, func(other *Host) bool { return other == h })
	h.direct = slices.DeleteFunc(h.direct, func(other *Group) bool { return other == g })
}

// addChild makes a group the child of another, unless it would be its own ancestor.
func addChild(parent, child *Group) bool {
	if slices.Contains(parent.Children, child) {
		return true
	}
	if parent == child || child.Name == "all" || slices.Contains(withAncestors([]*Group{parent}), child) {
		return false
	}
	parent.Children = append(parent.Children, child)
	child.Parents = append(child.Parents, parent)
	return true
}

// withAncestors are the groups and all that they are in, each once.
func withAncestors(groups []*Group) []*Group {
	all := slices.Clone(groups)
	seen := make(map[*Group]bool, len(all))
	for _, g := range all {
		seen[g] = true
	}
	for i := 0; i < len(all); i++ {
		for _, p := range all[i].Parents {
			if !seen[p] {
				seen[p] = true
				all = append(all, p)
			}
		}
	}
	return all
}

// All are the hosts of a group and of those below it, the nearer ones first.
func (g *Group) All() []*Host {
	var hosts []*Host
	have := map[*Host]bool{}
	groups, seen := []*Group{g}, map[*Group]bool{g: true}
	for i := 0; i < len(groups); i++ {
		for _, h := range groups[i].Hosts {
			// The implicit localhost is not one of `all`, as in Ansible.
			if !have[h] && (!h.Implicit || g.Name != "all") {
				have[h] = true
				hosts = append(hosts, h)
			}
		}
		for _, c := range groups[i].Children {
			if !seen[c] {
				seen[c] = true
				groups = append(groups, c)
			}
		}
	}
	return hosts
}

// completeGroups completes what the sources have left open: every group is in all, and every host in a group. Only then it is known how
// deep a group lies.
func (inv *Inventory) completeGroups() {
	all := inv.groups["all"]
	for _, g := range inv.Groups {
		if g != all && len(g.Parents) == 0 {
			addChild(all, g)
		}
	}
	inv.setDepths()
	for _, h := range inv.Hosts {
		inv.settleHost(h)
	}
	// Layers are shared by the groups of a host, which have changed.
	inv.shared = map[string][]*Layer{}
}

// settleHost finds the groups of a host: it is in ungrouped if it is in no other.
func (inv *Inventory) settleHost(h *Host) {
	all, ungrouped := inv.groups["all"], inv.groups["ungrouped"]
	switch {
	case slices.ContainsFunc(h.direct, func(g *Group) bool { return g != all && g != ungrouped }):
		removeMember(ungrouped, h)
	case !h.Implicit:
		addMember(ungrouped, h)
	}
	h.findGroups()
}

// findGroups finds the groups of a host again.
func (h *Host) findGroups() {
	h.layers = nil
	h.Groups = withAncestors(h.direct)
	slices.SortFunc(h.Groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
}

// setDepths says of every group how far it is from all, on the longest way.
func (inv *Inventory) setDepths() {
	open := map[*Group]int{} // parents that are not counted yet
	for _, g := range inv.Groups {
		g.Depth, open[g] = 0, len(g.Parents)
	}
	ready := []*Group{inv.groups["all"]}
	// From the top down, each group when all of its parents are counted: then its longest way is known.
	for i := 0; i < len(ready); i++ {
		for _, c := range ready[i].Children {
			c.Depth = max(c.Depth, ready[i].Depth+1)
			if open[c]--; open[c] == 0 {
				ready = append(ready, c)
			}
		}
	}
}

// Changes is how often hosts or groups have come to it since it was read.
func (inv *Inventory) Changes() int { return inv.changes }

// AddHost is add_host: the host of that name, made if there is none, in these groups too.
func (inv *Inventory) AddHost(name string, groups []string) *Host {
	inv.changes++
	inv.added = append(inv.added, func(to *Inventory) { to.AddHost(name, groups) })
	known := len(inv.Groups)
	h := inv.findHost(name, "", diag.Pos{})
	for _, g := range groups {
		addMember(inv.findGroup(g, diag.Pos{}), h)
	}
	inv.placeAdded(h, known)
	return h
}

// AddToGroup is group_by: it puts a host into a group, and the group into others. What does not exist is made. A group that would
// be its own parent is left where it is.
func (inv *Inventory) AddToGroup(h *Host, name string, parents []string) {
	inv.changes++
	inv.added = append(inv.added, func(to *Inventory) {
		if same := to.Host(h.Name); same != nil { // it may have left the inventory
			to.AddToGroup(same, name, parents)
		}
	})
	known := len(inv.Groups)
	g := inv.findGroup(name, diag.Pos{})
	moved := false
	for _, parent := range parents {
		before := len(g.Parents)
		addChild(inv.findGroup(parent, diag.Pos{}), g)
		moved = moved || len(g.Parents) > before
	}
	addMember(g, h)
	// Nothing but the host has moved, so the depths stay.
	if !moved || len(g.Hosts) <= 1 {
		inv.placeAdded(h, known)
		return
	}
	inv.completeGroups()
}

// placeAdded places a host that has come into groups, of which those from the given number on are new.
func (inv *Inventory) placeAdded(h *Host, known int) {
	all := inv.groups["all"]
	for _, g := range inv.Groups[known:] {
		if len(g.Parents) == 0 {
			addChild(all, g)
		}
	}
	inv.setDepths()
	inv.settleHost(h)
}

// GroupName makes a name of a value, as group_by does.
func GroupName(text string) string { return strings.ReplaceAll(text, " ", "-") }

// GroupNames makes names of values. One that is empty, or all, is none.
func GroupNames(texts []string) []string {
	names := make([]string, 0, len(texts))
	for _, text := range texts {
		if name := GroupName(text); name != "" && name != "all" {
			names = append(names, name)
		}
	}
	return names
}
