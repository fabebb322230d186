package tui

import (
	"moon/tui/draw"
	"moon/tui/standing"
)

// face is what a step is like, as one word: a decision before it runs, an outcome afterwards.
type face = standing.State

const (
	faceUndecided   = standing.Undecided
	faceWaiting     = standing.Waiting
	faceConfirm     = standing.Confirm
	faceAsking      = standing.Asking
	faceExcluded    = standing.Excluded
	faceRunning     = standing.Running
	faceOK          = standing.OK
	faceChanged     = standing.Changed
	faceFailed      = standing.Failed
	faceUnreachable = standing.Unreachable
	faceIgnored     = standing.Ignored
	faceRescued     = standing.Rescued
	faceSkipped     = standing.Skipped
	faceKept        = standing.Kept
	faceOutdated    = standing.Outdated
	faceCancelled   = standing.Cancelled
	faceOmitted     = standing.Omitted
	faces           = standing.States
)

var faceSigns = [faces]draw.Sign{
	faceUndecided: draw.SignUndecided, faceWaiting: draw.SignWaiting, faceConfirm: draw.SignConfirm, faceExcluded: draw.SignExcluded,
	faceAsking: draw.SignPaused, faceRunning: draw.SignRunning, faceOK: draw.SignOK, faceChanged: draw.SignChanged, faceFailed: draw.SignFailed, faceUnreachable: draw.SignUnreachable,
	faceIgnored: draw.SignIgnored, faceRescued: draw.SignRescued, faceSkipped: draw.SignSkipped, faceKept: draw.SignKept,
	faceOutdated: draw.SignOutdated, faceCancelled: draw.SignCancelled, faceOmitted: draw.SignWaiting,
}

func (c *tally) sum(of ...face) (n int) {
	for _, f := range of {
		n += int(c[f])
	}
	return n
}

// total is how many steps there are, excluded ones left out.
func (c *tally) total() (n int) {
	for f, k := range c {
		if face(f) != faceExcluded {
			n += int(k)
		}
	}
	return n
}

// done is how many of them have ended. What was never reached has not.
func (c *tally) done() (n int) {
	for f := faceOK; f < faceOmitted; f++ {
		n += int(c[f])
	}
	return n
}

// failed is how many have failed, in whatever way.
func (c *tally) failed() int { return c.sum(faceFailed, faceUnreachable) }

// undecided is how many still need a person.
func (c *tally) undecided() int { return c.sum(faceUndecided, faceConfirm, faceAsking) }

// sign sums a scope up. Folded, the worst below it shows; open, its own rows say that, and it shows how far it is.
func (c *tally) sign(folded, review bool) draw.Sign {
	total, done := c.total(), c.done()
	left := c.sum(faceUndecided, faceWaiting, faceConfirm, faceAsking)
	switch {
	case c[faceFailed] > 0:
		return draw.SignFailed
	case c[faceUnreachable] > 0:
		return draw.SignUnreachable
	case c[faceAsking] > 0:
		return draw.SignPaused
	case c[faceRunning] > 0:
		return draw.SignRunning
	case total == 0 && c[faceExcluded] > 0:
		return draw.SignExcluded
	case total == 0:
		return draw.SignSkipped
	case left == 0:
		return c.ended()
	case c[faceConfirm] > 0 && (folded || c[faceWaiting] == 0 && done == 0):
		return draw.SignConfirm
	case c[faceUndecided] > 0 && folded && c[faceWaiting] == 0:
		return draw.SignUndecided
	case done > 0:
		return draw.SignRunning
	case c.undecided() > 0 && c[faceWaiting] > 0:
		return draw.SignPartly
	case c[faceUndecided] > 0:
		return draw.SignUndecided
	case review:
		return draw.SignApproved
	}
	return draw.SignWaiting
}

// ended sums up what has nothing left to run.
func (c *tally) ended() draw.Sign {
	for _, f := range []face{faceOutdated, faceCancelled, faceChanged, faceRescued, faceOK, faceIgnored, faceKept, faceSkipped} {
		if c[f] > 0 {
			return faceSigns[f]
		}
	}
	return draw.SignWaiting
}
