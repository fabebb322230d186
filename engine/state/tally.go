package state

import (
	"moon/engine/graph"
	"moon/events"
	"moon/plan"
)

// tally counts how a run went, by host and in all.
type tally struct{ *board }

func (s *board) tally() tally { return tally{s} }

func (s tally) summary() events.RunCompleted {
	c := s.counts
	sum := events.RunCompleted{
		TotalSteps: len(s.plan.Steps), Executed: c.OK + c.Changed + c.Ignored, Changed: c.Changed, Skipped: c.Skipped,
		Failed: c.Failed + c.Lost, Ignored: c.Ignored, Rescued: c.Rescued, Cancelled: c.Cancelled,
	}
	for _, step := range s.plan.OpenPlaces() {
		if n := s.node(step); n.state == settled && n.outcome == events.OK {
			sum.Open++
		}
	}
	// A loop that is still open has done nothing.
	sum.Executed -= sum.Open
	sum.Hosts = s.hosts()
	sum.Outdated = len(s.Outdated(events.Range{To: len(s.plan.Steps)}))
	// Whatever is left over was not run; computed so that all numbers add up to the total.
	sum.NotRun = sum.TotalSteps - sum.Executed - sum.Skipped - sum.Failed - sum.Rescued - sum.Cancelled
	return sum
}

// hosts counts how the tasks of a playbook of plays ended on each host.
func (s tally) hosts() []events.HostCounts {
	if !s.plan.Dialect.Rules().OverHosts {
		return nil
	}
	var list []events.HostCounts
	at := map[string]int{}
	count := func(host string) *events.HostCounts {
		i, ok := at[host]
		if !ok {
			i = len(list)
			at[host] = i
			list = append(list, events.HostCounts{Host: host})
		}
		return &list[i]
	}
	for i := 0; i < len(s.plan.Steps); {
		group := s.plan.Steps[i].Group
		end := i + 1
		// A loop's items on one host are one task, as Ansible counts them.
		for end < len(s.plan.Steps) && s.plan.Steps[end].Group == group && group == i {
			end++
		}
		s.countTask(i, end, count)
		i = end
	}
	return list
}

// countTask counts one task on one host: the steps from one to before another.
func (s tally) countTask(from, to int, count func(host string) *events.HostCounts) {
	var t events.TaskEnds
	reached := false
	for i := from; i < to; i++ {
		ps, n := &s.plan.Steps[i], s.node(i)
		if ps.Excluded || s.gone(ps) || n.state != settled {
			// A step of an include that was skipped was never there.
			continue
		}
		e := events.StepEnd{
			Action: ps.Action, Outcome: n.outcome, Reason: s.skips[i].Reason, Tried: n.attempt > 0,
			Ignored: events.Bad.Has(n.outcome) && s.own(s.id(i)) == events.OK, Rescued: s.rescues(s.id(i), n.outcome),
		}
		if end := s.ends[i]; end != nil {
			e.Touched = end.changed
		}
		t.Take(e)
		reached = reached || n.outcome == events.Cancelled
	}
	if reached || t != (events.TaskEnds{}) {
		t.Add(count(s.plan.Steps[from].Host))
	}
}

// gone reports whether a step turned out not to be there: its include was skipped, or its host had left the play.
func (s tally) gone(ps *plan.Step) bool {
	for _, g := range ps.Gates {
		for step := g.Step; step < g.End(); step++ {
			n := s.node(step)
			// Most gates shut by running; one that is marked so shuts by not running.
			shut := n.outcome == events.OK || n.outcome == events.Changed
			if g.Ran {
				shut = n.outcome == events.Skipped || n.outcome == events.Omitted
			}
			if shut && n.state == settled {
				return true
			}
		}
	}
	return false
}

// forgiven is how many failures a later meta: clear_host_errors has taken back.
func (s tally) forgiven() int {
	last := -1
	for i := range s.plan.Steps {
		if s.plan.Steps[i].Clears && s.node(i).outcome == events.OK {
			last = i
		}
	}
	n := 0
	for i := range last {
		if at := s.node(i); at.state == settled && events.Bad.Has(at.outcome) && s.own(s.id(i)) != events.OK &&
			!s.rescues(s.id(i), at.outcome) {
			n++
		}
	}
	return n
}

// unexplained are the steps that were not run although nothing says why: no failure, no stop, no condition. There must be none, and
// a run that has any has not succeeded, whatever else it did: what it left out nobody would look for.
//
// Each step that was not reached has an edge that was not met. Followed from there, the edges lead to the failure, the condition or the
// rescue that was not needed. A step whose edges were all met was left out by the run itself.
func (s tally) unexplained() (steps []int) {
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
			// An edge that was not met explains the node if what it comes from did not just vanish itself.
			if !e.On.Has(from.effective) && (from.outcome != events.Omitted || explained[e.From]) {
				explained[id] = true
				break
			}
		}
		step := s.graph.Nodes[id].Step
		explained[id] = explained[id] || step >= 0 && s.isLate(int(step))
		if !explained[id] && step >= 0 {
			steps = append(steps, int(step))
		}
	}
	return steps
}
