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

// Sign sums a scope up by its counts. Folded, the worst below it shows; open, its own rows say that, and it shows how far it is.
func Sign(c *standing.Tally, folded, review bool) draw.Sign {
	total, done := c.Total(), c.Done()
	left := c.Begins() + c.Sum(standing.Asking)
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
		return endedSign(c)
	case c[standing.Confirm] > 0 && (folded || c[standing.Waiting] == 0 && done == 0):
		return draw.SignConfirm
	case c[standing.Undecided] > 0 && folded && c[standing.Waiting] == 0:
		return draw.SignUnapproved
	case done > 0:
		return draw.SignRunning
	case c.Sum(standing.Undecided, standing.Confirm, standing.Asking) > 0 && c[standing.Waiting] > 0:
		return draw.SignPartly
	case c[standing.Undecided] > 0:
		return draw.SignUnapproved
	case review:
		return draw.SignApproved
	}
	return draw.SignWaiting
}

// endedSign sums up what has nothing left to run.
func endedSign(c *standing.Tally) draw.Sign {
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
