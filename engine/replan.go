package engine

import (
	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// Replan folds the replacement of the plan by an edited one. A step with the same path and digest keeps its result and
// every decision about it; one whose digest is another keeps its place, its breakpoint and its exclusion, and must be
// decided and run anew.
func (s *State) Replan(r fact.Record, p *plan.Plan, g *graph.Graph) {
	f := r.Fact.(fact.RunReplanned)
	s.now, s.mono = r.At, r.Mono
	old := s.plan
	oldChoices, oldEnds, oldNodes, oldGraph := s.choices, s.ends, s.nodes, s.graph
	at := make(map[string]int, len(old.Steps))
	for i := range old.Steps {
		at[old.Steps[i].Path] = i
	}
	s.load(p, g)
	s.generation = f.Generation
	s.halting, s.haltCause, s.stop = false, -1, ""
	was := s.pause
	if was.Step >= 0 && was.Step < len(old.Steps) {
		was.Step = indexOfPath(p, old.Steps[was.Step].Path)
	}
	for i := range p.Steps {
		j, ok := at[p.Steps[i].Path]
		if !ok {
			continue
		}
		if p.Steps[i].Digest != old.Steps[j].Digest {
			s.choices[i] = oldChoices[j] & (breakpoint | excluded)
			continue
		}
		s.choices[i] = oldChoices[j]
		n := oldNodes[oldGraph.NodeOf(j)]
		done := n.state == settled && (n.outcome == events.OK || n.outcome == events.Changed || n.effective == events.OK)
		if e := oldEnds[j]; e != nil && done {
			s.kept[i] = e
		}
	}
	s.publish(-1, events.PlanLoaded{TotalSteps: len(p.Steps), Digest: p.Digest, Generation: s.generation})
	s.republish()
	s.arriveRoots()
	s.resolve()
	if s.paused {
		if was.Reason == events.PauseEnd || was.Step >= 0 && s.node(was.Step).state == settled {
			was = fact.RunPaused{Reason: events.PauseUser, Step: -1}
		}
		s.setPause(was)
	}
}

func indexOfPath(p *plan.Plan, path string) int {
	for i := range p.Steps {
		if p.Steps[i].Path == path {
			return i
		}
	}
	return -1
}

// republish tells views the decisions that were kept, as the commands that would make them, run by run.
func (s *State) republish() {
	for _, c := range []struct {
		bit  choice
		make func(events.Range) events.Command
	}{
		{approved, func(r events.Range) events.Command { return events.Approve{Range: r} }},
		{confirmed, func(r events.Range) events.Command { return events.Approve{Range: r, Confirm: true} }},
		{excluded, func(r events.Range) events.Command { return events.Exclude{Range: r} }},
	} {
		for from := 0; from < len(s.choices); {
			to := from
			for to < len(s.choices) && s.choices[to]&c.bit != 0 {
				to++
			}
			if to > from {
				s.publish(-1, events.CommandAccepted{Order: events.Order{Actor: "moon", Command: c.make(events.Range{From: from, To: to})}})
			}
			from = to + 1
		}
	}
	for step, c := range s.choices {
		if c&breakpoint != 0 {
			s.publish(-1, events.CommandAccepted{Order: events.Order{Actor: "moon", Command: events.Break{Step: step}}})
		}
	}
}
