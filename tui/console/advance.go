package console

import (
	"moon/events"
)

// control makes the run go on, stop and go back.
type control struct {
	*speaker
	*reporter
	*requests
	find *finder
}

// continueRun runs until something needs a person. It approves nothing, so it says how to.
func (c *control) continueRun(string) {
	switch {
	case c.position().Gate() >= 0 && c.run.Counts.Running == 0:
		c.say("%s asks whether to continue: yes or no.", c.called(c.position().Gate()))
		return
	case c.run.Phase == events.Running:
		c.say("it is already running. pause stops before what comes next.")
		return
	case c.run.Phase == events.Ended:
		c.say("nothing left to run. retry, or quit.")
		return
	}
	i := c.run.PausedAt
	// It would only stop at the same step again, so it says what that waits for.
	if r := c.run.Pause.Reason; c.run.Phase == events.Paused && i >= 0 && i < len(c.plan.Steps) &&
		(r == events.PauseUndecided || r == events.PauseConfirm) {
		if s := c.State(i); s == undecided || s == confirm {
			c.say("%s is not approved: yes approves it, no excludes it, approve all approves all.", c.called(i))
			return
		}
	}
	if t := c.position().Counts(); c.run.Phase == events.Review && t[waiting] == 0 && t.Sum(undecided, confirm) > 0 {
		c.say("nothing is approved. approve all, or approve safe; step runs one step.")
		return
	}
	c.send(events.Continue{})
	c.say("running.")
}

// sendAdvance sends what runs a part of the plan.
func (c *control) sendAdvance(a events.Advance) bool {
	switch {
	case c.run.Phase == events.Running:
		c.say("it is running. pause stops before what comes next.")
	case c.run.Phase == events.Ended:
		c.say("nothing left to run. retry, or quit.")
	case c.position().Next() < 0:
		c.say("nothing left to run.")
	default:
		c.send(a)
		return true
	}
	return false
}

func (c *control) stepOnce(string) {
	next := c.position().Next()
	// A step approves what it runs. What has to be confirmed must have been named.
	if next >= 0 && c.State(next) == confirm && c.run.Phase != events.Running {
		c.say("%s needs confirmation: approve %s confirms it.", c.called(next), c.outline.stepNumber(next))
		return
	}
	c.sendAdvance(events.Advance{Verb: "step", Approve: true})
}

// stepOver runs the next step whole, or a part of the plan that begins with it.
func (c *control) stepOver(args string) {
	next := c.position().Next()
	if next < 0 {
		c.say("nothing left to run.")
		return
	}
	r := events.Range{From: next, To: next + 1}
	if args != "" {
		n, why := c.find.oneNode(args)
		if why != "" {
			c.say("%s", why)
			return
		}
		// Over begins at the next step: a part that begins elsewhere would not be what runs.
		part := c.outline.rangeOf(n)
		if !part.Has(next) || c.position().FirstLeft(part) != next {
			c.say("the next step is %s; over takes that, or a part of the plan that begins with it.", c.called(next))
			return
		}
		r = part
	}
	if c.sendAdvance(events.Advance{Verb: "over", Range: r, Approve: true}) && r.To-r.From > 1 {
		c.say("running %s.", count(r.To-r.From, "step"))
	}
}

// stepOut runs from the next step to the end of the part of the plan around it.
func (c *control) stepOut(string) {
	next := c.position().Next()
	if next < 0 {
		c.say("nothing left to run.")
		return
	}
	parent := int(c.outline.nodes[c.outline.nodeOf[next]].parent)
	if c.sendAdvance(events.Advance{Verb: "out", Range: events.Range{From: next, To: c.outline.rangeOf(parent).To}}) {
		c.say("running to the end of %s.", c.partCalled(parent))
	}
}

func (c *control) runUntil(args string) {
	if args == "" {
		c.say("until what? give a number of the plan, such as 2.1.")
		return
	}
	n, why := c.find.oneNode(args)
	if why != "" {
		c.say("%s", why)
		return
	}
	// Up to its first step, which is not run.
	to := c.outline.rangeOf(n).From
	if next := c.position().Next(); next < 0 || to <= next {
		c.say("the run has already passed that, or is about to start it.")
		return
	}
	if c.sendAdvance(events.Advance{Verb: "until", Range: events.Range{From: 0, To: to}}) {
		c.say("running until %s.", c.partCalled(n))
	}
}

func (c *control) pauseRun(string) {
	switch c.run.Phase {
	case events.Running:
		c.send(events.Pause{})
		c.say("pausing: running steps finish first.")
	case events.Review, events.Paused:
		c.say("it is already paused.")
	case events.Ended, events.Done:
		c.say("nothing is running.")
	}
}

// acceptDrifted takes what a step would do now for what is expected of it. Without a number that is the step it paused on.
func (c *control) acceptDrifted(args string) {
	step := c.run.PausedAt
	if args != "" {
		ranges, single, why := c.find.findTargets(args)
		if why != "" {
			c.say("%s", why)
			return
		}
		if !single { // each was predicted something else, and is to be looked at
			c.say("accept takes one step. next goes to them.")
			return
		}
		step = ranges[0].From
	}
	if step < 0 || step >= len(c.run.Steps) || !c.run.Steps[step].Drifted || !c.position().Failed(step) {
		c.say("nothing here has drifted.")
		return
	}
	c.send(events.Accept{Range: events.Range{From: step, To: step + 1}})
	c.say("accepted what %s would do now; trying it again.", c.called(step))
}

// retryFailed runs what failed once more. Without a number that is the step it paused on, or the only one that failed.
func (c *control) retryFailed(args string) {
	at := c.position()
	r := []events.Range{at.Everything()}
	switch {
	case args == "" && c.run.Phase == events.Paused && c.run.PausedAt >= 0 && c.run.PausedAt < len(c.plan.Steps) &&
		at.FailedOrEdited(c.run.PausedAt):
		r = []events.Range{{From: c.run.PausedAt, To: c.run.PausedAt + 1}}
	case args == "" && at.Retryable(at.Everything()) > 1:
		// Which of several is meant is not guessed.
		c.say("%d failed: retry all, or retry N. next goes to them.", at.Retryable(at.Everything()))
		return
	case args != "" && args != "all":
		ranges, _, why := c.find.findTargets(args)
		if why != "" {
			c.say("%s", why)
			return
		}
		r = ranges
	}
	n := 0
	// At the end nothing else is left to decide, so that what hung on all of them follows.
	continues := args == "all" && c.run.Phase == events.Ended
	for _, one := range r {
		found := at.Retryable(one)
		if found > 0 {
			c.send(events.Retry{Range: one, Continue: continues})
		}
		n += found
	}
	switch {
	case n == 0:
		c.say("nothing to retry here.")
	case continues:
		c.say("trying %s again; what was not run because of that follows.", count(n, "step"))
	default:
		c.say("trying %s again.", count(n, "step"))
	}
}
