package console

import (
	"strings"

	"moon/events"
	"moon/plan/sequence"
)

// rerunDone runs done steps again. It says what depends on them first; with makes the done ones of those run again too.
func (c *control) rerunDone(args string) {
	args, with := strings.CutSuffix(args, " with")
	if args == "" {
		c.say("run what again? rerun N; rerun N with also reruns what depends on it.")
		return
	}
	ranges, _, why := c.find.findTargets(args)
	if why != "" {
		c.say("%s", why)
		return
	}
	steps := c.doneIn(ranges)
	switch {
	case len(steps) == 0:
		c.say("nothing here is done. retry runs what failed.")
		return
	case c.run.Phase == events.Running || c.run.Counts.Running > 0:
		c.say("pause first: done steps run again only while the run is paused.")
		return
	}
	depend := c.doneDependents(steps)
	c.send(events.Rerun{Range: events.Range{From: steps[0], To: steps[len(steps)-1] + 1}, Steps: steps, With: with})
	switch {
	case len(depend) == 0:
		c.say("running %s again.", count(len(steps), "step"))
	case with:
		c.say("running %s again, and %s depending on it: %s.", count(len(steps), "step"), count(len(depend), "done step"),
			c.someNames(depend))
	default:
		c.say("running %s again. done, and depending on it: %s. rerun %s with also reruns that.", count(len(steps), "step"),
			c.someNames(depend), clean(args))
	}
}

// keepOutdated takes outdated steps as they are.
func (c *control) keepOutdated(args string) {
	ranges, _, why := []events.Range{c.position().Everything()}, false, ""
	if args != "" && args != "all" {
		if ranges, _, why = c.find.findTargets(args); why != "" {
			c.say("%s", why)
			return
		}
	}
	n := 0
	for _, r := range ranges {
		if t := c.position().Tally(r); t[outdated] > 0 {
			c.send(events.Keep{Range: r})
			n += t.Sum(outdated)
		}
	}
	if n == 0 {
		c.say("nothing here is outdated.")
		return
	}
	c.sayDecided("kept", n, "as done")
}

// markDone takes steps for done.
func (c *control) markDone(args string) {
	if args == "" {
		c.say("mark what as done? mark N.")
		return
	}
	ranges, _, why := c.find.findTargets(args)
	if why != "" {
		c.say("%s", why)
		return
	}
	var steps []int
	for _, r := range ranges {
		n := len(steps)
		for i := r.From; i < r.To; i++ {
			if c.position().MayMark(i) {
				steps = append(steps, i)
			}
		}
		if len(steps) > n {
			c.send(events.Mark{Range: r})
		}
	}
	if len(steps) == 0 {
		c.say("nothing here can be marked as done: it is done, or was not reached.")
		return
	}
	rest := ""
	if depend := sequence.Dependents(c.plan, steps); len(depend) > 0 {
		rest = "what depends on it goes by that: " + c.someNames(depend)
	}
	c.sayDecided("marked as done", len(steps), rest)
}
