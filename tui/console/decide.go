package console

import (
	"fmt"
	"slices"

	"moon/events"
	"moon/tui/status"
)

// decisions says what is to run: approved, excluded, answered.
type decisions struct {
	*speaker
	*reporter
	*requests
	find *finder
}

// approveTyped lets steps run. One that needs confirmation is confirmed by its own number or by all, and not by a part of the
// plan that it is in.
func (c *decisions) approveTyped(args string) {
	switch args {
	case "":
		if i := c.position().At(); i >= 0 && c.run.Phase == events.Paused && c.State(i).Pending() {
			c.sayYes("")
			return
		}
		c.say("approve what? all, safe (all except what needs confirmation), or numbers.")
	case "all":
		c.approveAll()
	case "safe":
		t := c.position().Counts()
		// Without Confirm what needs confirmation stays as it is.
		c.send(events.Approve{Range: c.position().Everything(), Digest: c.plan.Digest})
		c.sayDecided("approved", t.Sum(undecided), c.stillAsk(t.Sum(confirm)))
	default:
		c.approveSome(args)
	}
}

func (c *decisions) approveAll() {
	t := c.position().Counts()
	if t.Sum(undecided, confirm) == 0 {
		c.say("nothing to approve.")
		return
	}
	// With the digest of the plan that was said: of another one, which may be on its way, nothing is approved.
	c.send(events.Approve{Range: c.position().Everything(), Digest: c.plan.Digest, Confirm: true})
	rest := ""
	if n := t[confirm]; n > 0 {
		rest = fmt.Sprintf("including %d that needed confirmation", n)
	}
	c.sayDecided("approved", t.Sum(undecided, confirm), rest)
}

func (c *decisions) approveSome(args string) {
	ranges, single, why := c.find.findTargets(args)
	if why != "" {
		c.say("%s", why)
		return
	}
	t := c.position().Tally(ranges...)
	switch {
	case single && t[asking] > 0:
		// A gate has nothing to approve: a yes is its answer.
		c.send(events.Answer{Step: ranges[0].From})
		c.say("continuing.")
		return
	case single && t.Sum(undecided, confirm) == 0 && t[waiting] > 0:
		c.say("it is already approved. unapprove takes that back.")
		return
	case t[undecided] == 0 && (!single || t[confirm] == 0):
		if t[confirm] > 0 {
			c.say("%s. next goes to them.", c.stillAsk(t.Sum(confirm)))
		} else {
			c.say("nothing to approve here.")
		}
		return
	}
	for _, r := range ranges {
		c.send(events.Approve{Range: r, Digest: c.plan.Digest, Confirm: single && t[confirm] > 0})
	}
	if single {
		c.sayDecided("approved", 1)
		return
	}
	c.sayDecided("approved", t.Sum(undecided), c.stillAsk(t.Sum(confirm)))
}

func (c *decisions) stillAsk(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 step needs confirmation: approve its own number, or all"
	}
	return fmt.Sprintf("%d steps need confirmation: approve their own numbers, or all", n)
}

func (c *decisions) unapproveSteps(args string) {
	ranges, _, why := c.find.findTargets(args)
	if why != "" {
		c.say("%s", why)
		return
	}
	n := 0
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			if s := c.stepAt(i); s.State != events.Settled && s.Approved {
				n++
			}
		}
		c.send(events.Withdraw{Range: r})
	}
	c.sayDecided("unapproved", n)
}

// skipTyped excludes steps. A failed one is given up instead.
func (c *decisions) skipTyped(args string) {
	if args == "" {
		i := c.position().At()
		if i < 0 || c.run.Phase != events.Paused {
			c.say("skip what? give numbers of the plan.")
			return
		}
		c.skipSteps([]events.Range{{From: i, To: i + 1}}, true)
		return
	}
	ranges, single, why := c.find.findTargets(args)
	if why != "" {
		c.say("%s", why)
		return
	}
	c.skipSteps(ranges, single)
}

func (c *decisions) skipSteps(ranges []events.Range, single bool) {
	t := c.position().Tally(ranges...)
	left := 0
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			if c.plan.Steps[i].Excluded {
				left++
			}
		}
	}
	// Giving up what failed, answering what asks and leaving out what has not begun are three commands with one word.
	at, first := c.position(), ranges[0].From
	switch {
	case single && at.Failed(first) && c.run.Phase == events.Paused && !c.stepAt(first).Open:
		c.say("it failed, and the run has continued without it.")
	case single && at.FailedOrEdited(first) && c.run.Phase == events.Paused:
		c.send(events.Skip{Step: first})
		c.say("skipped; continuing without it.")
	case single && at.FailedOrEdited(first):
		c.say("it can only be skipped while the run is paused on it.")
	case single && t[asking] > 0:
		c.send(events.Answer{Step: ranges[0].From, Reject: true})
		c.say("rejected.")
	case t.Begins() > 0:
		if why := status.Shaped(c.plan, c.run.Steps, ranges, true); why != "" {
			c.say("%s", sentence(clean(why)))
			return
		}
		// Before it is sent, as it compares with what is decided so far.
		also := c.alsoSkipped(ranges, true)
		for _, r := range slices.Backward(ranges) { // what was planned with the value of a step before the step itself
			c.send(events.Exclude{Range: r})
		}
		c.sayDecided("excluded", t.Begins())
		c.sayAlso(also)
	case left > 0 && left == t.Sum(excluded):
		c.say("excluded by tags or selection.")
	case t[excluded] > 0:
		c.say("already excluded. restore takes that back.")
	default:
		c.say("it has already run.")
	}
}

func (c *decisions) sayAlso(words string) {
	if words != "" {
		c.say("%s", sentence(words))
	}
}

func (c *decisions) restoreSteps(args string) {
	ranges, _, why := c.find.findTargets(args)
	if why != "" {
		c.say("%s", why)
		return
	}
	var steps []int
	late := -1
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			switch of := c.stepAt(i); {
			case !of.Excluded || c.plan.Steps[i].Excluded:
			case of.Restorable():
				steps = append(steps, i)
			default:
				late = i
			}
		}
	}
	switch {
	case len(steps) == 0 && late >= 0:
		c.say("%s was already skipped and cannot be restored.", c.called(late))
		return
	case len(steps) == 0:
		c.say("nothing here was excluded by skip.")
		return
	}
	// Only what skip has excluded: what tags or the selection exclude no command brings back.
	ranges = events.RangesOf(steps)
	if why := status.Shaped(c.plan, c.run.Steps, ranges, false); why != "" {
		c.say("%s", sentence(clean(why)))
		return
	}
	also := c.alsoSkipped(ranges, false)
	for _, r := range ranges {
		c.send(events.Include{Range: r})
	}
	c.sayDecided("restored", len(steps))
	c.sayAlso(also)
}

// sayYes answers what the run stopped for. It starts nothing: whoever says yes to one thing has not said run.
func (c *decisions) sayYes(string) {
	i, what := c.asksHere()
	switch what {
	case asking:
		c.send(events.Answer{Step: i})
		c.say("continuing.")
	case confirm, undecided:
		c.send(events.Approve{Range: events.Range{From: i, To: i + 1}, Digest: c.plan.Digest, Confirm: what == confirm})
		c.say("approved %s. step runs it, run continues.", c.called(i))
	default:
		c.nothingAsks(i)
	}
}

func (c *decisions) sayNo(string) {
	i, what := c.asksHere()
	switch what {
	case asking:
		c.send(events.Answer{Step: i, Reject: true})
		c.say("rejected.")
	case confirm, undecided:
		c.send(events.Exclude{Range: events.Range{From: i, To: i + 1}})
		c.say("excluded %s. run continues.", c.called(i))
	default:
		c.nothingAsks(i)
	}
}

// asksHere is the step that the run stopped at, and what it is like.
func (c *decisions) asksHere() (step int, what state) {
	i := c.position().At()
	if i < 0 || c.run.Phase != events.Paused && c.position().Gate() < 0 {
		return -1, omitted
	}
	return i, c.State(i)
}

func (c *decisions) nothingAsks(i int) {
	switch {
	case c.run.Phase == events.Review:
		c.say("nothing is asking yet. approve all, approve safe, or approve N.")
	case i >= 0 && c.position().Failed(i) && i < len(c.run.Steps) && c.run.Steps[i].Drifted:
		c.say("a step has drifted: accept, retry, skip or run.")
	case i >= 0 && c.position().FailedOrEdited(i):
		c.say("a step failed: retry, skip or run.")
	case i >= 0 && c.State(i) == waiting:
		c.say("it is already approved. step runs it, run continues.")
	default:
		c.say("nothing is asking.")
	}
}
