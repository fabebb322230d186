package inventory

import "slices"

// Membership is a host in a group, or, with no group, in the inventory at all.
type Membership struct{ Host, Group string }

// Without is the inventory as it is if some memberships do not come about: hosts and groups to match patterns with. They have no
// variables.
func (inv *Inventory) Without(absent []Membership) *Inventory {
	out := &Inventory{hosts: map[string]*Host{}, groups: map[string]*Group{}, from: inv.from, beside: inv.beside}
	if inv.local != nil {
		out.local = &Host{Name: inv.local.Name, Implicit: true}
	}
	for _, h := range inv.Hosts {
		if !slices.Contains(absent, Membership{Host: h.Name}) {
			one := &Host{Name: h.Name, Implicit: h.Implicit}
			out.hosts[h.Name] = one
			out.Hosts = append(out.Hosts, one)
		}
	}
	for _, g := range inv.Groups {
		one := &Group{Name: g.Name, member: map[*Host]bool{}}
		out.groups[g.Name] = one
		out.Groups = append(out.Groups, one)
		for _, h := range g.Hosts {
			in := out.hosts[h.Name]
			if h == inv.local { // in a group without being one of the hosts
				in = out.local
			}
			if in != nil && !slices.Contains(absent, Membership{Host: h.Name, Group: g.Name}) {
				addMember(one, in)
			}
		}
	}
	for _, g := range inv.Groups {
		for _, child := range g.Children {
			addChild(out.groups[g.Name], out.groups[child.Name])
		}
	}
	return out
}
