package inventory

import (
	"slices"
	"strings"
)

// Pending is what steps of the run may still add, as far as it is known before.
type Pending struct {
	Steps  []int    // one of which adds it
	From   int      // the moment after which it may be there
	Host   string   // "" if only the run knows which
	Groups []string // nil if only the run knows which
	New    bool     // the host may be one that there is not
	Moves  bool     // it says how the host is reached, and nothing is planned on it until that is known
	Any    bool     // the sources are read again: hosts may come and go
}

// mayBeIn reports whether the hosts of a pattern may be others when it has been added. A pattern that is wrong has none.
func (p *Pending) mayBeIn(inv *Inventory, pattern string) bool {
	parts, err := takeApart(pattern)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(parts, func(part string) bool { return p.mayChange(inv, strings.TrimLeft(part, "!&")) })
}

func (p *Pending) mayChange(inv *Inventory, part string) bool {
	if sub, some := cutSubscript(part); some {
		part = sub.name
	}
	g := inv.groups[part]
	switch {
	case part == "":
		return false
	case part == "all", part == "*":
		return p.New
	case strings.ContainsAny(part, ".?*[") || part[0] == '~': // also a name with dots
		return p.New && p.Host == "" || p.Groups == nil || g == nil && inv.hosts[part] == nil
	case g != nil:
		return p.Groups == nil || p.reaches(inv, g)
	case inv.hosts[part] != nil || IsLocalhost(part):
		return p.Any && inv.hosts[part] != nil
	}
	// A name that there is not yet: of a host, or of a group.
	return p.Groups == nil || slices.Contains(p.Groups, part) || p.New && (p.Host == "" || p.Host == part)
}

// reaches reports whether a group is one that the host comes into, or around such a group.
func (p *Pending) reaches(inv *Inventory, g *Group) bool {
	return slices.ContainsFunc(p.Groups, func(name string) bool {
		into := inv.groups[name]
		return name == g.Name || into != nil && slices.Contains(withAncestors([]*Group{into}), g)
	}) || p.New && (g.Name == "all" || len(p.Groups) == 0 && g.Name == "ungrouped")
}

// Outlook is what may still come to an inventory after a moment.
type Outlook struct {
	inv     *Inventory
	moment  int
	unended func(steps []int) []int
}

// After is what may still come after a moment. unended says which of some steps have not ended.
func (inv *Inventory) After(moment int, unended func(steps []int) []int) Outlook {
	return Outlook{inv, moment, unended}
}

// Changing are the steps that may still change a group.
func (o Outlook) Changing(group string) []int {
	g := o.inv.groups[group]
	return o.steps(func(p *Pending) bool {
		return p.Groups == nil || g == nil && slices.Contains(p.Groups, group) || g != nil && p.reaches(o.inv, g)
	})
}

// All are the steps that may still change anything.
func (o Outlook) All() []int { return o.steps(func(p *Pending) bool { return !p.Moves }) }

// Joining are the steps that may still put a host into a group. A host that no one has named yet is taken for another.
func (o Outlook) Joining(host string) []int {
	return o.steps(func(p *Pending) bool { return p.Host == host && !p.Moves })
}

// Adding are the steps that may still add a host.
func (o Outlook) Adding(host string) []int {
	return o.steps(func(p *Pending) bool { return p.New && (p.Host == "" || p.Host == host) })
}

// Moving are the steps that may still say how a host is reached.
func (o Outlook) Moving(host string) []int {
	return o.steps(func(p *Pending) bool { return p.Moves && p.Host == host })
}

// For are the steps after which the hosts of a pattern may be others.
func (o Outlook) For(pattern string) []int {
	return o.steps(func(p *Pending) bool { return p.mayBeIn(o.inv, pattern) })
}

func (o Outlook) steps(is func(p *Pending) bool) (steps []int) {
	for i := range o.inv.Pending {
		if p := &o.inv.Pending[i]; p.From <= o.moment && is(p) {
			steps = append(steps, o.unended(p.Steps)...)
		}
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}
