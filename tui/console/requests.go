package console

import (
	"moon/events"
)

// requests are what the run was asked for.
type requests struct {
	out    func(events.Order)
	digest func() string // of the plan that is shown
	asked  int           // commands without an answer yet
	coming string        // the digest of a plan that was made, and that the feed will bring
}

// send gives the run a command. Until it is answered the run is not at rest: nobody knows what it will do.
func (c *requests) send(command events.Command) {
	c.asked++
	c.out(events.Order{Command: command, Plan: c.digest()})
}
