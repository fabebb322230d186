package tui

import (
	"time"

	"moon/events"
)

// countdown is how long the run will still take, in words that do not jump.
type countdown struct {
	estimate *events.Estimate // nil: nothing is known of earlier runs
	shown    time.Duration
	known    bool
}

func (c *countdown) see(step int, of *events.Step) {
	if c.estimate != nil {
		c.estimate.See(step, of)
	}
}

// last is how a step ended in an earlier run.
func (c *countdown) last(step int) events.Last {
	if c.estimate == nil || step >= len(c.estimate.Last) {
		return events.Last{}
	}
	return c.estimate.Last[step]
}

// usually is how long a step takes, by its earlier runs; 0 where that is not known.
func (c *countdown) usually(step int) time.Duration {
	if c.estimate == nil || step >= len(c.estimate.Took) {
		return 0
	}
	return max(c.estimate.Took[step], 0)
}

// refresh looks at the estimate again. What is shown changes only when it is off by more than rounding explains, or a
// time between two numbers would have the screen go back and forth.
func (c *countdown) refresh(now time.Time) {
	if c.estimate == nil {
		return
	}
	left, known := c.estimate.Left(now)
	off := (left - c.shown).Abs()
	if known && c.known && off < events.Grain(min(left, c.shown))*3/4 {
		return
	}
	c.shown, c.known = events.Roughly(left), known
}

// newCountdown begins with a forecast of the plan; nil: nothing is known of earlier runs.
func newCountdown(f *events.Forecast) countdown {
	if f == nil {
		return countdown{}
	}
	return countdown{estimate: events.NewEstimate(*f)}
}
