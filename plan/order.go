package plan

import (
	"slices"
)

// Member is a direct child of a scope: a step, or another scope.
type Member struct {
	Step  int // its first one if it is a scope
	Scope int // -1 for a step
}

// Tree is the shape of a plan: which scopes are in which.
type Tree struct {
	plan     *Plan
	children [][]int
	forward  bool // some step needs one that comes after it in the file
}

// Tree looks at the plan's scopes and needs once.
func (p *Plan) Tree() *Tree {
	t := &Tree{plan: p, children: make([][]int, len(p.Scopes))}
	for _, s := range p.Scopes[1:] {
		t.children[s.Parent] = append(t.children[s.Parent], s.ID)
	}
	for i := range p.Steps {
		for _, n := range p.Steps[i].Needs {
			t.forward = t.forward || n.Step > i
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
		switch t.plan.Scopes[child].Branch {
		case "rescue":
			rescue = child
		case "always":
			always = child
		}
	}
	return rescue, always
}

// Parallel is how many members of the scope may run at once; 0 is one after the other, in the order of the file.
func (t *Tree) Parallel(scope int) int {
	if scope == 0 && t.plan.Strategy == "graph" && t.plan.Scopes[0].Parallel == 0 {
		return Unlimited
	}
	return t.plan.Scopes[scope].Parallel
}

// Members are a scope's direct children, without the branches of a block: in document order, or where that is no order,
// with what a member needs before it.
func (t *Tree) Members(scope int) []Member {
	list := t.inDocument(scope)
	if !t.forward || t.Parallel(scope) == 0 {
		return list
	}
	ordered, _ := t.ordered(scope, list)
	return ordered
}

func (t *Tree) inDocument(scope int) []Member {
	var list []Member
	s := &t.plan.Scopes[scope]
	step := s.First
	for _, child := range t.children[scope] {
		c := &t.plan.Scopes[child]
		for ; step < c.First; step++ {
			list = append(list, Member{step, -1})
		}
		step = c.Last
		if c.Kind != ScopeBranch {
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
	return t.plan.Scopes[m.Scope].Last
}

// ordered sorts members so that what they need and the values they use come first, and otherwise as in the file. Where
// members need each other it returns what they need of each other.
func (t *Tree) ordered(scope int, list []Member) (sorted []Member, circle []edge) {
	s := &t.plan.Scopes[scope]
	of := make([]int, s.Last-s.First) // the member that each step is in; -1 in a branch
	for i := range of {
		of[i] = -1
	}
	for i, m := range list {
		for step := m.Step; step < t.last(m); step++ {
			of[step-s.First] = i
		}
	}
	state := make([]progress, len(list))
	var path []edge // one for each member that is looked at
	var visit func(i int) bool
	visit = func(i int) bool {
		state[i] = doing
		for step := list[i].Step; step < t.last(list[i]); step++ {
			for _, d := range t.plan.Steps[step].after() {
				if d < s.First || d >= s.Last || of[d-s.First] < 0 || of[d-s.First] == i {
					continue
				}
				other := of[d-s.First]
				path = append(path, edge{step, d})
				if state[other] == doing {
					from := slices.IndexFunc(path, func(e edge) bool { return of[e.step-s.First] == other })
					circle = slices.Clone(path[from:])
					return false
				}
				if state[other] == waiting && !visit(other) {
					return false
				}
				path = path[:len(path)-1]
			}
		}
		state[i] = done
		sorted = append(sorted, list[i])
		return true
	}
	for i := range list {
		if state[i] == waiting && !visit(i) {
			return list, circle
		}
	}
	return sorted, nil
}

// edge says that a step needs another to have ended.
type edge struct{ step, needs int }

// after are the steps that must end before this one by its needs and values.
func (s *Step) after() []int {
	var list []int
	for _, n := range s.Needs {
		list = append(list, n.Step)
	}
	for _, u := range s.Unknowns {
		list = append(list, u.Steps...)
	}
	return list
}

type progress uint8

const (
	waiting progress = iota
	doing
	done
)
