package graph

// Ranks gives for each node the weight of the heaviest path from it to an end, its own weight included: of two nodes
// that are ready, the one with the higher rank holds up more and goes first. weight is that of a step; nil stands for 1
// each. A barrier weighs nothing.
func (g *Graph) Ranks(weight func(step int) int64) []int64 {
	rank := make([]int64, len(g.Nodes))
	for id := len(g.Nodes) - 1; id >= 0; id-- { // edges lead forward, so the ranks of all successors are there
		if step := int(g.Nodes[id].Step); step >= 0 {
			own := int64(1)
			if weight != nil {
				own = weight(step)
			}
			rank[id] += own
		}
		for _, e := range g.In(ID(id)) {
			rank[e.From] = max(rank[e.From], rank[id])
		}
	}
	return rank
}
