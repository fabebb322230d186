package tree

import (
	"cmp"
	"slices"

	"moon/events"
	"moon/plan"
	"moon/tui/status"
)

// Tree is the plan as a person sees it: scopes with the steps below them, in pre-order, so that a subtree is a
// stretch and the visible rows are found in one pass. It knows what every step is like (face) and counts those in
// every scope; it knows nothing of rows, folding or drawing.
//
//	node    0        1         2      3         4
//	        play ──▶ include ─▶ step   step      block …
//	size    n        3         1      1
type Tree struct {
	Plan   *plan.Plan
	Size   []int32 // nodes of the subtree, itself included
	Parent []int32 // -1 for the root
	Depth  []int32
	Ref    []int32 // a step's index, or ^ID of a scope

	StepNode  []int32
	ScopeNode []int32

	Faces   []status.State // by step
	Tallies []status.Tally // by scope
	Spans   []span         // by scope
	Soon    map[int]string // what steps will be called that have not begun: what was open in it is known by now
	names   map[int]string // of steps that began under another name than the plan has: what was open in it is known then
	Hosts   int            // how many there are
	Over    bool           // there are others than this machine
	Drift   map[int]bool   // steps that did otherwise than predicted
}

// span is when the first step below a scope started and the last ended, in nanoseconds; 0 is never.
type span struct{ From, To int64 }

// Grow builds the tree of a plan. A plan that contradicts itself still gives every step exactly one node.
func Grow(p *plan.Plan) *Tree {
	n := len(p.Steps) + len(p.Scopes)
	t := &Tree{
		Plan: p,
		Size: make([]int32, 0, n), Parent: make([]int32, 0, n), Depth: make([]int32, 0, n), Ref: make([]int32, 0, n),
		StepNode: make([]int32, len(p.Steps)), ScopeNode: make([]int32, len(p.Scopes)),
		Faces: make([]status.State, len(p.Steps)), Tallies: make([]status.Tally, max(len(p.Scopes), 1)),
		Spans: make([]span, max(len(p.Scopes), 1)),
		names: map[int]string{}, Drift: map[int]bool{},
	}
	hosts := map[string]bool{}
	for i := range p.Steps {
		hosts[p.Steps[i].Host] = true
	}
	t.Hosts, t.Over = len(hosts), status.OverHosts(p)
	g := grower{Tree: t, children: childScopes(p.Scopes)}
	g.scope(0, -1, 0)
	return t
}

// childScopes lists the scopes below each scope in the order of the plan.
func childScopes(scopes []plan.Scope) [][]int32 {
	children := make([][]int32, len(scopes))
	for i := range scopes {
		// A damaged plan may name a parent that comes later.
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
	*Tree
	children [][]int32
	next     int // the first step without a node
}

func (g *grower) add(ref, parent, depth int) int {
	n := len(g.Ref)
	g.Size = append(g.Size, 1)
	g.Parent = append(g.Parent, int32(parent))
	g.Depth = append(g.Depth, int32(depth))
	g.Ref = append(g.Ref, int32(ref))
	return n
}

func (g *grower) scope(id, parent, depth int) {
	// Scopes are negative in Ref, steps are not.
	n := g.add(^id, parent, depth)
	last := len(g.Plan.Steps)
	if id < len(g.Plan.Scopes) {
		g.ScopeNode[id] = int32(n)
		if id > 0 {
			last = min(last, g.Plan.Scopes[id].Last)
		}
		for _, child := range g.children[id] {
			// Steps between two scopes belong to this one.
			g.steps(min(g.Plan.Scopes[child].First, last), n, depth+1)
			g.scope(int(child), n, depth+1)
		}
	}
	g.steps(last, n, depth+1)
	g.Size[n] = int32(len(g.Ref) - n)
}

func (g *grower) steps(to, parent, depth int) {
	for ; g.next < to; g.next++ {
		g.StepNode[g.next] = int32(g.add(g.next, parent, depth))
	}
}

// Len is how many nodes there are.
func (t *Tree) Len() int { return len(t.Ref) }

// Step is the index of the step at a node, or -1 for a scope.
func (t *Tree) Step(n int) int {
	if n < 0 || t.Ref[n] < 0 {
		return -1
	}
	return int(t.Ref[n])
}

// ScopeOf is the ID of the scope at a node, or -1 for a step. The root of an empty plan is scope 0.
func (t *Tree) ScopeOf(n int) int {
	if n < 0 || t.Ref[n] >= 0 {
		return -1
	}
	return int(^t.Ref[n])
}

// Scope is the scope at a node, or nil.
func (t *Tree) Scope(n int) *plan.Scope {
	if id := t.ScopeOf(n); id >= 0 && id < len(t.Plan.Scopes) {
		return &t.Plan.Scopes[id]
	}
	return nil
}

// Leaf reports whether nothing can be folded at the node.
func (t *Tree) Leaf(n int) bool { return t.Size[n] == 1 }

// lastChild reports whether the node is the last below its parent.
func (t *Tree) lastChild(n int) bool {
	p := t.Parent[n]
	return p < 0 || n+int(t.Size[n]) == int(p+t.Size[p])
}

// Steps is the range of steps at and below a node.
func (t *Tree) Steps(n int) events.Range {
	if i := t.Step(n); i >= 0 {
		return events.Range{From: i, To: i + 1}
	}
	if n == 0 {
		return events.Range{From: 0, To: len(t.Plan.Steps)}
	}
	// A damaged plan may end a scope behind its last step.
	s := t.Scope(n)
	return events.Range{From: s.First, To: min(s.Last, len(t.Plan.Steps))}
}

// above yields the scopes above a step, innermost first.
func (t *Tree) above(step int) func(yield func(node, scope int) bool) {
	return func(yield func(node, scope int) bool) {
		for n := t.Parent[t.StepNode[step]]; n >= 0; n = t.Parent[n] {
			if !yield(int(n), t.ScopeOf(int(n))) {
				return
			}
		}
	}
}

// Path is the identity of a node that survives a change of the plan.
func (t *Tree) Path(n int) string {
	if i := t.Step(n); i >= 0 {
		return "s" + t.Plan.Steps[i].Path
	}
	if s := t.Scope(n); s != nil && n > 0 {
		return "g" + s.Path
	}
	return "g"
}

// Set changes a step's face and the counts above it.
func (t *Tree) Set(step int, to status.State) {
	from := t.Faces[step]
	if from == to {
		return
	}
	t.Faces[step] = to
	// Kept up with each change, so that a frame never counts the plan.
	for _, s := range t.above(step) {
		t.Tallies[s][from]--
		t.Tallies[s][to]++
	}
}

// RanAs takes what is known of a step since it began.
func (t *Tree) RanAs(step int, of *events.Step) {
	if p := &t.Plan.Steps[step]; of.Name != "" && of.Name != p.Title() {
		t.names[step] = of.Name
	} else if len(t.names) > 0 {
		// A step that runs again may get another name than the last time.
		delete(t.names, step)
	}
	if of.Drift != "" {
		t.Drift[step] = true
	} else if len(t.Drift) > 0 {
		delete(t.Drift, step)
	}
}

// Ran widens the times of the scopes above a step.
func (t *Tree) Ran(step int, from, to int64) {
	for _, s := range t.above(step) {
		w := &t.Spans[s]
		// 0 is never: a step that has not begun must not move the beginning to 1970.
		if from != 0 && (w.From == 0 || from < w.From) {
			w.From = from
		}
		w.To = max(w.To, to)
	}
}

// Recount sets every face anew, with the counts and times that follow from them.
func (t *Tree) Recount(faceOf func(step int) (f status.State, from, to int64)) {
	clear(t.Tallies)
	// Times are only ever widened, so they begin again as well.
	clear(t.Spans)
	for i := range t.Faces {
		f, from, to := faceOf(i)
		t.Faces[i] = f
		for _, s := range t.above(i) {
			t.Tallies[s][f]++
		}
		t.Ran(i, from, to)
	}
}

// Tally is the counts at a node; for a step, of itself.
func (t *Tree) Tally(n int) status.Tally {
	if i := t.Step(n); i >= 0 {
		var one status.Tally
		one[t.Faces[i]] = 1
		return one
	}
	return t.Tallies[t.ScopeOf(n)]
}

// Children are the nodes right below a node.
func (t *Tree) Children(n int) (list []int) {
	for c := n + 1; c < n+int(t.Size[n]); c += int(t.Size[c]) {
		list = append(list, c)
	}
	return list
}
