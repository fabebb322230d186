package graph

import (
	"fmt"
	"slices"

	"moon/events"
)

// Builder makes a graph. Nodes are added in topological order: an edge may only come from a node that exists, so a
// graph cannot have a cycle.
type Builder struct {
	g       *Graph
	ins     [][]Edge
	highest ID // source of an edge into the node that is added
}

// NewBuilder begins a graph for a plan with so many steps.
func NewBuilder(steps int) *Builder {
	room := steps + 8 // most steps are one node
	b := &Builder{g: &Graph{nodeOf: make([]ID, steps), Nodes: make([]Node, 0, room)}, ins: make([][]Edge, 0, room)}
	for i := range b.g.nodeOf {
		b.g.nodeOf[i] = -1
	}
	return b
}

// Pool adds a limit and returns the number by which nodes name it.
func (b *Builder) Pool(label string, slots int) int32 {
	b.g.Pools = append(b.g.Pools, Pool{label, slots})
	return int32(len(b.g.Pools) - 1)
}

// Node adds a node with the edges into it.
func (b *Builder) Node(n Node, edges []Edge) ID {
	id := ID(len(b.g.Nodes))
	b.g.Nodes = append(b.g.Nodes, n)
	b.ins = append(b.ins, nil)
	if n.Step >= 0 {
		b.g.nodeOf[n.Step] = id
	}
	b.highest = -1
	for _, e := range edges {
		b.edge(id, e)
	}
	return id
}

// barrier adds a node that only orders.
func (b *Builder) barrier(label string, join Join, essential bool, edges []Edge) ID {
	return b.Node(Node{Kind: Barrier, Step: -1, Label: label, Join: join, Essential: essential, Pool: -1}, edges)
}

// edge adds an edge, or narrows the one that is there: two demands on one source must both be met.
func (b *Builder) edge(to ID, e Edge) {
	if e.From >= to {
		panic(fmt.Sprintf("graph: edge from %d to %d goes forward", e.From, to))
	}
	in := b.ins[to]
	// Most edges come in the order of their sources, and there may be many thousands: then there is nothing to look for.
	if e.From > b.highest {
		b.highest = e.From
		b.ins[to] = append(in, e)
		return
	}
	if i := slices.IndexFunc(in, func(have Edge) bool { return have.From == e.From }); i >= 0 {
		in[i].On &= e.On
		in[i].Data = in[i].Data || e.Data
		return
	}
	b.ins[to] = append(in, e)
}

// Graph lays the edges out in both directions. It refuses a graph with so many edges that some
// construct must have been built without a barrier.
func (b *Builder) Graph() (*Graph, error) {
	g := b.g
	n := len(g.Nodes)
	total := 0
	for _, in := range b.ins {
		total += len(in)
	}
	// Whatever is built with barriers costs a few edges a node. More means that some construct multiplies.
	if limit := 8*n + 64; total > limit {
		return nil, fmt.Errorf("the execution graph has %d edges for %d nodes: more than it can be made of", total, n)
	}
	g.ins = make([]Edge, 0, total)
	g.inStart = make([]int32, n+1)
	g.outStart = make([]int32, n+1)
	for id, in := range b.ins {
		g.ins = append(g.ins, in...)
		g.inStart[id+1] = int32(len(g.ins))
		// The first pass counts the edges out of each node, the sum gives their places, and the second fills them in.
		for _, e := range in {
			g.outStart[e.From+1]++
		}
	}
	for i := range n {
		g.outStart[i+1] += g.outStart[i]
	}
	g.outs = make([]Out, total)
	next := slices.Clone(g.outStart)
	for id, in := range b.ins {
		for _, e := range in {
			g.outs[next[e.From]] = Out{ID(id), e.On}
			next[e.From]++
		}
	}
	return g, nil
}

// on is an edge from a node with the default outcomes.
func on(from ID, set events.OutcomeSet) Edge { return Edge{From: from, On: set} }
