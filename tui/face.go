package tui

import (
	"moon/events"
	"moon/plan"
)

// face is what a step is like, as one word: a decision before it runs, an outcome afterwards.
type face uint8

const (
	faceUndecided face = iota // nobody has approved it
	faceWaiting               // approved, its turn has not come
	faceConfirm               // asks to be confirmed by itself
	faceAsking                // a gate: it waits for an answer
	faceExcluded
	faceRunning
	faceOK
	faceChanged
	faceFailed
	faceIgnored
	faceRescued
	faceSkipped
	faceKept
	faceCancelled
	faceOmitted
)

// notNeeded is why a rescue is not run where nothing failed, as the engine says it.
const notNeeded = "not needed"

// faces is how many there are.
const faces = int(faceOmitted) + 1

var faceSigns = [faces]sign{
	faceUndecided: signUndecided, faceWaiting: signWaiting, faceConfirm: signConfirm, faceExcluded: signExcluded,
	faceAsking: signPaused, faceRunning: signRunning, faceOK: signOK, faceChanged: signChanged, faceFailed: signFailed,
	faceIgnored: signIgnored, faceRescued: signRescued, faceSkipped: signSkipped, faceKept: signKept,
	faceCancelled: signCancelled, faceOmitted: signWaiting,
}

// pending reports whether the step still waits to be run.
func (f face) pending() bool { return f == faceUndecided || f == faceWaiting || f == faceConfirm }

func faceOf(s *events.Step, p *plan.Step) face {
	switch s.State {
	case events.Settled:
		if s.Outcome == events.Omitted && (s.Excluded || p.Excluded) {
			return faceExcluded // it would not have run in any case
		}
		if s.Outcome == events.Omitted && s.Reason == notNeeded {
			return faceSkipped // nothing has failed that it would have made good
		}
		return outcomeFace(s)
	case events.Active, events.Backoff:
		return faceRunning
	case events.Waiting, events.Held:
	}
	switch {
	case s.State == events.Held && s.Hold == events.PauseUser:
		return faceAsking
	case s.Excluded || p.Excluded:
		return faceExcluded
	case p.Confirm != "" && !s.Confirmed:
		return faceConfirm
	case !s.Approved:
		return faceUndecided
	}
	return faceWaiting
}

func outcomeFace(s *events.Step) face {
	switch s.Outcome {
	case events.OK, events.Changed:
		switch {
		case s.Kept:
			return faceKept
		case s.Outcome == events.Changed:
			return faceChanged
		}
		return faceOK
	case events.Skipped:
		byUser := s.Reason == string(events.SkipUser) && s.Attempt == 0 // otherwise it failed and was given up
		if s.Excluded || byUser || s.Reason == string(events.SkipTags) {
			return faceExcluded
		}
		return faceSkipped
	case events.Failed, events.Timeout, events.Rejected:
		switch {
		case s.Ignored:
			return faceIgnored
		case s.Rescued:
			return faceRescued
		}
		return faceFailed
	case events.Lost:
		return faceFailed
	case events.Cancelled:
		return faceCancelled
	case events.None, events.Omitted:
	}
	return faceOmitted
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

// undecided is how many still need a person.
func (c *tally) undecided() int { return c.sum(faceUndecided, faceConfirm, faceAsking) }

// sign sums a scope up. Folded, the worst below it shows; open, its own rows say that, and it shows how far it is.
func (c *tally) sign(folded, review bool) sign {
	total, done := c.total(), c.done()
	left := c.sum(faceUndecided, faceWaiting, faceConfirm, faceAsking)
	switch {
	case c[faceFailed] > 0:
		return signFailed
	case c[faceAsking] > 0:
		return signPaused
	case c[faceRunning] > 0:
		return signRunning
	case total == 0 && c[faceExcluded] > 0:
		return signExcluded
	case total == 0:
		return signSkipped
	case left == 0:
		return c.ended()
	case c[faceConfirm] > 0 && (folded || c[faceWaiting] == 0 && done == 0):
		return signConfirm
	case c[faceUndecided] > 0 && folded && c[faceWaiting] == 0:
		return signUndecided
	case done > 0:
		return signRunning
	case c.undecided() > 0 && c[faceWaiting] > 0:
		return signPartly
	case c[faceUndecided] > 0:
		return signUndecided
	case review:
		return signApproved
	}
	return signWaiting
}

// ended sums up what has nothing left to run.
func (c *tally) ended() sign {
	for _, f := range []face{faceCancelled, faceChanged, faceRescued, faceOK, faceIgnored, faceKept, faceSkipped} {
		if c[f] > 0 {
			return faceSigns[f]
		}
	}
	return signWaiting
}
