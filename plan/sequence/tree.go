package sequence

import (
	"slices"

	"moon/plan"
)

// Member is a direct child of a scope: a step, or another scope.
type Member struct {
	Step  int // its first one if it is a scope
	Scope int // -1 for a step
}

// Tree is the shape of a plan: which scopes are in which.
type Tree struct {
	Plan     *plan.Plan
	children [][]int
	Forward  bool // some step needs one that comes after it in the file
}

// Of looks at a plan's scopes and needs once.
func Of(p *plan.Plan) *Tree {
	t := &Tree{Plan: p, children: make([][]int, len(p.Scopes))}
	for _, s := range p.Scopes[1:] {
		t.children[s.Parent] = append(t.children[s.Parent], s.ID)
	}
	for i := range p.Steps {
		for _, n := range p.Steps[i].Needs {
			first, _ := p.StepsAt(n.Place)
			t.Forward = t.Forward || first > i
		}
	}
	for i := range p.Scopes {
		for _, n := range p.Scopes[i].Needs {
			first, _ := p.StepsAt(n.Place)
			// Something empty may stand at the same number, before or after.
			t.Forward = t.Forward || first >= p.Scopes[i].First
		}
	}
	return t
}

// Children are the scopes directly inside a scope.
func (t *Tree) Children(scope int) []int { return t.children[scope] }

// Branches are the rescue and the always of a block; -1 where it has none.
func (t *Tree) Branches(block int) (rescue, always int) {
	rescue, always = -1, -1
	for _, child := range t.children[block] {
		switch t.Plan.Scopes[child].Branch {
		case "rescue":
			rescue = child
		case "always":
			always = child
		}
	}
	return rescue, always
}

// Emptied reports whether tags exclude all steps of a branch. Such a rescue rescues nothing.
func (t *Tree) Emptied(branch int) bool {
	for i := t.Plan.Scopes[branch].First; i < t.Plan.Scopes[branch].Last; i++ {
		if s := &t.Plan.Steps[i]; !s.Excluded || s.ExcludedBy != plan.ByTags {
			return false
		}
	}
	return true
}

// Parallel is how many members of the scope may run at once; 0 is one after the other, in the order of the file.
func (t *Tree) Parallel(scope int) int {
	if scope == 0 && t.Plan.Strategy == "graph" && t.Plan.Scopes[0].Parallel == 0 {
		return plan.Unlimited
	}
	return t.Plan.Scopes[scope].Parallel
}

// Members are a scope's direct children, without the branches of a block: in document order, or where that is no order,
// with what a member needs before it.
func (t *Tree) Members(scope int) []Member {
	list := t.InDocument(scope)
	if !t.Forward || t.Parallel(scope) == 0 {
		return list
	}
	ordered, _ := t.Ordered(scope, list)
	return ordered
}

// InDocument are a scope's direct children in document order, without the branches of a block.
func (t *Tree) InDocument(scope int) []Member {
	s := &t.Plan.Scopes[scope]
	var list []Member
	if len(t.children[scope]) == 0 { // then all are its own, and there may be many
		list = make([]Member, 0, s.Last-s.First)
	}
	step := s.First
	for _, child := range t.children[scope] {
		c := &t.Plan.Scopes[child]
		for ; step < c.First; step++ {
			list = append(list, Member{step, -1})
		}
		step = c.Last
		if c.Kind != plan.ScopeBranch {
			list = append(list, Member{c.First, child})
		}
	}
	for ; step < s.Last; step++ {
		list = append(list, Member{step, -1})
	}
	return list
}

// last is the end of the steps that a member covers.
func (t *Tree) last(m Member) int {
	if m.Scope < 0 {
		return m.Step + 1
	}
	return t.Plan.Scopes[m.Scope].Last
}

// Ordered sorts members so that what they need and the values they use come first, and otherwise as in the file. Where
// members need each other it returns what they need of each other.
func (t *Tree) Ordered(scope int, list []Member) (sorted []Member, circle []Edge) {
	s := &t.Plan.Scopes[scope]
	of := make([]int, s.Last-s.First) // the member that each step is in; -1 in a branch
	for i := range of {
		of[i] = -1
	}
	for i, m := range list {
		for step := m.Step; step < t.last(m); step++ {
			of[step-s.First] = i
		}
	}
	member := func(at plan.Place) int {
		first, last := t.Plan.StepsAt(at)
		if first == last || first < s.First || first >= s.Last {
			return -1
		}
		return of[first-s.First]
	}
	state := make([]Progress, len(list))
	var path []Edge // one for each member that is looked at
	var visit func(i int) bool
	visit = func(i int) bool {
		state[i] = Doing
		for step := list[i].Step; step < t.last(list[i]); step++ {
			for _, e := range t.after(step) {
				// What lies outside of this scope is ordered there, and what lies in one member by that member.
				other := member(e.Needs)
				if other < 0 || other == i {
					continue
				}
				path = append(path, e)
				if state[other] == Doing {
					from := slices.IndexFunc(path, func(e Edge) bool { return member(e.Of) == other })
					circle = slices.Clone(path[from:])
					return false
				}
				if state[other] == Waiting && !visit(other) {
					return false
				}
				path = path[:len(path)-1]
			}
		}
		state[i] = Done
		sorted = append(sorted, list[i])
		return true
	}
	for i := range list {
		if state[i] == Waiting && !visit(i) {
			// The order of the file stays, so that the plan can be shown; the planner reports the circle.
			return list, circle
		}
	}
	return sorted, nil
}

// Edge says that a step, or a scope with all that is in it, needs another to have ended.
type Edge struct{ Of, Needs plan.Place }

// after is what must end before a step by its needs, those of what it is in, and its values.
func (t *Tree) after(step int) []Edge {
	var list []Edge
	s := &t.Plan.Steps[step]
	for _, n := range s.Needs {
		list = append(list, Edge{plan.Place{Step: step}, n.Place})
	}
	for at := s.Scope; at > 0; at = t.Plan.Scopes[at].Parent {
		for _, n := range t.Plan.Scopes[at].Needs {
			list = append(list, Edge{plan.Place{Step: -1, Scope: at}, n.Place})
		}
	}
	for _, u := range s.Unknowns {
		for _, from := range u.Steps {
			list = append(list, Edge{plan.Place{Step: step}, plan.Place{Step: from}})
		}
	}
	return list
}

// Progress is how far a walk has come with a node.
type Progress uint8

// How far a walk may be with a node.
const (
	Waiting Progress = iota
	Doing
	Done
)
