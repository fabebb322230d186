package console

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/tui/status"
)

// outline is the plan as a numbered list: 2.1.3 is the third below the first below the second. Nodes are in pre-order, so
// that what is below one is a stretch.
type outline struct {
	plan   *plan.Plan
	nodes  []node
	nodeOf []int32 // the node of each step
}

type node struct {
	parent int32 // -1 for the playbook
	place  int32 // among those below its parent, from 1
	depth  int32
	size   int32 // of the stretch, itself included
	step   int32 // or -1
	scope  int32 // or -1
}

// newOutline lists a plan. One that contradicts itself still gives every step exactly one number.
func newOutline(p *plan.Plan) *outline {
	o := &outline{plan: p, nodes: make([]node, 0, len(p.Steps)+len(p.Scopes)+1), nodeOf: make([]int32, len(p.Steps))}
	l := lister{outline: o, below: make([][]int, max(len(p.Scopes), 1))}
	for i := range p.Scopes {
		// A parent comes before what is in it; anything else could be a circle.
		if in := p.Scopes[i].Parent; i > 0 && in >= 0 && in < i {
			l.below[in] = append(l.below[in], i)
		}
	}
	for _, scopes := range l.below {
		slices.SortStableFunc(scopes, func(a, b int) int { return cmp.Compare(p.Scopes[a].First, p.Scopes[b].First) })
	}
	l.addScope(0, -1)
	return o
}

type lister struct {
	*outline
	below [][]int
	next  int // the first step without a node
	place []int32
}

func (l *lister) addNode(parent, step, scope int) int {
	n := len(l.nodes)
	at := node{parent: int32(parent), size: 1, step: int32(step), scope: int32(scope)}
	if parent >= 0 {
		l.place[parent]++
		at.place, at.depth = l.place[parent], l.nodes[parent].depth+1
	}
	l.nodes = append(l.nodes, at)
	l.place = append(l.place, 0)
	return n
}

func (l *lister) addScope(id, parent int) {
	n := l.addNode(parent, -1, id)
	last := len(l.plan.Steps)
	if id > 0 {
		last = min(last, l.plan.Scopes[id].Last)
	}
	for _, below := range l.below[id] {
		// Steps before a scope get their numbers before it: numbers follow the order of the plan.
		l.addSteps(min(l.plan.Scopes[below].First, last), n)
		l.addScope(below, n)
	}
	l.addSteps(last, n)
	l.nodes[n].size = int32(len(l.nodes) - n)
}

func (l *lister) addSteps(to, parent int) {
	for ; l.next < to; l.next++ {
		l.nodeOf[l.next] = int32(l.addNode(parent, l.next, -1))
	}
}

// numberOf is what a node is called: 2.1.3, and nothing for the playbook.
func (o *outline) numberOf(n int) string {
	var places []string
	for ; n > 0; n = int(o.nodes[n].parent) {
		places = append(places, strconv.Itoa(int(o.nodes[n].place)))
	}
	slices.Reverse(places)
	return strings.Join(places, ".")
}

func (o *outline) stepNumber(step int) string { return o.numberOf(int(o.nodeOf[step])) }

// scopeNumber is the number of a scope with a step in it.
func (o *outline) scopeNumber(scope, step int) string {
	n := int(o.nodeOf[step])
	for n > 0 && int(o.nodes[n].scope) != scope {
		n = int(o.nodes[n].parent)
	}
	return o.numberOf(n)
}

// nodeAt finds a node by its number.
func (o *outline) nodeAt(number string) (int, bool) {
	n := 0
	for word := range strings.SplitSeq(strings.TrimSuffix(number, "."), ".") {
		place, err := strconv.Atoi(word)
		if err != nil || place < 1 {
			return 0, false
		}
		found := false
		for b := range o.nodesBelow(n) {
			if found = int(o.nodes[b].place) == place; found {
				n = b
				break
			}
		}
		if !found {
			return 0, false
		}
	}
	return n, true
}

// nodesBelow yields the nodes right below one.
func (o *outline) nodesBelow(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		end := n + int(o.nodes[n].size)
		for b := n + 1; b < end; b += int(o.nodes[b].size) {
			if !yield(b) {
				return
			}
		}
	}
}

// rangeOf is the range of steps at and below a node.
func (o *outline) rangeOf(n int) events.Range {
	at := o.nodes[n]
	switch {
	case at.step >= 0:
		return events.Range{From: int(at.step), To: int(at.step) + 1}
	case n == 0:
		return events.Range{From: 0, To: len(o.plan.Steps)}
	}
	s := &o.plan.Scopes[at.scope]
	return events.Range{From: s.First, To: min(s.Last, len(o.plan.Steps))}
}

// unfoldBelow are the nodes below one that fit a page, as deep as all of that depth fit, and at least those right below.
func (o *outline) unfoldBelow(n int) []int {
	stretch := o.nodes[n+1 : n+int(o.nodes[n].size)]
	deepest := o.nodes[n].depth + 1
	for {
		fit := 0
		more := false
		for i := range stretch {
			if stretch[i].depth <= deepest+1 {
				fit++
			}
			more = more || stretch[i].depth > deepest
		}
		if fit > page || !more {
			break
		}
		deepest++
	}
	var nodes []int
	for i := range stretch {
		if stretch[i].depth <= deepest {
			nodes = append(nodes, n+1+i)
		}
	}
	return nodes
}

// titleOf is how a node is called, cleaned.
func (o *outline) titleOf(n int) string {
	switch at := o.nodes[n]; {
	case at.step >= 0:
		s := &o.plan.Steps[at.step]
		return clean(s.Label(s.Title()))
	case n > 0:
		kind, name := status.ScopeTitle(&o.plan.Scopes[at.scope])
		return clean(strings.TrimSpace(kind + " " + name))
	}
	return clean(cmp.Or(o.plan.RootFile, o.plan.Name, "playbook"))
}

// isNumber reports whether a word is the number of a node.
func isNumber(word string) bool {
	word = strings.TrimSuffix(word, ".")
	if word == "" || len(word) > 100 {
		return false
	}
	for place := range strings.SplitSeq(word, ".") {
		if place == "" || strings.ContainsFunc(place, func(r rune) bool { return r < '0' || r > '9' }) {
			return false
		}
	}
	return true
}
