package state

import (
	"container/heap"
	"fmt"
	"time"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// flow carries the end of a node along its edges: what it leads to becomes ready, is skipped or is omitted.
type flow struct {
	slots
	queue    []arrival         // edges being resolved
	held     []int             // steps that failed and wait for a person
	kept     []*ending         // per step, results taken over from the plan before
	behind   map[int]bool      // excluded steps that were skipped under the plan before: they do not come back
	sameRun  bool              // what is kept is of this run, and not of one before
	later    map[int]time.Time // when steps are due that waited for another attempt under the plan before
	live     map[int]*underway // while rounds are added: what has begun and not ended
	jobs     map[int]string    // of steps that have started one and have not learnt how it ended: the job in the background
	reopened bool              // a person has taken back the end of a step
}

type arrival struct {
	to  graph.ID
	hit bool
	why int32 // step a miss goes back to
}

func (s *flow) arriveRoots() {
	for i := range s.nodes {
		if s.nodes[i].pending == 0 && s.nodes[i].state == pending {
			s.arrive(graph.ID(i))
		}
	}
}

func (s *flow) setPause(f fact.RunPaused) {
	s.paused, s.pause = true, f
	// Remembered apart from the reason: a failure can pause the run at a step that has a breakpoint.
	s.atBreak = f.Step >= 0 && f.Step < len(s.choices) && s.choices[f.Step]&breakpoint != 0
	// Before a step is approved, nobody has asked yet whether the condition of its breakpoint holds.
	if f.Reason == events.PauseUndecided && s.breaks[f.Step] != nil {
		s.atBreak = false
	}
	s.fence, s.budget = nil, -1
	s.unfence()
	if f.Step >= 0 && f.Reason != events.PauseStep {
		s.publish(f.Step, events.GateOpened{Reason: f.Reason, Message: f.Message})
	}
	s.publish(f.Step, events.RunPaused{Reason: f.Reason, Message: f.Message})
}

func (s *flow) resume() {
	if !s.paused {
		return
	}
	s.paused = false
	for id := range s.queued { // what a person took to think does not count
		s.wait(id)
	}
	if !s.reviewed {
		s.reviewed = true
	}
	if s.pause.Step >= 0 && s.pause.Reason != events.PauseStep && s.pause.Step < len(s.plan.Steps) {
		s.publish(s.pause.Step, events.GateResolved{By: "user"})
	}
	s.publish(-1, events.RunResumed{})
	s.skipExcluded()
}

// fail settles a failed step and applies the stop policy, unless the failure is ignored or handled.
func (s *flow) fail(step int, outcome events.Outcome, ignored bool) {
	id := s.id(step)
	n := &s.nodes[id]
	rescued := s.rescues(id, outcome)
	if ignored {
		n.effective = events.OK
	}
	s.settle(id, outcome, -1, func() {
		switch {
		case ignored:
			s.counts.Ignored++
		case rescued:
			s.counts.Rescued++
		case outcome == events.Lost:
			s.counts.Lost++
		default:
			s.counts.Failed++
		}
	})
	// `host` needs no halt: the chain of that host is broken by its own edges.
	if !s.isStale(step) && (ignored || rescued || s.opts.OnFailure == fact.Continue || s.opts.OnFailure == fact.Host) {
		return
	}
	s.halt(step)
	// Cancel also ends what runs, unless a person has asked for something harder.
	if s.opts.OnFailure == fact.Cancel && s.stop == "" {
		s.stop = events.StopInterrupt
	}
}

// settle ends a node. publish tells about it; for failures it also counts. The edges are resolved by resolve: at once, unless
// something before it has not ended yet. That is so of a result that was kept where a step was inserted above it, or one above
// is run again: whatever comes after both must still wait for both.
func (s *flow) settle(id graph.ID, outcome events.Outcome, cause int32, publish func()) {
	n := &s.nodes[id]
	if n.solo {
		n.solo = false
		s.solo = remove(s.solo, id)
	}
	delete(s.queued, id)
	n.state, n.outcome, n.asked = settled, outcome, false
	// For an ignored failure fail has set it already: what follows sees ok.
	if n.effective == events.None {
		n.effective = outcome
	}
	if cause >= 0 {
		n.cause = cause
	}
	s.left--
	if step := int(s.graph.Nodes[id].Step); step >= 0 {
		s.countLimits(step, -1)
		s.countEnd(outcome, +1)
		s.endTurn(id)
	}
	publish()
	// Its edges are sent when the last of those before it has arrived.
	if n.unsent = n.pending > 0; n.unsent {
		return
	}
	if v, _ := s.joins().verdict(id); v == unreached && outcome != events.Omitted { // a person ran it again, although nothing leads to it
		n.effective, n.cause = events.Omitted, s.joins().missed(id, -1)
	}
	s.send(id)
}

// send lets a settled node's edges be resolved.
func (s *flow) send(id graph.ID) {
	n := &s.nodes[id]
	if n.unsent = s.givesRounds(id); n.unsent {
		if !s.stopped() {
			return
		}
		// The rounds will not run, and to what comes after them that is an omission.
		n.unsent, n.effective = false, events.Omitted
	}
	why := s.blame(id)
	for _, e := range s.graph.Out(id) {
		s.queue = append(s.queue, arrival{e.To, e.On.Has(s.nodes[id].effective), why})
	}
}

// givesRounds reports whether the next plan has the rounds that an open place has found. What comes after the place comes after
// them: without them a handler would be skipped that they notify.
func (s *flow) givesRounds(id graph.ID) bool {
	step := int(s.graph.Nodes[id].Step)
	return step >= 0 && s.plan.Steps[step].Open() && s.ends[step] != nil && s.ends[step].found
}

// passOn sends the edges of a node that has ended before what comes before it. If that did not lead to it, what comes after it
// is not reached either; its own result stays.
func (s *flow) passOn(id graph.ID) {
	n := &s.nodes[id]
	n.effective = s.own(id)
	if v, _ := s.joins().verdict(id); v == unreached {
		n.effective = events.Omitted
	} else if n.outcome != events.Omitted {
		n.cause = -1
	}
	s.send(id)
}

// resolve follows the edges of what has settled until nothing more follows. It is a loop and not a recursion because a
// failure may omit a hundred thousand steps in a row.
func (s *flow) resolve() {
	// First in, first out, so that a fold of the journal reaches the nodes in the same order.
	for len(s.queue) > 0 {
		a := s.queue[0]
		s.queue = s.queue[1:]
		n := &s.nodes[a.to]
		n.pending--
		if a.hit {
			n.hits++
		} else {
			n.misses++
			// The first cause is the one that is shown; later ones are consequences.
			if n.cause < 0 {
				n.cause = a.why
			}
		}
		if n.pending == 0 {
			s.reach(a.to)
		}
	}
	s.queue = nil
}

// reach decides about a node whose edges are all resolved. One that runs, or waits for a person, has gone ahead.
func (s *flow) reach(id graph.ID) {
	switch n := &s.nodes[id]; {
	case n.state == pending:
		s.arrive(id)
	case n.state == settled && n.unsent:
		s.passOn(id)
	}
}

// arrive decides about a node that has not begun.
func (s *flow) arrive(id graph.ID) {
	g := &s.graph.Nodes[id]
	step := int(g.Step)
	v, by := s.joins().verdict(id)
	// Remembered for reopen: what was not run because of edges is decided again if they are taken back.
	s.nodes[id].byEdges = v != met
	switch {
	case g.Join == graph.Whole:
		s.settle(id, s.joins().whole(id), -1, func() {})
	case g.Kind == graph.Barrier && v == met:
		// A barrier is nothing that a view knows, so nothing is published.
		s.settle(id, events.OK, -1, func() {})
	case g.Kind == graph.Barrier && (v == unchanged || v == declined):
		s.settle(id, events.Skipped, -1, func() {})
	case g.Kind == graph.Barrier:
		s.settle(id, events.Omitted, -1, func() {})
	case v == unchanged:
		s.settle(id, events.Skipped, -1, func() {
			s.publish(step, events.StepSkipped{Name: s.name(step), Reason: events.SkipUnchanged})
		})
	case v == doneElsewhere:
		s.skip(id, events.SkipNeeds, "another host has run it")
	case v == declined:
		s.skip(id, events.SkipNeeds, fmt.Sprintf("%s was %s", s.nameNode(by), s.nodes[by].effective))
	case v == unreached:
		s.omit(id)
	// Another host has done the task while this one's end was taken back.
	case s.reopened && s.joins().doneMeanwhile(step):
		s.skip(id, events.SkipNeeds, "another host has run it")
	default:
		s.makeReady(id)
	}
}

// nameNode names a step, or the scope that a barrier ends as.
func (s *flow) nameNode(id graph.ID) string {
	if step := int(s.graph.Nodes[id].Step); step >= 0 {
		return s.plan.StepRef(step)
	}
	return s.graph.Nodes[id].Label
}

func (s *flow) makeReady(id graph.ID) {
	g := &s.graph.Nodes[id]
	step := int(g.Step)
	// Kept first: neither a choice nor a stop changes what has happened already.
	if k := s.kept[step]; k != nil {
		s.keep(id, k)
		return
	}
	switch {
	case s.plan.Steps[step].Excluded:
		s.leaveOut(id)
	case s.choices[step]&excluded != 0 && (!s.waits() || s.behind[step]): // otherwise it can be restored until the run goes on
		s.skip(id, events.SkipUser, "")
	case s.choices[step]&(excluded|marked) == marked:
		s.settleMarked(id)
	case s.halting && !g.Essential, s.stopped() && s.unconfirmed(step):
		s.nodes[id].cause = int32(s.haltCause)
		s.omit(id)
	case !s.later[step].IsZero() && !s.isLate(step):
		s.nodes[id].state, s.nodes[id].announced = backoff, true
		s.delayed[id] = s.later[step]
	default:
		s.nodes[id].state = ready
		heap.Push(&s.ready, id)
		if s.plan.Steps[step].Queued > 0 {
			s.wait(id)
			s.waitOn(id, s.live[step])
		}
	}
}

// keep settles a step with the result it had before the plan was replaced or the run resumed.
func (s *flow) keep(id graph.ID, k *ending) {
	step := int(s.graph.Nodes[id].Step)
	s.ends[step] = k
	var ran *events.Ran
	// Without it views take the result for one of an earlier process, and show it as kept.
	if s.sameRun && !k.ran.To.IsZero() {
		ran = &k.ran
	}
	old := s.outdatedEnd(step)
	open := k.held && !s.halting // a run that stops asks nothing any more
	k.held = false
	switch {
	case k.outcome == events.Lost:
		e := events.StepLost{Name: k.name, Ignored: k.ignored, Rescued: s.rescues(id, k.outcome), Open: open}
		if k.err != lostError { // which it says without words
			e.Error = k.err
		}
		s.publish(step, e)
	case events.Bad.Has(k.outcome):
		s.publish(step, events.StepFailed{
			Name: k.name, Error: k.err, RC: k.rc, Ignored: k.ignored, Rescued: s.rescues(id, k.outcome),
			Ran: ran, Unreachable: k.outcome == events.Unreachable, Outdated: old, Open: open, Drifted: k.drifted,
		})
	case k.outcome == events.Skipped:
		s.settle(id, k.outcome, -1, func() {
			s.publish(step, events.StepSkipped{Name: k.name, Reason: k.reason, Detail: k.detail, Outdated: old})
		})
		s.nodes[id].byEdges = k.edges
		return
	}
	if events.Bad.Has(k.outcome) {
		// It waits for the same decision as before the plan was replaced.
		if open {
			s.nodes[id].state, s.nodes[id].outcome = failed, k.outcome
			s.held = append(s.held, step)
			return
		}
		s.fail(step, k.outcome, k.ignored)
		return
	}
	result := map[string]any{}
	if k.rc != nil {
		result["rc"] = *k.rc
	}
	s.settle(id, k.outcome, -1, func() {
		s.publish(step, events.StepCompleted{
			Name: k.name, Changed: k.outcome == events.Changed, Result: result, Diff: k.diff, Kept: true, Out: k.out,
			Ran: ran, Drift: k.drift, Outdated: old, Marked: k.marked,
		})
	})
}

// leaveOut skips a step that tags or the selection leave out.
func (s *flow) leaveOut(id graph.ID) {
	if by := s.plan.Steps[s.graph.Nodes[id].Step].ExcludedBy; by != plan.ByTags && by != "" {
		s.skip(id, events.SkipUser, by)
		return
	}
	s.skip(id, events.SkipTags, "")
}

func (s *flow) skip(id graph.ID, reason events.SkipReason, detail string) {
	step := int(s.graph.Nodes[id].Step)
	s.settle(id, events.Skipped, -1, func() {
		s.publish(step, events.StepSkipped{Name: s.name(step), Reason: reason, Detail: detail})
	})
}

func (s *flow) omit(id graph.ID) {
	step := int(s.graph.Nodes[id].Step)
	n := &s.nodes[id]
	s.settle(id, events.Omitted, -1, func() {
		e := events.StepOmitted{Name: s.name(step), Reason: "not needed"}
		switch {
		case n.cause >= 0:
			e.Cause = ref(n.cause)
			e.Reason = events.StepID(int(n.cause)) + " " + s.nodes[s.graph.NodeOf(int(n.cause))].outcome.String()
		case s.halting:
			e.Reason = "the run was stopped"
		}
		s.publish(step, e)
	})
}

// halt starts nothing more, but what is essential: everything that is ready is omitted, and so is what becomes ready.
func (s *flow) halt(cause int) {
	if s.halting {
		return
	}
	s.halting, s.haltCause = true, cause
	s.ready.ids, s.blocked, s.fenced, s.again = nil, nil, nil, nil
	clear(s.delayed)
	// In the order of the nodes, and not of the lists: those are in the order in which things were looked at, which a
	// fold of the facts does not repeat.
	var late []int
	for i := range s.nodes {
		id := graph.ID(i)
		switch n := &s.nodes[i]; n.state {
		case ready:
			switch {
			case s.choices[s.graph.Nodes[i].Step]&excluded != 0:
				s.skip(id, events.SkipUser, "")
			// A stop by a person starts essential steps without asking, and so omits those that need a confirmation.
			case s.graph.Nodes[i].Essential && (cause >= 0 || !s.unconfirmed(int(s.graph.Nodes[i].Step))):
				heap.Push(&s.ready, id)
			default:
				n.cause = int32(cause)
				s.omit(id)
			}
		case again, backoff:
			late = append(late, int(s.graph.Nodes[i].Step))
		case settled:
			if cause < 0 && n.unsent && n.pending == 0 {
				s.send(id)
			}
		default:
		}
	}
	// Failures that waited for a person have their consequences now: there is nothing left to decide.
	held := s.held
	s.held = nil
	for _, step := range held {
		s.fail(step, s.node(step).outcome, false)
	}
	// Attempts that were to be tried again end as they failed.
	for _, step := range late {
		s.publish(step, events.StepFailed{Name: s.started(step), Error: s.errors[step], Rescued: s.graph.Nodes[s.id(step)].Rescued})
		s.fail(step, events.Failed, false)
	}
}

// skipExcluded skips the excluded steps that would start now. While the run is paused they wait, so that they can be restored; only
// what starts in spite of the pause is skipped at once.
func (s *flow) skipExcluded() {
	for step, c := range s.choices {
		if n := s.node(step); c&excluded != 0 && n.state == ready && (n.solo || !s.waits()) {
			s.skip(s.id(step), events.SkipUser, "")
		}
	}
	s.resolve()
}

// settleMarked ends a step that a person takes for done.
func (s *flow) settleMarked(id graph.ID) {
	step := int(s.graph.Nodes[id].Step)
	s.nodes[id].outcome, s.nodes[id].effective = events.None, events.None
	s.ends[step] = &ending{outcome: events.OK, digest: s.plan.Steps[step].Digest, name: s.started(step), marked: true}
	s.settle(id, events.OK, -1, func() {
		s.publish(step, events.StepCompleted{Name: s.started(step), Result: map[string]any{}, Marked: true})
	})
}

func pausedByUser() fact.RunPaused { return fact.RunPaused{Reason: events.PauseUser, Step: -1} }
