package state

import (
	"moon/events"
	"moon/events/fact"
	"moon/plan/bind"
)

// stepping is what holds a run up although it could go on: a pause, breakpoints, step mode.
type stepping struct {
	board
	paused  bool
	pause   fact.RunPaused
	atBreak bool            // the step that it is paused before already had its breakpoint then
	breaks  map[int]*breaks // of breakpoints that do not simply stop
	fence   *events.Range
	budget  int // steps that may still start; -1: any
}

// breaks is a breakpoint that stops only where its condition holds, or only after a while, or that does not stop but
// says something. The steps of one command share it.
type breaks struct {
	events.Break
	hits int // how often its condition has held
}

// spend counts a step that starts in step mode, unless a person has asked for it by itself.
func (s *stepping) spend(n *node) {
	if s.budget > 0 && !n.asked {
		s.budget--
	}
}

func (s *stepping) refuseContinue() string {
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

// waits reports whether nothing starts by itself because the run is paused. A run that a person has stopped goes to its end
// nevertheless, and so does one in which a failure has left nothing to do.
func (s *stepping) waits() bool { return s.paused && !s.stopped() && (!s.halting || s.left > 0) }

// retriesHere reports whether the run is paused at a step that failed before the plan was replaced.
func (s *stepping) retriesHere(step int) bool {
	return s.node(step).state == ready && s.paused && s.pause.Step == step && s.pause.Reason == events.PauseFailure
}

// outside reports whether step mode keeps a step from starting for now.
func (s *stepping) outside(step int) bool {
	if s.stopped() {
		return false
	}
	return s.budget == 0 || s.fence != nil && !s.fence.Has(step)
}

// hold is why a ready step does not start although nothing else keeps it. All reasons are one mechanism, kept outside
// the plan, so that the digest that was approved stays valid.
func (s *stepping) hold(step int) (events.PauseReason, string) {
	if s.stopped() { // only what is essential is left, and nobody is asked any more
		return "", ""
	}
	c := s.choices[step]
	ps := &s.plan.Steps[step]
	switch {
	case s.unconfirmed(step):
		return events.PauseConfirm, ps.Confirmers.Asked(ps.Confirm, s.confirmers[step])
	// In step mode the key itself is the approval. Before the breakpoint: the answer to this is one to both.
	case s.opts.Review && c&approved == 0 && s.budget <= 0:
		return events.PauseUndecided, s.broughtBy(step)
	case c&breakpoint != 0 && c&passed == 0 && !s.breaksLater(step):
		return events.PauseBreakpoint, ""
	}
	return "", ""
}

// broughtBy says which place has added a step that nobody could approve before, or "".
func (s *stepping) broughtBy(step int) string {
	if s.choices[step]&added == 0 {
		return ""
	}
	// What a place adds stands right behind it. What is added elsewhere is on a host that is new.
	i := step - 1
	for ; i >= 0; i-- {
		if at := s.plan.Steps[i].Place; at != nil && at.Opened {
			return "it came with " + s.plan.StepRef(i)
		}
		if s.choices[i]&added == 0 {
			break
		}
	}
	for ; i >= 0; i-- {
		if at := s.plan.Steps[i].Adds; at != nil && at.Opened {
			return "its host came with " + s.plan.StepRef(i)
		}
	}
	return ""
}

// breaksLater reports whether the breakpoint of an open place is one with a condition, a count or a text: these are about the steps that
// the place adds, and may use their item.
func (s *stepping) breaksLater(step int) bool {
	return s.breaks[step] != nil && s.plan.Steps[step].Place != nil
}

func (s *stepping) setBreak(c events.Break) {
	var b *breaks
	if !c.Clear && (c.When != "" || c.After > 0 || c.Log != "") {
		b = &breaks{Break: c}
	}
	// The breakpoint is newer than the pause, so it stops the run there.
	if c.Range().Has(s.pause.Step) {
		s.atBreak = false
	}
	s.choose(c.Range(), func(have choice) choice {
		have &^= passed | probed
		if c.Clear {
			return have &^ breakpoint
		}
		return have | breakpoint
	})
	for i := c.Range().From; i < c.Range().To; i++ {
		delete(s.breaks, i)
		if b != nil {
			s.breaks[i] = b
		}
	}
}

// refuseBreak says why a breakpoint cannot be set.
func (s *stepping) refuseBreak(c events.Break) string {
	if why := s.inside(c.Range()); why != "" {
		return why
	}
	if c.After < 0 {
		return "a breakpoint cannot pass fewer than 0 times"
	}
	if err := bind.CheckBreak(s.plan, c.When, c.Log); err != nil {
		return err.Error()
	}
	return ""
}

// undecidedBreak reports whether somebody must find out if the step's breakpoint stops here.
func (s *stepping) undecidedBreak(step int) bool {
	return s.breaks[step] != nil && s.choices[step]&(breakpoint|probed) == breakpoint && !s.stopped() && !s.breaksLater(step)
}

func (s *stepping) breakProbed(f fact.BreakProbed) {
	b := s.breaks[f.Step]
	if b == nil {
		return
	}
	stops := f.Holds
	if f.Holds {
		b.hits++
		// `after N` lets the first N pass.
		stops = b.hits > b.After
	}
	s.choices[f.Step] |= probed
	switch {
	case !stops:
		s.choices[f.Step] |= passed
	case b.Log != "":
		s.choices[f.Step] |= passed
		s.publish(f.Step, events.PrintMessage{Message: f.Message})
	case f.Message != "":
		s.publish(f.Step, events.Warning{Message: f.Message})
	}
}
