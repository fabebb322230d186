package engine

import (
	"container/heap"
	"fmt"
	"maps"
	"slices"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
	"moon/secret"
)

// attemptFinished decides what the end of an attempt means: done, another attempt, a person's decision, or a failure.
func (s *State) attemptFinished(f fact.AttemptFinished) {
	id := s.id(f.Step)
	n := &s.nodes[id]
	if !f.Unstarted {
		s.active--
		s.take(id, -1)
		s.unblock(id)
	}
	for _, w := range f.Warnings {
		s.publish(f.Step, events.Warning{Message: w})
	}
	if f.Message != "" {
		s.publish(f.Step, events.PrintMessage{Message: f.Message})
	}
	bad := events.Bad.Has(f.Outcome)
	if f.Again && bad && int(n.attempt)-len(s.tried[f.Step]) <= s.retries(f) && !s.halting {
		n.state = again
		s.again = append(s.again, id)
		s.remember(f)
		return
	}
	s.variables(f)
	s.ends[f.Step] = &ending{
		outcome: f.Outcome, digest: s.plan.Steps[f.Step].Digest, ignored: f.Ignored, reason: f.Reason, detail: f.Detail,
		name: s.started(f.Step), out: s.outs[f.Step], err: f.Error, rc: f.RC, diff: f.Diff, drift: f.Drift,
		changed: f.Touched,
		ran:     events.Ran{From: s.began[f.Step].From, To: s.now, Command: s.began[f.Step].Command, Message: f.Message},
	}
	delete(s.began, f.Step)
	defer func() { delete(s.names, f.Step); delete(s.outs, f.Step) }()
	if f.Open && f.Outcome == events.OK { // a dry run: what waits for a change may run, and is shown
		n.effective = events.Changed
	}
	switch f.Outcome {
	case events.OK, events.Changed:
		s.settle(id, f.Outcome, -1, func() {
			s.publish(f.Step, events.StepCompleted{
				Name: s.started(f.Step), Changed: f.Outcome == events.Changed, Result: s.resultOf(f), Diff: f.Diff, Drift: f.Drift,
				Resources: f.Resources,
			})
			if f.Outcome == events.Changed || f.Open {
				s.notify(f.Step)
			}
		})
	case events.Skipped:
		s.settle(id, f.Outcome, -1, func() {
			s.publish(f.Step, events.StepSkipped{Name: s.started(f.Step), Reason: f.Reason, Detail: f.Detail})
		})
	case events.Cancelled:
		s.settle(id, f.Outcome, -1, func() { s.publish(f.Step, events.StepCancelled{Name: s.started(f.Step)}) })
	default:
		open := s.opts.BreakOnFailure && !f.Ignored && !s.halting
		if f.Outcome == events.Lost {
			s.publish(f.Step, events.StepLost{
				Name: s.started(f.Step), Error: f.Error, Ignored: f.Ignored,
				Rescued: s.rescues(id, f.Outcome), Open: open,
			})
		} else {
			s.publish(f.Step, events.StepFailed{
				Name: s.started(f.Step), Error: f.Error, RC: f.RC, Timeout: f.Outcome == events.Timeout,
				Unreachable: f.Outcome == events.Unreachable, Ignored: f.Ignored,
				Rescued: s.rescues(id, f.Outcome), Result: s.resultOf(f), Open: open,
			})
		}
		if open {
			n.state, n.outcome, n.asked = failed, f.Outcome, false
			s.held = append(s.held, f.Step)
			return
		}
		s.fail(f.Step, f.Outcome, f.Ignored)
	}
}

// transientRetries is how often a step is tried again that does not say so itself, when what failed may pass: a busy file,
// no process to be had. It has then done nothing yet.
const transientRetries = 3

// retries is how many attempts may follow the first after this failure.
func (s *State) retries(f fact.AttemptFinished) int {
	own := s.plan.Steps[f.Step].Retry.Max
	if own == 0 && f.Class == transient {
		return transientRetries
	}
	return own
}

// remember keeps what the next attempt's event says of this one.
func (s *State) remember(f fact.AttemptFinished) {
	s.errors[f.Step] = f.Error
}

func (s *State) started(step int) string {
	if name, ok := s.names[step]; ok {
		return name
	}
	return s.name(step)
}

func (s *State) resultOf(f fact.AttemptFinished) map[string]any {
	m := map[string]any{
		"changed": f.Outcome == events.Changed || f.Touched, "failed": events.Bad.Has(f.Outcome), "attempts": f.Attempt,
		"duration_ms": f.Duration.Milliseconds(),
	}
	if f.RC != nil {
		m["rc"] = *f.RC
	}
	maps.Copy(m, f.Result)
	return m
}

// variables publishes what an attempt has set.
func (s *State) variables(f fact.AttemptFinished) {
	if f.Registered != nil {
		if name := s.plan.Steps[f.Step].Register; name != "" {
			s.publish(f.Step, events.VariableSet{Name: name, Value: secret.Shown(f.Registered)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Values)) {
		s.publish(f.Step, events.VariableSet{Name: name, Value: secret.Shown(f.Values[name])})
	}
}

// notify tells which handlers a step has notified, each once.
func (s *State) notify(step int) {
	var told []string
	for _, h := range s.notifies[step] {
		name := s.plan.Steps[h].Title()
		if !slices.Contains(told, name) {
			told = append(told, name)
			s.publish(step, events.Notified{Handler: name})
		}
	}
}

// fail settles a failed step and applies the stop policy, unless the failure is ignored or handled.
func (s *State) fail(step int, outcome events.Outcome, ignored bool) {
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
	if ignored || rescued || s.opts.OnFailure == fact.Continue || s.opts.OnFailure == fact.Host {
		return
	}
	s.halt(step)
	if s.opts.OnFailure == fact.Cancel && s.stop == "" {
		s.stop = events.StopInterrupt
	}
}

// rescues reports whether a failure of a step is handled by its rescue. A host of a play that is out of reach has none.
func (s *State) rescues(id graph.ID, outcome events.Outcome) bool {
	return s.graph.Nodes[id].Rescued && (!s.plan.Plays || outcome != events.Lost && outcome != events.Unreachable)
}

// settle ends a node. publish tells about it; for failures it also counts. The edges are resolved by resolve: at once, unless
// something before it has not ended yet. That is so of a result that was kept where a step was inserted above it, or one above
// is run again: whatever comes after both must still wait for both.
func (s *State) settle(id graph.ID, outcome events.Outcome, cause int32, publish func()) {
	n := &s.nodes[id]
	if n.solo {
		n.solo = false
		s.solo = remove(s.solo, id)
	}
	delete(s.queued, id)
	n.state, n.outcome, n.asked = settled, outcome, false
	if n.effective == events.None {
		n.effective = outcome
	}
	if cause >= 0 {
		n.cause = cause
	}
	s.left--
	if s.graph.Nodes[id].Step >= 0 {
		s.countEnd(outcome, +1)
	}
	publish()
	if n.unsent = n.pending > 0; n.unsent {
		return
	}
	if v, _ := s.verdict(id); v == unreached && outcome != events.Omitted { // a person has run it again, although nothing leads to it
		n.effective, n.cause = events.Omitted, s.missed(id, -1)
	}
	s.send(id)
}

// send lets a settled node's edges be resolved.
func (s *State) send(id graph.ID) {
	why := s.blame(id)
	for _, e := range s.graph.Out(id) {
		s.queue = append(s.queue, arrival{e.To, e.On.Has(s.nodes[id].effective), why})
	}
}

// passOn sends the edges of a node that has ended before what comes before it. If that did not lead to it, what comes after it
// is not reached either; its own result stays.
func (s *State) passOn(id graph.ID) {
	n := &s.nodes[id]
	n.unsent = false
	n.effective = s.own(id)
	if v, _ := s.verdict(id); v == unreached {
		n.effective = events.Omitted
	} else if n.outcome != events.Omitted {
		n.cause = -1
	}
	s.send(id)
}

// own is how a settled node ended as its edges would see it if it was reached.
func (s *State) own(id graph.ID) events.Outcome {
	n := &s.nodes[id]
	if step := int(s.graph.Nodes[id].Step); step >= 0 && events.Bad.Has(n.outcome) && s.ends[step] != nil && s.ends[step].ignored {
		return events.OK
	}
	return n.outcome
}

// blame is the step that what a settled node leads to goes back to: the node itself if it failed, or else what kept it
// from running.
func (s *State) blame(id graph.ID) int32 {
	n := &s.nodes[id]
	if step := s.graph.Nodes[id].Step; step >= 0 && n.effective != events.Omitted &&
		(events.Bad.Has(n.outcome) || n.outcome == events.Cancelled) {
		return step
	}
	return n.cause
}

// countEnd counts the ends whose kind the outcome alone tells. Failures are counted where it is known what they mean.
func (s *State) countEnd(o events.Outcome, d int) {
	switch o {
	case events.OK:
		s.counts.OK += d
	case events.Changed:
		s.counts.Changed += d
	case events.Skipped:
		s.counts.Skipped += d
	case events.Cancelled:
		s.counts.Cancelled += d
	case events.Omitted:
		s.counts.Omitted += d
	case events.None, events.Failed, events.Timeout, events.Rejected, events.Lost, events.Unreachable:
	}
}

// resolve follows the edges of what has settled until nothing more follows. It is a loop and not a recursion because a
// failure may omit a hundred thousand steps in a row.
func (s *State) resolve() {
	for len(s.queue) > 0 {
		a := s.queue[0]
		s.queue = s.queue[1:]
		n := &s.nodes[a.to]
		n.pending--
		if a.hit {
			n.hits++
		} else {
			n.misses++
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
func (s *State) reach(id graph.ID) {
	switch n := &s.nodes[id]; {
	case n.state == pending:
		s.arrive(id)
	case n.state == settled && n.unsent:
		s.passOn(id)
	}
}

// verdict is what the edges into a node, all of them resolved, come to.
type verdict uint8

const (
	met           verdict = iota
	unchanged             // nothing that it is notified by has changed
	doneElsewhere         // another host has done it
	declined              // what it needs has ended well, and should have ended in another way
	unreached
)

// verdict says what the edges into a node come to, and for declined which step's end it is.
func (s *State) verdict(id graph.ID) (v verdict, by int) {
	n, g := &s.nodes[id], &s.graph.Nodes[id]
	unmet := n.misses > g.Spare
	if g.Join == graph.Any {
		unmet = n.hits == 0
	}
	switch {
	case !unmet:
		return met, -1
	case g.Kind == graph.Barrier && g.Join != graph.Any:
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

// arrive decides about a node that has not begun.
func (s *State) arrive(id graph.ID) {
	g := &s.graph.Nodes[id]
	step := int(g.Step)
	v, by := s.verdict(id)
	s.nodes[id].byEdges = v != met
	switch {
	case g.Kind == graph.Barrier && v == met:
		s.settle(id, events.OK, -1, func() {})
	case g.Kind == graph.Barrier && v == unchanged:
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
		s.skip(id, events.SkipNeeds, fmt.Sprintf("%s was %s", s.plan.After([]int{by}), s.node(by).effective))
	case v == unreached:
		s.omit(id)
	case s.reopened && s.doneMeanwhile(step):
		s.skip(id, events.SkipNeeds, "another host has run it")
	default:
		s.makeReady(id)
	}
}

// unnotified reports whether nothing but the lack of a change keeps a handler from running.
func (s *State) unnotified(id graph.ID) bool {
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
func (s *State) elsewhere(id graph.ID) bool {
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
func (s *State) doneMeanwhile(step int) bool {
	ps := &s.plan.Steps[step]
	if !ps.Once {
		return false
	}
	at := ps.Scope
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
func (s *State) tookTurn(turn graph.ID) bool {
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

// declined is a step that ended well and is needed to end in another way, where nothing else keeps a step from running;
// or -1. Such a step is not cut off by what went wrong: it is skipped, and what comes after it goes on.
func (s *State) declined(id graph.ID) int {
	by := -1
	for _, e := range s.graph.In(id) {
		from := &s.nodes[e.From]
		switch step := int(s.graph.Nodes[e.From].Step); {
		case e.On.Has(from.effective):
		case step < 0 || !events.OnSuccess.Has(from.effective):
			return -1
		default:
			by = step
		}
	}
	return by
}

func (s *State) makeReady(id graph.ID) {
	g := &s.graph.Nodes[id]
	step := int(g.Step)
	if k, ok := s.kept[step]; ok {
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
	default:
		s.nodes[id].state = ready
		heap.Push(&s.ready, id)
		if s.plan.Steps[step].Queued > 0 {
			s.wait(id)
		}
	}
}

// wait starts the clock of a step that is ready and may wait for a slot only so long.
func (s *State) wait(id graph.ID) {
	due := s.now.Add(s.plan.Steps[s.graph.Nodes[id].Step].Queued)
	s.queued[id] = due
	if s.nextDue.IsZero() || due.Before(s.nextDue) {
		s.nextDue = due
	}
}

// keep settles a step with the result it had before the plan was replaced or the run resumed.
func (s *State) keep(id graph.ID, k *ending) {
	step := int(s.graph.Nodes[id].Step)
	s.ends[step] = k
	var ran *events.Ran
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
			Ran: ran, Unreachable: k.outcome == events.Unreachable, Outdated: old, Open: open,
		})
	case k.outcome == events.Skipped:
		s.settle(id, k.outcome, -1, func() {
			s.publish(step, events.StepSkipped{Name: k.name, Reason: k.reason, Detail: k.detail, Outdated: old})
		})
		return
	}
	if events.Bad.Has(k.outcome) {
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
			Ran: ran, Drift: k.drift, Outdated: old,
		})
	})
}

// leaveOut skips a step that tags or the selection leave out.
func (s *State) leaveOut(id graph.ID) {
	if by := s.plan.Steps[s.graph.Nodes[id].Step].ExcludedBy; by != plan.ByTags && by != "" {
		s.skip(id, events.SkipUser, by)
		return
	}
	s.skip(id, events.SkipTags, "")
}

func (s *State) skip(id graph.ID, reason events.SkipReason, detail string) {
	step := int(s.graph.Nodes[id].Step)
	s.settle(id, events.Skipped, -1, func() {
		s.publish(step, events.StepSkipped{Name: s.name(step), Reason: reason, Detail: detail})
	})
}

func (s *State) omit(id graph.ID) {
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
func (s *State) halt(cause int) {
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
			case s.graph.Nodes[i].Essential && (cause >= 0 || !s.unconfirmed(int(s.graph.Nodes[i].Step))):
				heap.Push(&s.ready, id)
			default:
				n.cause = int32(cause)
				s.omit(id)
			}
		case again, backoff:
			late = append(late, int(s.graph.Nodes[i].Step))
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

// unblock gives nodes that wait for a slot of the same pool, or for the terminal, another chance.
func (s *State) unblock(id graph.ID) {
	if n := &s.graph.Nodes[id]; n.Pool < 0 && !n.Terminal || len(s.blocked) == 0 {
		return
	}
	for _, b := range s.blocked {
		heap.Push(&s.ready, b)
	}
	s.blocked = nil
}

func (s *State) unfence() {
	for _, id := range s.fenced {
		heap.Push(&s.ready, id)
	}
	s.fenced = nil
}
