package state

import (
	"maps"
	"slices"
	"time"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
	"moon/plan/counterpart"
)

// underway is a step that has begun and not ended while rounds are added to the plan: it continues under the new one.
type underway struct {
	node
	name, out, err string
	ran            events.Ran
	due            time.Time // of the next attempt, or until when it may wait for a slot
	counted        int       // attempts that count against the limit of retries
}

// Renumbered says which step of the plan before each one is that takes its place by a record.
func Renumbered(p, old *plan.Plan, f fact.RunReplanned) []int {
	if len(f.Expanded) > 0 {
		return counterpart.Grown(p, old)
	}
	return Counterparts(p, old, f.Keeps)
}

// Added are the steps of a plan that are not in the one before.
func Added(of []int) (ranges []events.Range) {
	for i, j := range of {
		switch n := len(ranges); {
		case j >= 0:
		case n > 0 && ranges[n-1].To == i:
			ranges[n-1].To++
		default:
			ranges = append(ranges, events.Range{From: i, To: i + 1})
		}
	}
	return ranges
}

func addedBy(of, expanded []int) []events.Range {
	if len(expanded) == 0 {
		return nil
	}
	return Added(of)
}

// underwayOf is a step that has begun, or that a person has asked for; nil for all others. The state is still that of the plan before.
func (s *replanning) underwayOf(step int) *underway {
	id := s.id(step)
	n := &s.nodes[id]
	switch n.state {
	case pending, again, failed, settled: // no attempt is scheduled while rounds are added: what is to be tried again has its time
		return nil
	case running, waiting, backoff, ready:
	}
	u := &underway{
		node: *n, name: s.names[step], out: s.outs[step], err: s.errors[step], ran: s.began[step],
		counted: int(n.attempt) - len(s.tried[step]) + s.counted[step],
	}
	switch n.state {
	case backoff:
		u.due = s.delayed[id]
	case ready:
		u.due = s.queued[id]
		if !n.solo && !n.decided && n.attempt == 0 && u.due.IsZero() {
			return nil
		}
	default:
	}
	return u
}

// restoreUnderway puts back what has begun. What runs is left alone by edges that reach it.
func (s *replanning) restoreUnderway(all map[int]*underway) {
	s.live = all
	for _, step := range slices.Sorted(maps.Keys(all)) {
		u, n := all[step], s.node(step)
		n.decided, n.announced, n.asked = u.decided, u.announced, u.asked
		if u.name != "" {
			s.names[step] = u.name
		}
		if u.out != "" {
			s.outs[step] = u.out
		}
		if u.err != "" {
			s.errors[step] = u.err
		}
		if !u.ran.From.IsZero() {
			s.began[step] = u.ran
		}
		if u.counted > 0 {
			s.counted[step] = u.counted
		}
		switch u.state {
		case running:
			n.state = running
			s.active++
			s.take(s.id(step), +1)
		case waiting:
			n.state = waiting
			s.open++
		case backoff:
			s.later[step] = u.due
		default:
			if u.solo { // a person wants it to run, whatever comes before it
				n.state, n.solo = ready, true
				s.solo = append(s.solo, s.id(step))
			}
		}
	}
}

// publishUnderway tells views what runs, waits for its next attempt, or asks, in the order of the plan.
func (s *replanning) publishUnderway(all map[int]*underway) {
	for _, step := range slices.Sorted(maps.Keys(all)) {
		u, ps := all[step], &s.plan.Steps[step]
		switch u.state {
		case running:
			s.publish(step, events.StepStarted{
				Name: u.name, Action: ps.Action, Tags: orEmpty(ps.Tags), Command: u.ran.Command, Out: u.out,
				Real: s.opts.Check && ps.DefiesDryRun(), Since: u.ran.From,
			})
		case waiting:
			s.publish(step, events.GateOpened{Reason: events.PauseUser, Message: ps.Title()})
		case backoff:
			next := int(u.attempt) + 1
			s.publish(step, events.StepRetrying{Attempt: next, Due: u.due, Error: u.err, Out: s.OutName(step, next)})
		case ready:
			if u.solo {
				next := int(u.attempt) + 1
				s.publish(step, events.StepRetrying{Attempt: next, Due: s.now, ByUser: true, Out: s.OutName(step, next)})
			}
		default:
		}
	}
}

// queueAgain continues with the steps that a person wants to be run again. All but the first wait for their turn.
func (s *replanning) queueAgain(steps []int) {
	s.reruns = steps
	if len(steps) == 0 {
		return
	}
	for _, step := range steps[1:] {
		s.detain(step)
	}
	s.nextRerun()
	s.resolve()
}

// waitOn lets a step that is ready wait for a slot no longer than it would have under the plan before.
func (s *flow) waitOn(id graph.ID, u *underway) {
	if _, waits := s.queued[id]; u == nil || !waits || u.due.IsZero() {
		return
	}
	s.queued[id] = u.due
	if u.due.Before(s.nextDue) {
		s.nextDue = u.due
	}
}
