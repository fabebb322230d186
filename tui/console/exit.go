package console

import (
	"fmt"

	"moon/events"
)

// exit leaves, and asks before if that would stop something.
type exit struct {
	*speaker
	*reporter
	*requests
	*dialogue

	closed  bool // nothing more will come
	leaving bool
	forced  bool
}

// askQuit leaves, and asks first if that would stop something.
func (c *exit) askQuit(string) {
	if c.leaving {
		return
	}
	switch {
	case c.run.Phase == events.Done:
		c.leaving = true
	case c.run.Phase == events.Ended:
		c.sendLeaving(events.Leave{})
	case c.run.Phase == events.Review && c.asked == 0: // what was asked for last may have begun the run
		c.stopRun(events.StopInterrupt, false)
	case !c.person:
		// At the end of a script no answer can come.
		c.leaveUnseen()
	default:
		c.askToLeave()
	}
}

func (c *exit) askToLeave() {
	t := c.position().Counts()
	left := t.Sum(waiting, undecided, confirm, asking)
	text := ""
	if n := c.run.Counts.Running; n > 0 {
		text = fmt.Sprintf("quit? %s. wait (let running steps finish, then stop), stop (interrupt them now) or stay.", c.runningNow())
	} else {
		text = fmt.Sprintf("quit? nothing is running; %s not run. stop or stay.", count(left, "step"))
	}
	c.say("%s", text)
	// It is marked as the one about leaving, to which ctrl-c is an answer.
	c.question = &question{leave: true, again: text, answer: func(answer string) bool {
		switch answer {
		case "wait", "w":
			c.stopRun(events.StopDrain, false)
			c.say("quitting when the running steps have finished.")
		case "stop", "k":
			c.stopRun(events.StopInterrupt, false)
			c.say("stopping.")
		case "stay":
			c.say("staying.")
		default:
			c.say("%s is not an answer: wait, stop or stay.", clean(answer))
			return false
		}
		return true
	}}
}

// leaveUnseen leaves when nothing more can be typed: what runs has ended, and nothing more starts.
func (c *exit) leaveUnseen() {
	switch {
	case c.leaving:
	case c.run.Phase == events.Done || c.closed:
		c.leaving = true
	case c.run.Phase == events.Ended:
		c.sendLeaving(events.Leave{})
	case c.run.Phase == events.Review:
		c.stopRun(events.StopInterrupt, false)
	default:
		c.stopRun(events.StopDrain, false)
	}
}

func (c *exit) sendLeaving(command events.Command) {
	c.leaving = true
	c.send(command)
}

// stopRun ends the run before its end.
func (c *exit) stopRun(how events.StopHow, signal bool) {
	c.stopping++
	c.sendLeaving(events.Stop{How: how, Signal: signal})
}
