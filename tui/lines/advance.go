package lines

import (
	"fmt"

	"moon/events"
)

// proceed runs until something needs a person. It approves nothing, so it says how to.
func (d *desk) proceed(string) {
	switch {
	case d.gate() >= 0 && d.run.Counts.Running == 0:
		d.say("%s asks whether to continue: yes or no.", d.called(d.gate()))
		return
	case d.run.Phase == events.Running:
		d.say("it is already running. pause stops before what comes next.")
		return
	case d.run.Phase == events.Ended:
		d.say("nothing left to run. retry, or quit.")
		return
	}
	i := d.run.PausedAt
	if r := d.run.Pause.Reason; d.run.Phase == events.Paused && i >= 0 && i < len(d.plan.Steps) &&
		(r == events.PauseUndecided || r == events.PauseConfirm) {
		if s := d.state(i); s == undecided || s == confirm {
			d.say("%s is not approved: yes approves it, no excludes it, approve all approves all.", d.called(i))
			return
		}
	}
	if t := d.tally(d.everything()); d.run.Phase == events.Review && t[waiting] == 0 && t.sum(undecided, confirm) > 0 {
		d.say("nothing is approved. approve all, or approve safe; step runs one step.")
		return
	}
	d.send(events.Continue{})
	d.say("running.")
}

// advance sends what runs a part of the plan.
func (d *desk) advance(a events.Advance) bool {
	switch {
	case d.run.Phase == events.Running:
		d.say("it is running. pause stops before what comes next.")
	case d.run.Phase == events.Ended:
		d.say("nothing left to run. retry, or quit.")
	case d.nextStep() < 0:
		d.say("nothing left to run.")
	default:
		d.send(a)
		return true
	}
	return false
}

func (d *desk) step(string) {
	next := d.nextStep()
	if next >= 0 && d.state(next) == confirm && d.run.Phase != events.Running {
		d.say("%s needs confirmation: approve %s confirms it.", d.called(next), d.outline.stepNumber(next))
		return
	}
	d.advance(events.Advance{Verb: "step", Approve: true})
}

// over runs the next step whole, or a part of the plan that begins with it.
func (d *desk) over(args string) {
	next := d.nextStep()
	if next < 0 {
		d.say("nothing left to run.")
		return
	}
	r := events.Range{From: next, To: next + 1}
	if args != "" {
		n, why := d.oneNode(args)
		if why != "" {
			d.say("%s", why)
			return
		}
		part := d.outline.steps(n)
		if !part.Has(next) || d.firstLeft(part) != next {
			d.say("the next step is %s; over takes that, or a part of the plan that begins with it.", d.called(next))
			return
		}
		r = part
	}
	if d.advance(events.Advance{Verb: "over", Range: r, Approve: true}) && r.To-r.From > 1 {
		d.say("running %s.", count(r.To-r.From, "step"))
	}
}

// firstLeft is the first step of a range that has not run, or -1.
func (d *desk) firstLeft(r events.Range) int {
	for i := r.From; i < r.To; i++ {
		if d.state(i).Pending() {
			return i
		}
	}
	return -1
}

// out runs from the next step to the end of the part of the plan around it.
func (d *desk) out(string) {
	next := d.nextStep()
	if next < 0 {
		d.say("nothing left to run.")
		return
	}
	parent := int(d.outline.nodes[d.outline.stepAt[next]].parent)
	if d.advance(events.Advance{Verb: "out", Range: events.Range{From: next, To: d.outline.steps(parent).To}}) {
		d.say("running to the end of %s.", d.partCalled(parent))
	}
}

func (d *desk) partCalled(n int) string {
	if n == 0 {
		return "the playbook"
	}
	return d.outline.number(n) + " " + d.outline.title(n)
}

func (d *desk) until(args string) {
	if args == "" {
		d.say("until what? give a number of the plan, such as 2.1.")
		return
	}
	n, why := d.oneNode(args)
	if why != "" {
		d.say("%s", why)
		return
	}
	to := d.outline.steps(n).From
	if next := d.nextStep(); next < 0 || to <= next {
		d.say("the run has already passed that, or is about to start it.")
		return
	}
	if d.advance(events.Advance{Verb: "until", Range: events.Range{From: 0, To: to}}) {
		d.say("running until %s.", d.partCalled(n))
	}
}

// nextStep is the step that would start next, or -1.
func (d *desk) nextStep() int {
	at := d.run.Pointer
	if at >= 0 && at < len(d.plan.Steps) && d.state(at).Pending() {
		return at
	}
	if i := d.firstLeft(events.Range{From: max(at+1, 0), To: len(d.plan.Steps)}); i >= 0 {
		return i
	}
	return d.firstLeft(events.Range{From: 0, To: min(max(at, 0), len(d.plan.Steps))})
}

func (d *desk) pause(string) {
	switch d.run.Phase {
	case events.Running:
		d.send(events.Pause{})
		d.say("pausing: running steps finish first.")
	case events.Review, events.Paused:
		d.say("it is already paused.")
	case events.Ended, events.Done:
		d.say("nothing is running.")
	}
}

// retry runs what failed once more. Without a number that is the step it paused on, or the only one that failed.
func (d *desk) retry(args string) {
	r := []events.Range{d.everything()}
	switch {
	case args == "" && d.run.Phase == events.Paused && d.run.PausedAt >= 0 && d.run.PausedAt < len(d.plan.Steps) &&
		d.broken(d.run.PausedAt):
		r = []events.Range{{From: d.run.PausedAt, To: d.run.PausedAt + 1}}
	case args == "" && d.failedSteps() > 1:
		d.say("%d failed: retry all, or retry N. next goes to them.", d.failedSteps())
		return
	case args != "" && args != "all":
		ranges, _, why := d.targets(args)
		if why != "" {
			d.say("%s", why)
			return
		}
		r = ranges
	}
	n := 0
	for _, one := range r {
		found := 0
		for i := one.From; i < one.To; i++ {
			if d.broken(i) {
				found++
			}
		}
		if found > 0 {
			d.send(events.Retry{Range: one})
		}
		n += found
	}
	if n == 0 {
		d.say("nothing to retry here.")
		return
	}
	d.say("trying %s again.", count(n, "step"))
}

// quit leaves, and asks first if that would stop something.
func (d *desk) quit(string) {
	if d.leaving {
		return
	}
	switch {
	case d.run.Phase == events.Done:
		d.leaving = true
	case d.run.Phase == events.Ended:
		d.leave(events.Leave{})
	case d.run.Phase == events.Review && d.asked == 0: // what was asked for last may have begun the run
		d.stop(events.StopInterrupt, false)
	case !d.o.Person:
		d.leaveUnseen()
	default:
		d.askToLeave()
	}
}

func (d *desk) askToLeave() {
	t := d.tally(d.everything())
	left := t.sum(waiting, undecided, confirm, asking)
	text := ""
	if n := d.run.Counts.Running; n > 0 {
		text = fmt.Sprintf("quit? %s. wait (let running steps finish, then stop), stop (interrupt them now) or stay.", d.runningNow())
	} else {
		text = fmt.Sprintf("quit? nothing is running; %s not run. stop or stay.", count(left, "step"))
	}
	d.say("%s", text)
	d.question = &question{leave: true, again: text, answer: func(answer string) bool {
		switch answer {
		case "wait", "w":
			d.stop(events.StopDrain, false)
			d.say("quitting when the running steps have finished.")
		case "stop", "k":
			d.stop(events.StopInterrupt, false)
			d.say("stopping.")
		case "stay":
			d.say("staying.")
		default:
			d.say("%s is not an answer: wait, stop or stay.", clean(answer))
			return false
		}
		return true
	}}
}

// leaveUnseen leaves when nothing more can be typed: what runs has ended, and nothing more starts.
func (d *desk) leaveUnseen() {
	switch {
	case d.leaving:
	case d.run.Phase == events.Done || d.closed:
		d.leaving = true
	case d.run.Phase == events.Ended:
		d.leave(events.Leave{})
	case d.run.Phase == events.Review:
		d.stop(events.StopInterrupt, false)
	default:
		d.stop(events.StopDrain, false)
	}
}

func (d *desk) leave(c events.Command) {
	d.leaving = true
	d.send(c)
}

// stop ends the run before its end.
func (d *desk) stop(how events.StopHow, signal bool) {
	d.stopping++
	d.leave(events.Stop{How: how, Signal: signal})
}

// interrupt is ctrl-c: it asks like quit, and does not ask again.
func (d *desk) interrupt() {
	asked := d.question != nil && d.question.leave || d.stopping > 0
	d.question, d.waits = nil, nil
	if d.o.Person { // the terminal has written ^C
		d.prompted = true
	}
	switch {
	case !d.opened:
		d.stop(events.StopInterrupt, true)
	case !asked:
		d.quit("")
	default:
		d.stop(events.StopNow, true)
		d.say("stopping now.")
		d.forced = d.stopping > 2 && d.run.Phase != events.Done
	}
}
