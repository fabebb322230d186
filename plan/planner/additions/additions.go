package additions

import (
	"slices"

	"moon/internal/diag"
	"moon/plan"
	"moon/plan/inventory"
	"moon/plan/planner/problems"
)

// Gate is a step that brings an addition about if it runs, with what a person reads of it.
type Gate struct {
	Step int
	Text string
	Pos  diag.Pos
}

// addition is a membership that a step brings about if it is reached, which only the run knows.
type addition struct {
	inventory.Membership
	gate Gate
}

// List are the additions so far.
type List struct {
	plan     *plan.Plan
	problems *problems.Collector
	all      []addition
}

// New is a list without additions.
func New(p *plan.Plan, list *problems.Collector) *List { return &List{plan: p, problems: list} }

// Note takes down what a step adds. An addition that is certain makes earlier ones certain, too; had says that it was there before, and
// what is there for certain stays so.
func (l *List) Note(m inventory.Membership, gate Gate, sure, had bool) {
	same := func(a addition) bool { return a.Membership == m }
	switch {
	case sure:
		l.all = slices.DeleteFunc(l.all, same)
	case !had || slices.ContainsFunc(l.all, same):
		l.all = append(l.all, addition{m, gate})
	}
}

// without are the hosts of a pattern if no addition is made but those of one host by one step; -1 stands for no step.
func (l *List) without(of *inventory.Inventory, pattern, kept string, step int) []*inventory.Host {
	var absent []inventory.Membership
	for _, a := range l.all {
		// Two steps may bring about the same.
		if !slices.ContainsFunc(l.all, func(b addition) bool {
			return b.Membership == a.Membership && b.Host == kept && b.gate.Step == step
		}) {
			absent = append(absent, a.Membership)
		}
	}
	found, _ := of.Without(absent).Match(pattern) // what is wrong with the pattern has been said
	return found
}

func hasHost(list []*inventory.Host, name string) bool {
	return slices.ContainsFunc(list, func(h *inventory.Host) bool { return h.Name == name })
}

// RefuseRemoved reports that an addition which only the run decides would keep a host from the play at a place: `all:!new`.
func (l *List) RefuseRemoved(of *inventory.Inventory, pattern string, hosts []*inventory.Host, at diag.Pos, chain []string) (refused bool) {
	if len(l.all) == 0 {
		return false
	}
	for _, h := range l.without(of, pattern, "", -1) {
		if !hasHost(hosts, h.Name) {
			l.problems.Errorf(at, 0, chain, "write the play for hosts that are known, and a `when` for its tasks",
				"whether `%s` is in this play is known only in the run: the pattern excludes it if an earlier step adds it to a group", h.Name)
			return true
		}
	}
	return false
}

// Gates are what decides in the run whether hosts of the play at a place are in it: the additions without which its pattern would not
// have them.
func (l *List) Gates(of *inventory.Inventory, pattern string, hosts []*inventory.Host, at diag.Pos, chain []string) map[string][]Gate {
	if len(l.all) == 0 {
		return nil
	}
	certain := l.without(of, pattern, "", -1)
	gates := map[string][]Gate{}
	for _, h := range hosts {
		if hasHost(certain, h.Name) {
			continue
		}
		var all, alone []Gate
		for _, a := range l.all {
			if a.Host != h.Name || slices.ContainsFunc(all, func(g Gate) bool { return g.Step == a.gate.Step }) {
				continue
			}
			all = append(all, a.gate)
			if hasHost(l.without(of, pattern, h.Name, a.gate.Step), h.Name) {
				alone = append(alone, a.gate)
			}
		}
		switch len(alone) {
		case 0: // it takes all of them
			gates[h.Name] = all
		case 1:
			gates[h.Name] = alone
		default:
			l.problems.Errorf(at, 0, chain, "let one of them add it to a group of its own, and write a play for each",
				"whether `%s` is in this play is known only in the run: %s and %s may both add it", h.Name,
				l.plan.StepRef(alone[0].Step), l.plan.StepRef(alone[1].Step))
		}
	}
	return gates
}
