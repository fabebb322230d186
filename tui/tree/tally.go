package tree

import (
	"moon/tui/draw"
	"moon/tui/standing"
)

// FaceSigns gives each state of a step its symbol.
var FaceSigns = [standing.States]draw.Sign{
	standing.Undecided: draw.SignUnapproved, standing.Waiting: draw.SignWaiting, standing.Confirm: draw.SignConfirm,
	standing.Excluded: draw.SignExcluded,
	standing.Asking:   draw.SignPaused, standing.Running: draw.SignRunning, standing.OK: draw.SignOK,
	standing.Changed: draw.SignChanged, standing.Failed: draw.SignFailed, standing.Unreachable: draw.SignUnreachable,
	standing.Ignored: draw.SignIgnored, standing.Rescued: draw.SignRescued, standing.Skipped: draw.SignSkipped,
	standing.Kept:     draw.SignKept,
	standing.Outdated: draw.SignOutdated, standing.Cancelled: draw.SignCancelled, standing.Omitted: draw.SignWaiting,
}

// Sum adds up the steps of some states.
func (c *Tally) Sum(of ...standing.State) (n int) {
	for _, f := range of {
		n += int(c[f])
	}
	return n
}

// Total is how many steps there are, excluded ones left out.
func (c *Tally) Total() (n int) {
	for f, k := range c {
		if standing.State(f) != standing.Excluded {
			n += int(k)
		}
	}
	return n
}

// Done is how many of them have ended. What was never reached has not.
func (c *Tally) Done() (n int) {
	for f := standing.OK; f < standing.Omitted; f++ {
		n += int(c[f])
	}
	return n
}

// Failed is how many have failed, in whatever way.
func (c *Tally) Failed() int { return c.Sum(standing.Failed, standing.Unreachable) }

// undecided is how many still need a person.
func (c *Tally) undecided() int { return c.Sum(standing.Undecided, standing.Confirm, standing.Asking) }

// Sign sums a scope up. Folded, the worst below it shows; open, its own rows say that, and it shows how far it is.
func (c *Tally) Sign(folded, review bool) draw.Sign {
	total, done := c.Total(), c.Done()
	left := c.Sum(standing.Undecided, standing.Waiting, standing.Confirm, standing.Asking)
	switch {
	case c[standing.Failed] > 0:
		return draw.SignFailed
	case c[standing.Unreachable] > 0:
		return draw.SignUnreachable
	case c[standing.Asking] > 0:
		return draw.SignPaused
	case c[standing.Running] > 0:
		return draw.SignRunning
	case total == 0 && c[standing.Excluded] > 0:
		return draw.SignExcluded
	case total == 0:
		return draw.SignSkipped
	case left == 0:
		return c.ended()
	case c[standing.Confirm] > 0 && (folded || c[standing.Waiting] == 0 && done == 0):
		return draw.SignConfirm
	case c[standing.Undecided] > 0 && folded && c[standing.Waiting] == 0:
		return draw.SignUnapproved
	case done > 0:
		return draw.SignRunning
	case c.undecided() > 0 && c[standing.Waiting] > 0:
		return draw.SignPartly
	case c[standing.Undecided] > 0:
		return draw.SignUnapproved
	case review:
		return draw.SignApproved
	}
	return draw.SignWaiting
}

// ended sums up what has nothing left to run.
func (c *Tally) ended() draw.Sign {
	for _, f := range []standing.State{
		standing.Outdated, standing.Cancelled, standing.Changed, standing.Rescued, standing.OK,
		standing.Ignored, standing.Kept, standing.Skipped,
	} {
		if c[f] > 0 {
			return FaceSigns[f]
		}
	}
	return draw.SignWaiting
}

// Begins is how many have not begun and may.
func (c *Tally) Begins() int { return c.Sum(standing.Undecided, standing.Waiting, standing.Confirm) }
