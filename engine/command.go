package engine

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
)

// refuse says why a command cannot be obeyed now, or "".
func (s *State) refuse(c events.Command) string {
	if s.finished {
		return "the run has ended"
	}
	switch c := c.(type) {
	case events.Approve:
		if c.Digest != "" && c.Digest != s.plan.Digest {
			return "the plan has changed since it was on screen; look again"
		}
		return s.inside(c.Range)
	case events.Withdraw:
		return s.inside(c.Range)
	case events.Exclude:
		return cmp.Or(s.inside(c.Range), s.shaped(func(step int) bool { return c.Has(step) || s.choices[step]&excluded != 0 }))
	case events.Include:
		return s.refuseInclude(c.Range)
	case events.Break:
		return s.refuseBreak(c)
	case events.Mark:
		if why := s.inside(c.Range); why != "" {
			return why
		}
		if len(s.markable(c.Range)) == 0 {
			return "there is nothing here that could be taken for done"
		}
	case events.Continue:
		return s.refuseContinue()
	case events.Advance:
		if !s.paused {
			return "the run is not paused"
		}
		if s.pause.Reason == events.PauseEnd {
			return "nothing is left to run"
		}
	case events.Pause:
		if s.paused {
			return "the run is paused already"
		}
	case events.Rerun:
		return s.refuseRerun(c)
	case events.Keep:
		if why := s.inside(c.Range); why != "" {
			return why
		}
		if len(s.outdated(c.Range)) == 0 {
			return "nothing here is done with an earlier definition"
		}
	case events.Retry:
		if why := s.inside(c.Range); why != "" {
			return why
		}
		if len(s.retryable(c.Range)) == 0 {
			return "there is nothing to retry here"
		}
	case events.Skip:
		if why := s.inside(events.Range{From: c.Step, To: c.Step + 1}); why != "" {
			return why
		}
		if !slices.Contains(s.held, c.Step) && !s.retriesHere(c.Step) {
			return "only a failed step that waits for a decision can be skipped"
		}
	case events.Set:
		return s.refuseSet(c)
	case events.Fix:
		return s.refuseFix(c)
	case events.Answer:
		if why := s.inside(events.Range{From: c.Step, To: c.Step + 1}); why != "" {
			return why
		}
		if s.node(c.Step).state != waiting {
			return "this step asks nothing now"
		}
	case events.Leave:
		if s.left > 0 {
			return "the run has not ended"
		}
	case events.Stop:
	}
	return ""
}

func (s *State) refuseSet(c events.Set) string {
	if name, _, ok := strings.Cut(c.Variable, "="); !ok || name == "" {
		return "set takes a variable and its value: set=release=1.5"
	}
	return s.refuseValues()
}

func (s *State) refuseFix(c events.Fix) string {
	if len(c.Values) == 0 {
		return "there is no value to change"
	}
	return s.refuseValues()
}

// refuseValues says why the playbook cannot be planned with other values now.
func (s *State) refuseValues() string {
	switch {
	case s.opts.Saved:
		return "this run is of a saved plan, and runs exactly that"
	case s.plan.RootFile == "-":
		return "a playbook from standard input cannot be planned again"
	case s.active > 0:
		return stillRunning
	}
	return ""
}

// stillRunning is why a plan is not replaced.
const stillRunning = "steps are still running; pause, and try again when they have ended"

func (s *State) inside(r events.Range) string {
	if r.From < 0 || r.To > len(s.plan.Steps) || r.From >= r.To {
		return fmt.Sprintf("the plan has no steps %d to %d", r.From+1, r.To)
	}
	return ""
}

// restorable reports whether the exclusion of a step can be taken back: it was not skipped for it yet.
func (s *State) restorable(step int) bool {
	n := s.node(step)
	return s.choices[step]&excluded != 0 && !s.plan.Steps[step].Excluded && (n.state != settled || n.outcome != events.Skipped)
}

// refuseInclude says why a range cannot be restored. One that was skipped when its turn came is behind the run: if the choice were taken
// back, an edit or a resume would run it out of its order.
func (s *State) refuseInclude(r events.Range) string {
	if why := s.inside(r); why != "" {
		return why
	}
	some, selected := false, false
	for step := r.From; step < r.To; step++ {
		switch {
		case s.restorable(step):
			some = true
		case s.plan.Steps[step].Excluded:
			selected = true
		case s.choices[step]&excluded != 0:
			return s.plan.Steps[step].ID() + " was already skipped and cannot be restored"
		}
	}
	switch {
	case some:
		return s.shaped(func(step int) bool { return !r.Has(step) && s.choices[step]&excluded != 0 })
	case selected:
		return "excluded by tags or selection"
	}
	return "nothing here is excluded"
}

// shaped says why the plan could not run with these steps excluded.
func (s *State) shaped(out func(step int) bool) string {
	left := func(step int) bool { return out(step) || s.node(step).state == settled }
	return s.plan.Shaped(func(step int) bool { return out(step) && !s.done(step) }, left)
}

func (s *State) refuseContinue() string {
	switch {
	case !s.paused:
		return "the run is not paused"
	case s.pause.Reason == events.PauseEnd:
		return "nothing is left to run"
	case s.pause.Step < 0:
		return ""
	case s.pause.Reason == events.PauseUndecided, s.pause.Reason == events.PauseConfirm:
		if s.node(s.pause.Step).state != ready || s.choices[s.pause.Step]&excluded != 0 {
			return "" // it has ended or is excluded, so that it needs no approval
		}
		if reason, _ := s.hold(s.pause.Step); reason == s.pause.Reason {
			return events.StepID(s.pause.Step) + " is not approved"
		}
	}
	return ""
}

// command obeys a command that refuse has let through.
func (s *State) command(c events.Command) {
	switch c := c.(type) {
	case events.Approve:
		s.choose(c.Range, func(have choice) choice {
			if c.Confirm {
				have |= confirmed
			}
			return have | approved
		})
	case events.Withdraw:
		s.choose(c.Range, func(have choice) choice { return have &^ (approved | confirmed) })
	case events.Exclude:
		s.choose(c.Range, func(have choice) choice { return have | excluded })
		s.dropReruns(c.Range)
		s.skipExcluded()
	case events.Include:
		s.choose(c.Range, func(have choice) choice { return have &^ excluded })
	case events.Break:
		s.setBreak(c)
	case events.Mark:
		s.mark(c.Range)
	case events.Continue:
		s.goOn()
	case events.Advance:
		s.advance(c)
	case events.Pause:
		for i := range s.nodes {
			s.nodes[i].asked = false
		}
		s.setPause(pausedByUser())
	case events.Retry:
		s.retry(c.Range)
	case events.Rerun:
		s.rerun(c)
	case events.Keep:
		s.keepOutdated(c.Range)
	case events.Skip:
		s.choices[c.Step] |= excluded // also for a process that goes on with the run
		s.held = slices.DeleteFunc(s.held, func(h int) bool { return h == c.Step })
		s.skip(s.id(c.Step), events.SkipUser, "")
		s.resolve()
		if len(s.held) == 0 {
			s.resume()
		}
	case events.Answer:
		// The session journals a gate.resolved for it.
	case events.Set, events.Fix:
		// The session journals a run.replanned for them.
	case events.Stop:
		s.stopRun(c)
	case events.Leave:
		s.leaving = true
	}
}

func (s *State) choose(r events.Range, f func(choice) choice) {
	for i := r.From; i < r.To; i++ {
		s.choices[i] = f(s.choices[i])
	}
}

// skipExcluded skips the excluded steps that would start now. While the run is paused they wait, so that they can be restored; only
// what starts in spite of the pause is skipped at once.
func (s *State) skipExcluded() {
	for step, c := range s.choices {
		if n := s.node(step); c&excluded != 0 && n.state == ready && (n.solo || !s.waits()) {
			s.skip(s.id(step), events.SkipUser, "")
		}
	}
	s.resolve()
}

// waits reports whether nothing starts by itself because the run is paused. A run that a person has stopped goes to its end
// nevertheless, and so does one in which a failure has left nothing to do.
func (s *State) waits() bool { return s.paused && !s.stopped() && (!s.halting || s.left > 0) }

// stopped reports whether a person has stopped the run, and not a failure: what is essential then runs without being asked for.
func (s *State) stopped() bool { return s.halting && s.haltCause < 0 }

// goOn ends a pause: the breakpoint of the step it was paused before is passed, whatever the reason for the pause, and failed steps that
// waited for a decision are given up. A breakpoint that was set during the pause still stops the run there.
func (s *State) goOn() {
	if at := s.pause.Step; at >= 0 && at < len(s.choices) && (s.atBreak || s.pause.Reason == events.PauseBreakpoint) {
		s.choices[at] |= passed
	}
	s.resume()
	given := s.held
	s.held = nil
	for _, step := range given {
		n := s.node(step)
		s.fail(step, n.outcome, false)
	}
}

func (s *State) advance(c events.Advance) {
	at := s.pause.Step
	givesUp := len(s.held) > 0
	s.goOn()
	if givesUp {
		// Stepping on from a failure gives it up, which is all that a person saw of it: a rescue, or whatever comes next, is not
		// started by the same key.
		s.budget = 0
		return
	}
	if c.Verb == "step" {
		s.budget = 1
		if at >= 0 && at < len(s.choices) {
			s.choices[at] |= passed // a breakpoint set here after stopping must not stop the step that was asked for
		}
		return
	}
	r := c.Range
	s.fence = &r
	if c.Approve {
		s.choose(c.Range, func(have choice) choice { return have | approved })
	}
}

// retryable are the steps in the range that may be tried again: failed ones, and in a pause one that is about to run.
func (s *State) retryable(r events.Range) []int {
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

// retriesHere reports whether the run is paused at a step that failed before the plan was replaced.
func (s *State) retriesHere(step int) bool {
	return s.node(step).state == ready && s.paused && s.pause.Step == step && s.pause.Reason == events.PauseFailure
}

// markable are the steps in the range that a person can take for done: failed ones, and those that have not begun.
func (s *State) markable(r events.Range) []int {
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
func (s *State) mark(r events.Range) {
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

// settleMarked ends a step that a person takes for done.
func (s *State) settleMarked(id graph.ID) {
	step := int(s.graph.Nodes[id].Step)
	s.nodes[id].outcome, s.nodes[id].effective = events.None, events.None
	s.ends[step] = &ending{outcome: events.OK, digest: s.plan.Steps[step].Digest, name: s.started(step)}
	s.settle(id, events.OK, -1, func() {
		s.publish(step, events.StepCompleted{Name: s.started(step), Result: map[string]any{"marked": true}})
	})
}

// retry starts another attempt of failed steps and stays paused. What they had led to is taken back.
func (s *State) retry(r events.Range) {
	steps := s.retryable(r)
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
		n.state, n.outcome, n.effective, n.solo, n.asked = ready, events.None, events.None, true, true
		n.decided = true
		s.choices[step] = (s.choices[step] | approved | confirmed) &^ excluded
		s.solo = append(s.solo, id)
		s.publish(step, events.StepRetrying{Attempt: int(n.attempt) + 1, Due: s.now, ByUser: true, Out: s.outName(step, int(n.attempt)+1)})
		n.announced = true
	}
	s.halting, s.haltCause = false, -1
	s.stop = ""
	if s.pause.Reason == events.PauseEnd {
		s.setPause(fact.RunPaused{Reason: events.PauseFailure, Step: steps[0]})
	}
	s.resolve()
}

// reopen takes back the end of a step, and of everything that was not run because of it. What has run keeps its result; what it
// led to waits for the step too.
func (s *State) reopen(from graph.ID) {
	s.reopened = true
	step := s.graph.Nodes[from].Step
	failed := events.Bad.Has(s.nodes[from].outcome) || s.nodes[from].outcome == events.Cancelled
	todo := []graph.ID{from}
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
		todo = todo[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		todo = append(todo, s.retract(id)...)
		if id == from || s.decidesAgain(id, step, failed) {
			s.unsettle(id)
		}
	}
	for i := range s.nodes {
		if id := graph.ID(i); id != from && seen[id] && s.nodes[i].pending == 0 {
			s.halting = false
			s.reach(id)
		}
	}
}

// unsettle takes back the end of a node. Its edges are taken back already.
func (s *State) unsettle(id graph.ID) {
	s.uncount(id)
	n := &s.nodes[id]
	n.state, n.outcome, n.effective, n.decided, n.unsent, n.byEdges = pending, events.None, events.None, false, false, false
	n.cause = s.missed(id, -1) // of the edges that stay resolved: none of them tells it again
	s.left++
}

// retract takes back the edges of a settled node, as if it had ended before what comes before it, and says which settled
// nodes they led to.
func (s *State) retract(id graph.ID) (settledOnes []graph.ID) {
	n := &s.nodes[id]
	if n.state != settled {
		return nil
	}
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
			if to.state != settled || to.outcome != events.Omitted && to.effective == events.Omitted {
				to.cause = s.missed(e.To, id)
			}
		}
		if to.state == ready && !to.solo { // a person has asked for those by themselves
			to.state = pending
		}
	}
	return settledOnes
}

// missed is the step that a node's missed edges go back to, but for the edge from one node; -1 if there is none.
func (s *State) missed(id, but graph.ID) int32 {
	for _, e := range s.graph.In(id) {
		from := &s.nodes[e.From]
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
func (s *State) decidesAgain(id graph.ID, step int32, failed bool) bool {
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

// uncount takes a settled step out of the counts.
func (s *State) uncount(id graph.ID) {
	if s.graph.Nodes[id].Step < 0 {
		return
	}
	switch o := s.nodes[id].outcome; {
	case events.Bad.Has(o) && s.own(id) == events.OK:
		s.counts.Ignored--
	case events.Bad.Has(o) && s.rescues(id, o):
		s.counts.Rescued--
	case o == events.Lost:
		s.counts.Lost--
	case events.Bad.Has(o):
		s.counts.Failed--
	default:
		s.countEnd(o, -1)
	}
}

func (s *State) stopRun(c events.Stop) {
	s.signalled = s.signalled || c.Signal
	if harder(c.How, s.stop) {
		s.stop = c.How
	}
	given := s.held
	s.held = nil
	s.halting = false
	s.resume()
	s.halt(-1)
	s.haltCause = -1
	for _, step := range given {
		s.fail(step, s.node(step).outcome, false)
	}
	// An open gate must not hold up the end.
	for i := range s.nodes {
		if n := &s.nodes[i]; n.state == waiting {
			s.open--
			n.state = ready
			s.omit(graph.ID(i))
		}
	}
	heap.Init(&s.ready)
}

func harder(a, b events.StopHow) bool {
	order := []events.StopHow{"", events.StopDrain, events.StopInterrupt, events.StopNow}
	return slices.Index(order, a) > slices.Index(order, b)
}
