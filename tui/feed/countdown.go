package feed

import (
	"time"

	"moon/events"
)

// Countdown is how long the run will still take, in words that do not jump.
type Countdown struct {
	Estimate *events.Estimate // nil: nothing is known of earlier runs
	Shown    time.Duration
	Known    bool
}

// See takes note of how far a step has come.
func (c *Countdown) See(step int, of *events.Step) {
	if c.Estimate != nil {
		c.Estimate.See(step, of)
	}
}

// Last is how a step ended in an earlier run.
func (c *Countdown) Last(step int) events.Last {
	if c.Estimate == nil || step >= len(c.Estimate.Last) {
		return events.Last{}
	}
	return c.Estimate.Last[step]
}

// Usually is how long a step takes, by its earlier runs; 0 where that is not known.
func (c *Countdown) Usually(step int) time.Duration {
	if c.Estimate == nil || step >= len(c.Estimate.Took) {
		return 0
	}
	return max(c.Estimate.Took[step], 0)
}

// Refresh looks at the estimate again. What is shown changes only when it is off by more than rounding explains, or a
// time between two numbers would have the screen go back and forth.
func (c *Countdown) Refresh(now time.Time) {
	if c.Estimate == nil {
		return
	}
	left, known := c.Estimate.Left(now)
	// Rounding explains half a grain; the quarter above that keeps the words still.
	off := (left - c.Shown).Abs()
	if known && c.Known && off < events.Grain(min(left, c.Shown))*3/4 {
		return
	}
	c.Shown, c.Known = events.Roughly(left), known
}

// NewCountdown begins with a forecast of the plan; nil: nothing is known of earlier runs.
func NewCountdown(f *events.Forecast) Countdown {
	if f == nil {
		return Countdown{}
	}
	return Countdown{Estimate: events.NewEstimate(*f)}
}
