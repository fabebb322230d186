package state

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"moon/engine/graph"
	"moon/events"
	"moon/internal/people"
)

// commands refuses or obeys what people ask for.
type commands struct{ *rerunning }

func (s *rerunning) commands() commands { return commands{s} }

// Harder reports whether one way to stop a run brings what runs to an end more forcibly than another.
func Harder(a, b events.StopHow) bool {
	order := []events.StopHow{"", events.StopDrain, events.StopInterrupt, events.StopNow}
	return slices.Index(order, a) > slices.Index(order, b)
}

// refuse says why a command cannot be obeyed now, or "".
func (s commands) refuse(c events.Command, by *people.Person) string {
	if s.finished {
		return "the run has ended"
	}
	switch c := c.(type) {
	case events.Approve:
		// The person has approved what was on screen. With another digest that is not what would run.
		if c.Digest != "" && c.Digest != s.plan.Digest {
			return "the plan has changed since it was on screen; look again"
		}
		return cmp.Or(s.inside(c.Range), s.refuseConfirmer(c, by))
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
		if len(s.Outdated(c.Range)) == 0 {
			return "nothing here is done with an earlier definition"
		}
	// The check and the command ask the same function, so that they agree.
	case events.Retry:
		if why := s.inside(c.Range); why != "" {
			return why
		}
		if len(s.Retryable(c.Range)) == 0 {
			return "there is nothing to retry here"
		}
		// To continue would decide about the others, too.
		if c.Continue && slices.ContainsFunc(s.held, func(step int) bool { return !c.Has(step) }) {
			return "another step has failed and waits for a decision: retry that too, or skip it"
		}
		return s.refuseUnconfirmed(s.Retryable(c.Range))
	case events.Accept:
		if why := s.inside(c.Range); why != "" {
			return why
		}
		if len(s.Drifted(c.Range)) == 0 {
			return "nothing here has drifted"
		}
		return s.refuseUnconfirmed(s.Drifted(c.Range))
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

func (s commands) refuseSet(c events.Set) string {
	if name, _, ok := strings.Cut(c.Variable, "="); !ok || name == "" {
		return "set takes a variable and its value: set=release=1.5"
	}
	return s.refuseValues()
}

func (s commands) refuseFix(c events.Fix) string {
	if len(c.Values) == 0 {
		return "there is no value to change"
	}
	return s.refuseValues()
}

// refuseValues says why the playbook cannot be planned with other values now.
func (s commands) refuseValues() string {
	switch {
	case s.opts.Saved:
		return "this run is of a saved plan, and runs exactly that"
	case s.plan.RootFile == "-":
		return "a playbook from standard input cannot be planned again"
	case s.active > 0:
		return StillRunning
	}
	return ""
}

// refuseInclude says why a range cannot be restored. One that was skipped when its turn came is behind the run: if the choice were taken
// back, an edit or a resume would run it out of its order.
func (s commands) refuseInclude(r events.Range) string {
	if why := s.inside(r); why != "" {
		return why
	}
	some, selected := false, false
	for step := r.From; step < r.To; step++ {
		switch {
		case s.Restorable(step):
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

// command obeys a command that refuse has let through.
func (s commands) command(o events.Order) {
	switch c := o.Command.(type) {
	case events.Approve:
		s.choose(c.Range, func(have choice) choice { return have | approved })
		if c.Confirm {
			s.confirm(c.Range, o.By)
		}
	case events.Withdraw:
		s.forgetConfirmers(c.Range)
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
	// A pause also takes back what was asked to run during the one before.
	case events.Pause:
		for i := range s.nodes {
			s.nodes[i].asked = false
		}
		s.setPause(pausedByUser())
	case events.Retry:
		s.retry(c.Range, c.Continue)
	case events.Accept:
		for _, r := range events.RangesOf(s.Drifted(c.Range)) {
			s.retry(r, false)
		}
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

// goOn ends a pause: the breakpoint of the step it was paused before is passed, whatever the reason for the pause, and failed steps that
// waited for a decision are given up. A breakpoint that was set during the pause still stops the run there.
func (s commands) goOn() {
	// The pause may have been for another reason at a step that has a breakpoint as well.
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

func (s commands) advance(c events.Advance) {
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

func (s commands) stopRun(c events.Stop) {
	s.signalled = s.signalled || c.Signal
	// A harder stop may follow a softer one, and never the other way round.
	if Harder(c.How, s.stop) {
		s.stop = c.How
	}
	given := s.held
	s.held = nil
	s.halting = false
	s.resume()
	// -1 stands for a person: no step is the cause of what is omitted.
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

// keepOutdated takes outdated steps for what they are defined as now.
func (s commands) keepOutdated(r events.Range) {
	for _, step := range s.Outdated(r) {
		end := *s.ends[step]
		end.digest = s.plan.Steps[step].Digest
		s.ends[step] = &end
	}
	if s.paused && s.pause.Reason == events.PauseEnd && s.decider().succeeds() {
		s.resume() // there is nothing left to decide
	}
}
