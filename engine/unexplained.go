package engine

import (
	"moon/engine/graph"
	"moon/events"
)

// unexplained are the steps that were not run although nothing says why: no failure, no stop, no condition. There must be none, and
// a run that has any has not succeeded, whatever else it did: what it left out nobody would look for.
//
// Each step that was not reached has an edge that was not met. Followed from there, the edges lead to the failure, the condition or the
// rescue that was not needed. A step whose edges were all met was left out by the run itself.
func (s *State) unexplained() (steps []int) {
	if s.halting {
		return nil // by a failure, or by a stop
	}
	explained := make([]bool, len(s.nodes))
	for id := range s.nodes { // an edge comes from a node before its own, so that nothing here goes deep
		if s.nodes[id].outcome != events.Omitted {
			continue
		}
		for _, e := range s.graph.In(graph.ID(id)) {
			from := &s.nodes[e.From]
			if !e.On.Has(from.effective) && (from.outcome != events.Omitted || explained[e.From]) {
				explained[id] = true
				break
			}
		}
		if step := s.graph.Nodes[id].Step; !explained[id] && step >= 0 {
			steps = append(steps, int(step))
		}
	}
	return steps
}
