package state

import (
	"slices"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
)

// reopening takes back how steps ended, with all that followed from it.
type reopening struct{ flow }

// Retryable are the steps in the range that may be tried again: failed ones, and in a pause one that is about to run.
func (s *reopening) Retryable(r events.Range) []int {
	var steps []int
	for i := r.From; i < r.To; i++ {
		n := s.node(i)
		switch {
		case s.awaitsRerun(i):
		case n.state == failed,
			n.state == settled && (events.Bad.Has(n.outcome) || n.outcome == events.Cancelled) && s.own(s.id(i)) != events.OK,
			s.retriesHere(i):
			steps = append(steps, i)
		}
	}
	return steps
}

// Drifted are the steps in the range that were not done because they would have done something else than was predicted, and may be tried
// again.
func (s *reopening) Drifted(r events.Range) []int {
	return slices.DeleteFunc(s.Retryable(r), func(step int) bool { return s.ends[step] == nil || !s.ends[step].drifted })
}

// markable are the steps in the range that a person can take for done: failed ones, and those that have not begun.
func (s *reopening) markable(r events.Range) []int {
	var steps []int
	for i := r.From; i < r.To; i++ {
		n := s.node(i)
		switch {
		case s.awaitsRerun(i):
		case n.state == pending, n.state == ready, n.state == failed,
			n.state == settled && (events.Bad.Has(n.outcome) || n.outcome == events.Cancelled) && s.own(s.id(i)) != events.OK:
			steps = append(steps, i)
		}
	}
	return steps
}

// mark takes steps for done. What a failure among them had led to is taken back.
func (s *reopening) mark(r events.Range) {
	for _, step := range s.markable(r) {
		id := s.id(step)
		n := &s.nodes[id]
		s.choices[step] |= marked
		switch n.state {
		case ready:
			s.settleMarked(id)
		case failed:
			s.held = slices.DeleteFunc(s.held, func(h int) bool { return h == step })
			s.settleMarked(id)
		case settled:
			s.reopen(id)
			// The failure that had stopped the run is gone, and so is the stop.
			s.halting, s.haltCause, s.stop = false, -1, ""
			s.settleMarked(id)
		default: // when it is reached
		}
		s.resolve()
	}
	switch {
	case len(s.held) > 0 || !s.paused:
	case s.pause.Reason == events.PauseFailure, s.pause.Reason == events.PauseEnd && s.left > 0:
		s.setPause(pausedByUser())
	}
}

// retry starts another attempt of failed steps. What they had led to is taken back, and runs in its turn if the run continues; otherwise
// it stays paused.
func (s *reopening) retry(r events.Range, continues bool) {
	steps := s.Retryable(r)
	for _, step := range steps {
		id := s.id(step)
		n := &s.nodes[id]
		switch n.state {
		case failed:
			s.held = slices.DeleteFunc(s.held, func(h int) bool { return h == step })
		case settled:
			s.reopen(id)
		default:
		}
		s.renewLimits(step)
		n.state, n.outcome, n.effective, n.solo, n.asked = ready, events.None, events.None, true, true
		// A retry does not ask the condition again.
		n.decided = true
		s.choices[step] = (s.choices[step] | approved | confirmed) &^ excluded
		s.solo = append(s.solo, id)
		s.publish(step, events.StepRetrying{Attempt: int(n.attempt) + 1, Due: s.now, ByUser: true, Out: s.OutName(step, int(n.attempt)+1)})
		n.announced = true
	}
	s.halting, s.haltCause = false, -1
	// Whatever stopped the run was a consequence of failures that are tried again now.
	s.stop = ""
	switch {
	case continues:
		s.resume()
	case s.pause.Reason == events.PauseEnd:
		s.setPause(fact.RunPaused{Reason: events.PauseFailure, Step: steps[0]})
	}
	s.resolve()
}

// reopen takes back the end of a step, and of everything that was not run because of it. What has run keeps its result; what it
// led to waits for the step too.
func (s *reopening) reopen(from graph.ID) {
	s.reopened = true
	step := s.graph.Nodes[from].Step
	s.renewLimits(int(step))
	failed := events.Bad.Has(s.nodes[from].outcome) || s.nodes[from].outcome == events.Cancelled
	todo := []graph.ID{from}
	// All that names the step as its cause: the omitted ones come back, the others only lose the cause.
	for i := range s.nodes {
		n := &s.nodes[i]
		switch {
		case n.cause != step:
		case n.state == settled && n.effective == events.Omitted:
			todo = append(todo, graph.ID(i))
		default:
			n.cause = -1 // it stays, and what comes after it must not go back to an end that is taken back
		}
	}
	seen := map[graph.ID]bool{}
	for len(todo) > 0 {
		id := todo[0]
		// Breadth first through the edges, each node once: blocks join again behind their branches.
		todo = todo[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		todo = append(todo, s.retract(id)...)
		if id == from || s.joins().decidesAgain(id, step, failed) {
			s.unsettle(id)
		}
	}
	for i := range s.nodes {
		// Only after all are unsettled: a node must not be reached while another on its way is still to be taken back.
		if id := graph.ID(i); id != from && seen[id] && s.nodes[i].pending == 0 {
			s.halting = false
			s.reach(id)
		}
	}
}

// unsettle takes back the end of a node. Its edges are taken back already.
func (s *reopening) unsettle(id graph.ID) {
	s.uncount(id)
	n := &s.nodes[id]
	n.state, n.outcome, n.effective, n.decided, n.unsent, n.byEdges = pending, events.None, events.None, false, false, false
	n.cause = s.joins().missed(id, -1) // of the edges that stay resolved: none of them tells it again
	s.left++
	s.countLimits(int(s.graph.Nodes[id].Step), +1)
}

// retract takes back the edges of a settled node, as if it had ended before what comes before it, and says which settled
// nodes they led to.
func (s *reopening) retract(id graph.ID) (settledOnes []graph.ID) {
	n := &s.nodes[id]
	if n.state != settled {
		return nil
	}
	// Its edges were never sent, so there is nothing to take off those that come after.
	already := n.unsent
	n.unsent = true
	for _, e := range s.graph.Out(id) {
		to := &s.nodes[e.To]
		if to.state == settled {
			settledOnes = append(settledOnes, e.To)
		}
		if already {
			continue
		}
		to.pending++
		if e.On.Has(n.effective) {
			to.hits--
		} else {
			to.misses--
			// The cause may have been this node; another missed edge takes its place.
			if to.state != settled || to.outcome != events.Omitted && to.effective == events.Omitted {
				to.cause = s.joins().missed(e.To, id)
			}
		}
		if to.state == ready && !to.solo { // a person has asked for those by themselves
			to.state = pending
		}
	}
	return settledOnes
}
