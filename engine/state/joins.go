package state

import (
	"slices"

	"moon/engine/graph"
	"moon/events"
	"moon/plan"
)

// verdict is what the edges into a node, all of them resolved, come to.
type verdict uint8

const (
	met           verdict = iota
	unchanged             // nothing that it is notified by has changed
	doneElsewhere         // another host has done it
	declined              // what it needs has ended well, and should have ended in another way
	unreached
)

// joins says what the edges into a node come to.
type joins struct{ *board }

func (s *board) joins() joins { return joins{s} }

// verdict says what the edges into a node come to, and for declined whose end it is.
func (s joins) verdict(id graph.ID) (v verdict, by graph.ID) {
	n, g := &s.nodes[id], &s.graph.Nodes[id]
	unmet := n.misses > g.Spare
	// Any means at least one: a rescue begins with the first failure that it is for.
	if g.Join == graph.Any {
		unmet = n.hits == 0 || g.Label == graph.Notified && !s.notified(id)
	}
	switch {
	case !unmet && g.Kind == graph.Step && s.isUnasked(&s.plan.Steps[g.Step]):
		return unchanged, -1
	case !unmet, g.Join == graph.Whole:
		return met, -1
	case g.Kind == graph.Barrier && g.Join != graph.Any && g.Label != graph.Needs:
		return unreached, -1
	case g.Join == graph.Any, s.unnotified(id):
		return unchanged, -1
	case s.elsewhere(id):
		return doneElsewhere, -1
	}
	if by = s.declined(id); by >= 0 {
		return declined, by
	}
	return unreached, -1
}

// notified reports of a barrier before a handler, into which an edge was met, whether that comes from a step that notifies the handler:
// some do only if the name says so that they have in the run.
func (s joins) notified(id graph.ID) bool {
	for _, e := range s.graph.Out(id) {
		h := &s.plan.Steps[s.graph.Nodes[e.To].Step]
		if len(h.Named) == 0 || s.notifiedBy(h, h.Notifiers) {
			return true
		}
	}
	return false
}

// heldBack are the reasons of a person for a skip: what was to be done is still to be done.
var heldBack = []events.SkipReason{events.SkipUser, events.SkipTags}

// isUnasked reports whether nothing has notified a handler, now that all that could has ended, or it has run for it before.
func (s joins) isUnasked(h *plan.Step) bool {
	return len(h.Notifiers) > 0 && (s.isSpent(h) || !s.notifiedBy(h, h.Notifiers))
}

// isSpent reports whether a handler has run for all that has notified it: at a place before, where the run came by. If its own conditions
// kept it from running there, that is over, too.
func (s joins) isSpent(h *plan.Step) bool {
	for _, f := range slices.Backward(h.Flushes) {
		switch n := s.node(f.Step); {
		case n.state != settled, n.outcome == events.Omitted:
		case n.outcome == events.Skipped && slices.Contains(heldBack, s.skips[f.Step].Reason):
		default:
			return !s.notifiedBy(h, h.Notifiers[f.Notifiers:])
		}
	}
	return false
}

// notifiedBy reports whether one of some of its notifiers has notified a handler.
func (s joins) notifiedBy(h *plan.Step, some []int) bool {
	failed := -1 // a loop is looked through once, and not for each of its items
	for _, by := range some {
		if h.NamedOnly(by) || !events.OnChanged.Has(s.node(by).effective) || s.plan.Steps[by].Group == failed {
			continue
		}
		if !s.taskFailed(by) {
			return true
		}
		failed = s.plan.Steps[by].Group
	}
	return slices.ContainsFunc(h.Named, func(n plan.Naming) bool {
		return slices.ContainsFunc(n.Steps, func(by int) bool { return slices.Contains(some, by) }) && s.namesIt(n)
	})
}

// taskFailed reports whether a step or another item of its loop has failed, which may be ignored or rescued: as with Ansible the items are
// one task, and one that has failed notifies nothing.
func (s *board) taskFailed(step int) bool {
	p := s.plan
	for i := p.Steps[step].Group; i < len(p.Steps) && p.Steps[i].Group == p.Steps[step].Group; i++ {
		if events.Bad.Has(s.node(i).outcome) {
			return true
		}
	}
	return false
}

// namesIt reports whether steps have changed something and one of them has named a handler. What changed something and has no names was
// done before it was known that they count, or not really done: whatever it could name counts.
func (s *board) namesIt(n plan.Naming) bool {
	changed, named := false, false
	if len(n.Steps) > 0 && s.taskFailed(n.Steps[0]) { // they are the items of one loop
		return false
	}
	for _, step := range n.Steps {
		did := events.OnChanged.Has(s.node(step).effective)
		changed = changed || did
		end := s.ends[step]
		if end == nil || end.names == nil {
			named = named || did
			continue
		}
		// Names are kept without secrets, of which there may be more by now.
		clean := s.plan.Secrets().Redact
		named = named || slices.ContainsFunc(n.Names, func(name string) bool {
			return slices.ContainsFunc(end.names, func(said string) bool { return clean(said) == clean(name) })
		})
	}
	return changed && named
}

// whole is how a scope has ended, whose barrier has all its edges resolved.
func (s joins) whole(id graph.ID) events.Outcome {
	end := events.Skipped
	for _, e := range s.graph.In(id) {
		from, step := s.nodes[e.From].effective, s.graph.Nodes[e.From].Step >= 0
		switch {
		case step && events.Bad.Has(from) && !e.On.Has(from):
			return events.Failed
		case !e.On.Has(from) && end != events.Failed:
			end = events.Omitted // unless something has failed
		case end == events.Omitted, !step:
		case from == events.Changed:
			end = events.Changed
		case from == events.OK && end == events.Skipped:
			end = events.OK
		}
	}
	return end
}

// unnotified reports whether nothing but the lack of a change keeps a handler from running.
func (s joins) unnotified(id graph.ID) bool {
	found := false
	for _, e := range s.graph.In(id) {
		from := &s.nodes[e.From]
		switch {
		case e.On.Has(from.effective):
		case s.graph.Nodes[e.From].Label == graph.Notified && from.effective == events.Skipped:
			found = true
		default:
			return false
		}
	}
	return found
}

// elsewhere reports whether nothing keeps a task with run_once from running but that another host has done it.
func (s joins) elsewhere(id graph.ID) bool {
	found := false
	for _, e := range s.graph.In(id) {
		from, node := &s.nodes[e.From], &s.graph.Nodes[e.From]
		switch {
		case e.On.Has(from.effective):
		case node.Label == graph.Turn && s.tookTurn(e.From), node.Label == "enter" && node.Kind == graph.Barrier && s.elsewhere(e.From):
			found = true
		default:
			return false
		}
	}
	return found
}

// doneMeanwhile reports whether another host has done a task with run_once while the first was left out, which is back now.
func (s joins) doneMeanwhile(step int) bool {
	ps := &s.plan.Steps[step]
	if !ps.Once {
		return false
	}
	at := ps.Scope
	// The scope of the task holds its steps on all hosts.
	for at >= 0 && s.plan.Scopes[at].Kind != plan.ScopeTask {
		at = s.plan.Scopes[at].Parent
	}
	if at < 0 {
		return false
	}
	for i := s.plan.Scopes[at].First; i < s.plan.Scopes[at].Last; i++ {
		n := s.node(i)
		if s.plan.Steps[i].Host != ps.Host && n.state == settled && n.attempt > 0 && events.OnSuccess.Has(s.own(s.id(i))) {
			return true
		}
	}
	return false
}

// tookTurn reports whether one of the hosts before has reached a task with run_once, and ended it well.
func (s joins) tookTurn(turn graph.ID) bool {
	for turn >= 0 {
		next := graph.ID(-1)
		for _, e := range s.graph.In(turn) {
			switch from := &s.nodes[e.From]; {
			case s.graph.Nodes[e.From].Kind == graph.Barrier:
				next = e.From
			case from.effective != events.Omitted:
				return events.OnSuccess.Has(from.effective)
			}
		}
		turn = next
	}
	return false
}

// declined is a step, or a barrier that ends as a scope does, that ended well and is needed to end in another way, where nothing else
// keeps a step from running; or -1. Such a step is not cut off by what went wrong: it is skipped, and what comes after it continues.
func (s joins) declined(id graph.ID) graph.ID {
	by := graph.ID(-1)
	for _, e := range s.graph.In(id) {
		// One edge that failure has missed is enough to be cut off; otherwise the last step that declined is named.
		from, node := &s.nodes[e.From], &s.graph.Nodes[e.From]
		switch {
		case e.On.Has(from.effective):
		case !events.OnSuccess.Has(from.effective):
			return -1
		case node.Step >= 0, node.Join == graph.Whole:
			by = e.From
		case node.Label == graph.Needs:
			by = s.declined(e.From)
		default:
			return -1
		}
	}
	return by
}

// missed is the step that a node's missed edges go back to, but for the edge from one node; -1 if there is none.
func (s joins) missed(id, but graph.ID) int32 {
	for _, e := range s.graph.In(id) {
		from := &s.nodes[e.From]
		// An edge that is not sent yet has missed nothing.
		if e.From == but || from.state != settled || from.unsent || e.On.Has(from.effective) {
			continue
		}
		if why := s.blame(e.From); why >= 0 {
			return why
		}
	}
	return -1
}

// decidesAgain reports whether a settled node is decided about anew when what came before it was taken back: because it did not
// run for how that had ended. What was not run because the run was stopped by another failure stays so, unless it is a failure
// that is taken back.
func (s joins) decidesAgain(id graph.ID, step int32, failed bool) bool {
	n := &s.nodes[id]
	switch {
	case n.state != settled:
		return false
	case s.graph.Nodes[id].Kind == graph.Barrier:
		return true
	case n.outcome == events.Omitted:
		return failed || n.cause < 0 || n.cause == step
	}
	return n.byEdges
}
