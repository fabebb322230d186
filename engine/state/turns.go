package state

import "moon/engine/graph"

// With `throttle` a task is done on so many hosts at once. A host has its turn from the first step of the task that starts there to the
// end of the last, also between the items of a loop and between attempts: it would not be done with the task if it gave it away.
//
//	take ──▶ turns[first step of the task on the host] ──settle: the last of its steps──▶ a slot of the pool, for another host

func (s *slots) groupOf(id graph.ID) int { return s.plan.Steps[s.graph.Nodes[id].Step].Group }

// hasTurn reports whether the host of a step has its turn at the task.
func (s *slots) hasTurn(id graph.ID) bool {
	_, has := s.turns[s.groupOf(id)]
	return has
}

// takeTurn gives the host of a step that starts its turn at the task.
func (s *slots) takeTurn(id graph.ID) {
	pool, ok := s.graph.Nodes[id].HostPool()
	if !ok {
		return
	}
	group, step := s.groupOf(id), int(s.graph.Nodes[id].Step)
	at, has := s.turns[group]
	if !has {
		s.used[pool]++
		at = group
	}
	s.turns[group] = min(at, step) // one that is run again may have settled before
}

// endTurn ends the turn of a host when the last step of the task there has settled.
func (s *slots) endTurn(id graph.ID) {
	pool, ok := s.graph.Nodes[id].HostPool()
	if !ok {
		return
	}
	group := s.groupOf(id)
	at, has := s.turns[group]
	if !has {
		return
	}
	// The place is kept, so that a loop of many items is gone through once.
	for at < len(s.plan.Steps) && s.plan.Steps[at].Group == group && s.node(at).state == settled {
		at++
	}
	if at < len(s.plan.Steps) && s.plan.Steps[at].Group == group {
		s.turns[group] = at
		return
	}
	delete(s.turns, group)
	s.used[pool]--
	s.unblockAll()
}

// resumeTurns gives hosts their turns that are in the middle of a task when a plan takes the place of another.
func (s *slots) resumeTurns() {
	for step := range s.plan.Steps {
		if id := s.id(step); s.graph.Nodes[id].Throttle > 0 && s.nodes[id].state == settled && s.nodes[id].attempt > 0 {
			s.takeTurn(id)
			s.endTurn(id)
		}
	}
}
