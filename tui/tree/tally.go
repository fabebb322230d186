package tree

import (
	"moon/tui/draw"
	"moon/tui/status"
)

// FaceSigns gives each state of a step its symbol.
var FaceSigns = [status.States]draw.Sign{
	status.Undecided: draw.SignUnapproved, status.Waiting: draw.SignWaiting, status.Confirm: draw.SignConfirm,
	status.Excluded: draw.SignExcluded,
	status.Asking:   draw.SignPaused, status.Running: draw.SignRunning, status.OK: draw.SignOK,
	status.Changed: draw.SignChanged, status.Failed: draw.SignFailed, status.Unreachable: draw.SignUnreachable,
	status.Ignored: draw.SignIgnored, status.Rescued: draw.SignRescued, status.Skipped: draw.SignSkipped,
	status.Kept:     draw.SignKept,
	status.Outdated: draw.SignOutdated, status.Cancelled: draw.SignCancelled, status.Omitted: draw.SignWaiting,
}

// Sign sums a scope up by its counts. Folded, the worst below it shows; open, its own rows say that, and it shows how far it is.
func Sign(c *status.Tally, folded, review bool) draw.Sign {
	total, done := c.Total(), c.Done()
	left := c.Begins() + c.Sum(status.Asking)
	switch {
	case c[status.Failed] > 0:
		return draw.SignFailed
	case c[status.Unreachable] > 0:
		return draw.SignUnreachable
	case c[status.Asking] > 0:
		return draw.SignPaused
	case c[status.Running] > 0:
		return draw.SignRunning
	case total == 0 && c[status.Excluded] > 0:
		return draw.SignExcluded
	case total == 0:
		return draw.SignSkipped
	case left == 0:
		return endedSign(c)
	case c[status.Confirm] > 0 && (folded || c[status.Waiting] == 0 && done == 0):
		return draw.SignConfirm
	case c[status.Undecided] > 0 && folded && c[status.Waiting] == 0:
		return draw.SignUnapproved
	case done > 0:
		return draw.SignRunning
	case c.Sum(status.Undecided, status.Confirm, status.Asking) > 0 && c[status.Waiting] > 0:
		return draw.SignPartly
	case c[status.Undecided] > 0:
		return draw.SignUnapproved
	case review:
		return draw.SignApproved
	}
	return draw.SignWaiting
}

// endedSign sums up what has nothing left to run.
func endedSign(c *status.Tally) draw.Sign {
	// The first that there is: what a person has to look at comes before what succeeded.
	for _, f := range []status.State{
		status.Outdated, status.Cancelled, status.Changed, status.Rescued, status.OK,
		status.Ignored, status.Kept, status.Skipped,
	} {
		if c[f] > 0 {
			return FaceSigns[f]
		}
	}
	return draw.SignWaiting
}
