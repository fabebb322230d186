package graph

import (
	"slices"

	"moon/events"
	"moon/plan"
)

// behind are the edges into what has needs from what is before it. If it asks for more than success, its needs decide whether it runs:
// the order of the document is kept, but a failure that is asked for must not keep it from running.
func (b *planBuilder) behind(needs []plan.Need, after []Edge) []Edge {
	if !slices.ContainsFunc(needs, func(n plan.Need) bool { return needSets[n.On] != events.OnSuccess }) {
		return after
	}
	after = slices.Clone(after)
	for e := range after {
		if !b.entry(after[e].From) {
			after[e].On = events.OnFinish
		}
	}
	return after
}

// need is the edge from what is needed.
func (b *planBuilder) need(n plan.Need) Edge {
	if n.Scope > 0 {
		return on(b.whole[n.Scope], needSets[n.On])
	}
	return on(b.g.nodeOf[n.Step], needSets[n.On])
}

// needing gives all that is in a scope what the scope needs: each step has one edge, from a barrier that is met if the needs are. The
// scopes inside add theirs to it.
func (b *planBuilder) needing(needs []plan.Need, after []Edge, at attributes) ([]Edge, attributes) {
	edges := slices.Clone(at.needs)
	for _, n := range needs {
		edges = append(edges, b.need(n))
		at.essential = at.essential || n.On == "failure"
	}
	at.needs = []Edge{on(b.barrier(Needs, All, true, edges), onMet)}
	return b.behind(needs, after), at
}

// addWhole adds the barrier that ends as a scope does.
func (b *planBuilder) addWhole(id int, ends []Edge) {
	s := &b.p.Scopes[id]
	var edges []Edge
	for i := s.First; i < s.Last; i++ {
		set := events.OnSound
		if by, ok := b.within[i]; ok && b.inside(by, id) {
			set = events.OnFinish // the rescue decides how the scope ends
		}
		edges = append(edges, on(b.g.nodeOf[i], set))
	}
	if len(edges) > 0 { // otherwise the ends are those of what is before it
		edges = append(edges, ends...)
	}
	slices.SortStableFunc(edges, func(x, y Edge) int { return int(x.From - y.From) })
	if b.whole == nil {
		b.whole = map[int]ID{}
	}
	b.whole[id] = b.barrier(b.p.ScopeRef(id), Whole, true, edges)
}

// inside reports whether a scope is another, or lies in it.
func (b *planBuilder) inside(scope, other int) bool {
	for ; scope >= 0; scope = b.p.Scopes[scope].Parent {
		if scope == other {
			return true
		}
	}
	return false
}
