package graph

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/internal/termtext"
)

// ID is a node's index.
type ID int32

// Kind is what a node does.
type Kind uint8

// The kinds of node. Only a Step has an effect; a Barrier orders; a Gate is resolved from outside.
const (
	Step Kind = iota
	Barrier
	Gate
)

var kindWords = [...]string{"step", "barrier", "gate"}

func (k Kind) String() string { return kindWords[k] }

// Join says when a node may go: All wants every edge satisfied, otherwise the node is omitted; Any wants one,
// otherwise it is skipped. Whole is that of a barrier which ends as a scope has ended: its edges come from the steps in
// the scope, and from the ends of it. An edge from a step whose failure nothing in the scope rescues is missed by that failure.
type Join uint8

// The joins.
const (
	All Join = iota
	Any
	Whole
)

var joinWords = [...]string{"", "any", "whole"}

// Node is a vertex.
type Node struct {
	Kind      Kind
	Step      int32  // index of the plan's step; -1 for a barrier
	Label     string // of a barrier: what it is for
	Join      Join
	Essential bool  // runs although the run is stopping: always, cleanup
	Rescued   bool  // its failure is handled by an edge, and stops nothing else
	Pool      int32 // the pool it takes a slot of; -1: none
	Throttle  int32 // the pool of hosts of which its host has a slot while it does the task, counted from 1; 0: none
	Spare     int32 // of a barrier with join All: how many of its edges may miss
	Open      bool  // the run adds steps behind it
	Terminal  bool  // it has the user's terminal while it runs, which one at a time can
}

// HostPool is the pool of hosts that a node is throttled by. Unlike in other pools, a host keeps its slot from the first step of its task
// to the end of the last.
func (n *Node) HostPool() (pool int32, ok bool) { return n.Throttle - 1, n.Throttle > 0 }

// Notified is the label of the barrier that says whether anything has notified a handler.
const Notified = "notified"

// Needs is the label of the barrier that says whether all that is in a scope has what it needs.
const Needs = "needs"

// Turn is the label of the barrier that says that no host before has reached a task with run_once.
const Turn = "turn"

// Edge is one condition of a node: that From has ended with an outcome in On.
type Edge struct {
	From ID
	On   events.OutcomeSet
	Data bool // it also carries a value
}

// Pool limits how many nodes that name it run at once.
type Pool struct {
	Label string
	Slots int
}

// Out is an edge as seen from its source.
type Out struct {
	To ID
	On events.OutcomeSet
}

// Graph is the execution graph. Build makes it; it never changes.
type Graph struct {
	Nodes  []Node
	Pools  []Pool
	Beyond events.OutcomeSet // ends that a rescue does not handle

	ins      []Edge
	inStart  []int32 // ins[inStart[n]:inStart[n+1]] are the edges into n
	outs     []Out
	outStart []int32
	nodeOf   []ID // per step of the plan
}

// In are the edges into a node.
func (g *Graph) In(n ID) []Edge { return g.ins[g.inStart[n]:g.inStart[n+1]] }

// Out are the edges out of a node.
func (g *Graph) Out(n ID) []Out { return g.outs[g.outStart[n]:g.outStart[n+1]] }

// Edges is how many edges there are.
func (g *Graph) Edges() int { return len(g.ins) }

// NodeOf is the node of a step of the plan.
func (g *Graph) NodeOf(step int) ID { return g.nodeOf[step] }

// Text is the graph in the form tests compare: one line per node, its edges behind it.
func (g *Graph) Text() string {
	var b strings.Builder
	for n := range g.Nodes {
		node := &g.Nodes[n]
		b.WriteString(g.Name(ID(n)))
		if word := joinWords[node.Join]; word != "" {
			b.WriteString(" " + word)
		}
		for _, e := range g.In(ID(n)) {
			fmt.Fprintf(&b, " <-%s", g.Name(e.From))
			if e.On != events.OnSuccess {
				b.WriteString(":" + e.On.String())
			}
			if e.Data {
				b.WriteString("=")
			}
		}
		g.writeTraits(&b, node)
		b.WriteByte('\n')
	}
	return b.String()
}

// writeTraits writes what is said of a node behind its edges.
func (g *Graph) writeTraits(b *strings.Builder, node *Node) {
	if node.Essential {
		b.WriteString(" essential")
	}
	if node.Rescued {
		b.WriteString(" rescued")
	}
	if node.Pool >= 0 {
		fmt.Fprintf(b, " pool=%s/%d", termtext.CleanName(g.Pools[node.Pool].Label), g.Pools[node.Pool].Slots)
	}
	if pool, ok := node.HostPool(); ok {
		fmt.Fprintf(b, " throttle=%s/%d", termtext.CleanName(g.Pools[pool].Label), g.Pools[pool].Slots)
	}
	if node.Spare > 0 {
		fmt.Fprintf(b, " spare=%d", node.Spare)
	}
	if node.Open {
		b.WriteString(" open")
	}
	if node.Terminal {
		b.WriteString(" terminal")
	}
}

// Name is how a node is called in text forms: the step's id, or the barrier's label and number.
func (g *Graph) Name(n ID) string {
	node := g.Nodes[n]
	if node.Step >= 0 {
		id := events.StepID(int(node.Step))
		if node.Kind == Gate {
			return id + "(gate)"
		}
		return id
	}
	return fmt.Sprintf("%s#%d", node.Label, n)
}
