package tui

import (
	"cmp"
	"slices"

	"moon/events"
	"moon/plan"
	"moon/tui/standing"
)

// tree is the plan as a person sees it: scopes with the steps below them, in pre-order, so that a subtree is a
// stretch and the visible rows are found in one pass. It knows what every step is like (face) and counts those in
// every scope; it knows nothing of rows, folding or drawing.
//
//	node    0        1         2      3         4
//	        play ──▶ include ─▶ step   step      block …
//	size    n        3         1      1
type tree struct {
	plan   *plan.Plan
	size   []int32 // nodes of the subtree, itself included
	parent []int32 // -1 for the root
	depth  []int32
	ref    []int32 // a step's index, or ^ID of a scope

	stepNode  []int32
	scopeNode []int32

	faces   []standing.State // by step
	tallies []tally          // by scope
	spans   []span           // by scope
	soon    map[int]string   // what steps will be called that have not begun: what was open in it is known by now
	names   map[int]string   // of steps that began under another name than the plan has: what was open in it is known then
	hosts   int              // how many there are
	over    bool             // there are others than this machine
	drift   map[int]bool     // steps that did otherwise than foretold
}

// tally is how many steps below a scope have each face.
type tally [standing.States]int32

// span is when the first step below a scope started and the last ended, in nanoseconds; 0 is never.
type span struct{ from, to int64 }

// grow builds the tree of a plan. A plan that contradicts itself still gives every step exactly one node.
func grow(p *plan.Plan) *tree {
	n := len(p.Steps) + len(p.Scopes)
	t := &tree{
		plan: p,
		size: make([]int32, 0, n), parent: make([]int32, 0, n), depth: make([]int32, 0, n), ref: make([]int32, 0, n),
		stepNode: make([]int32, len(p.Steps)), scopeNode: make([]int32, len(p.Scopes)),
		faces: make([]standing.State, len(p.Steps)), tallies: make([]tally, max(len(p.Scopes), 1)), spans: make([]span, max(len(p.Scopes), 1)),
		names: map[int]string{}, drift: map[int]bool{},
	}
	hosts := map[string]bool{}
	for i := range p.Steps {
		hosts[p.Steps[i].Host] = true
	}
	t.hosts, t.over = len(hosts), standing.OverHosts(p)
	g := grower{tree: t, children: childScopes(p.Scopes)}
	g.scope(0, -1, 0)
	return t
}

// childScopes lists the scopes below each scope in the order of the plan.
func childScopes(scopes []plan.Scope) [][]int32 {
	children := make([][]int32, len(scopes))
	for i := range scopes {
		if p := scopes[i].Parent; i > 0 && p >= 0 && p < i {
			children[p] = append(children[p], int32(i))
		}
	}
	for _, c := range children {
		slices.SortStableFunc(c, func(a, b int32) int { return cmp.Compare(scopes[a].First, scopes[b].First) })
	}
	return children
}

type grower struct {
	*tree
	children [][]int32
	next     int // the first step without a node
}

func (g *grower) add(ref, parent, depth int) int {
	n := len(g.ref)
	g.size = append(g.size, 1)
	g.parent = append(g.parent, int32(parent))
	g.depth = append(g.depth, int32(depth))
	g.ref = append(g.ref, int32(ref))
	return n
}

func (g *grower) scope(id, parent, depth int) {
	n := g.add(^id, parent, depth)
	last := len(g.plan.Steps)
	if id < len(g.plan.Scopes) {
		g.scopeNode[id] = int32(n)
		if id > 0 {
			last = min(last, g.plan.Scopes[id].Last)
		}
		for _, child := range g.children[id] {
			g.steps(min(g.plan.Scopes[child].First, last), n, depth+1)
			g.scope(int(child), n, depth+1)
		}
	}
	g.steps(last, n, depth+1)
	g.size[n] = int32(len(g.ref) - n)
}

func (g *grower) steps(to, parent, depth int) {
	for ; g.next < to; g.next++ {
		g.stepNode[g.next] = int32(g.add(g.next, parent, depth))
	}
}

// len is how many nodes there are.
func (t *tree) len() int { return len(t.ref) }

// step is the index of the step at a node, or -1 for a scope.
func (t *tree) step(n int) int {
	if n < 0 || t.ref[n] < 0 {
		return -1
	}
	return int(t.ref[n])
}

// scopeOf is the ID of the scope at a node, or -1 for a step. The root of an empty plan is scope 0.
func (t *tree) scopeOf(n int) int {
	if n < 0 || t.ref[n] >= 0 {
		return -1
	}
	return int(^t.ref[n])
}

// scope is the scope at a node, or nil.
func (t *tree) scope(n int) *plan.Scope {
	if id := t.scopeOf(n); id >= 0 && id < len(t.plan.Scopes) {
		return &t.plan.Scopes[id]
	}
	return nil
}

// leaf reports whether nothing can be folded at the node.
func (t *tree) leaf(n int) bool { return t.size[n] == 1 }

// lastChild reports whether the node is the last below its parent.
func (t *tree) lastChild(n int) bool {
	p := t.parent[n]
	return p < 0 || n+int(t.size[n]) == int(p+t.size[p])
}

// steps is the range of steps at and below a node.
func (t *tree) steps(n int) events.Range {
	if i := t.step(n); i >= 0 {
		return events.Range{From: i, To: i + 1}
	}
	if n == 0 {
		return events.Range{From: 0, To: len(t.plan.Steps)}
	}
	s := t.scope(n)
	return events.Range{From: s.First, To: min(s.Last, len(t.plan.Steps))}
}

// above yields the scopes above a step, innermost first.
func (t *tree) above(step int) func(yield func(node, scope int) bool) {
	return func(yield func(node, scope int) bool) {
		for n := t.parent[t.stepNode[step]]; n >= 0; n = t.parent[n] {
			if !yield(int(n), t.scopeOf(int(n))) {
				return
			}
		}
	}
}

// path is the identity of a node that survives a change of the plan.
func (t *tree) path(n int) string {
	if i := t.step(n); i >= 0 {
		return "s" + t.plan.Steps[i].Path
	}
	if s := t.scope(n); s != nil && n > 0 {
		return "g" + s.Path
	}
	return "g"
}

// set changes a step's face and the counts above it.
func (t *tree) set(step int, to standing.State) {
	from := t.faces[step]
	if from == to {
		return
	}
	t.faces[step] = to
	for _, s := range t.above(step) {
		t.tallies[s][from]--
		t.tallies[s][to]++
	}
}

// ranAs takes what is known of a step since it began.
func (t *tree) ranAs(step int, of *events.Step) {
	if p := &t.plan.Steps[step]; of.Name != "" && of.Name != p.Title() {
		t.names[step] = of.Name
	} else if len(t.names) > 0 {
		delete(t.names, step)
	}
	if of.Drift != "" {
		t.drift[step] = true
	} else if len(t.drift) > 0 {
		delete(t.drift, step)
	}
}

// ran widens the times of the scopes above a step.
func (t *tree) ran(step int, from, to int64) {
	for _, s := range t.above(step) {
		w := &t.spans[s]
		if from != 0 && (w.from == 0 || from < w.from) {
			w.from = from
		}
		w.to = max(w.to, to)
	}
}

// recount sets every face anew, with the counts and times that follow from them.
func (t *tree) recount(faceOf func(step int) (f standing.State, from, to int64)) {
	clear(t.tallies)
	clear(t.spans)
	for i := range t.faces {
		f, from, to := faceOf(i)
		t.faces[i] = f
		for _, s := range t.above(i) {
			t.tallies[s][f]++
		}
		t.ran(i, from, to)
	}
}

// tally is the counts at a node; for a step, of itself.
func (t *tree) tally(n int) tally {
	if i := t.step(n); i >= 0 {
		var one tally
		one[t.faces[i]] = 1
		return one
	}
	return t.tallies[t.scopeOf(n)]
}

// children are the nodes right below a node.
func (t *tree) children(n int) (list []int) {
	for c := n + 1; c < n+int(t.size[n]); c += int(t.size[c]) {
		list = append(list, c)
	}
	return list
}
