package feed

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/tui/draw"
	"moon/tui/status"
)

// history is the end of the stream of events, for the Events tab. It keeps so many and forgets the older ones.
type history struct {
	Ring []Past
	next int
}

// Past is an event without what is heavy about it.
type Past struct {
	At    time.Time
	Step  int
	Event events.Event

	old    bool // of a plan before: its steps have other numbers now
	repeat bool // it is here already, under the numbers of a plan before
}

const historySize = 10_000

func (h *history) add(rec *events.Record) {
	p := Past{At: rec.Time, Step: rec.Step, Event: rec.Event, repeat: rec.Again}
	switch e := rec.Event.(type) {
	case events.StepOutput, events.StepProgress, events.AttemptStarted, events.Gap:
		return // that is what the Output tab is for
	case events.StepCompleted:
		// Not shown here, and may be large.
		e.Result, e.Diff = nil, nil
		p.Event = e
	case events.StepFailed:
		e.Result = nil
		p.Event = e
	case events.PlanLoaded:
		// What is kept of the steps is published again, under their new numbers.
		for i := range h.Ring {
			h.Ring[i].old = true
		}
	default:
	}
	if len(h.Ring) < historySize {
		h.Ring = append(h.Ring, p)
		return
	}
	h.Ring[h.next] = p
	h.next = (h.next + 1) % historySize
}

// About returns the last events that concern the steps, oldest first, at most n of them.
func (h *history) About(r events.Range, everything bool, n int) []Past {
	var found []Past
	// From the newest back.
	for k := range h.Ring {
		p := h.Ring[(h.next+len(h.Ring)-1-k)%len(h.Ring)]
		if everything && !p.repeat || !everything && !p.old && (p.Step >= 0 && r.Has(p.Step) || p.concerns(r)) {
			if found = append(found, p); len(found) == n {
				break
			}
		}
	}
	slices.Reverse(found)
	return found
}

// concerns reports whether the event is a command about some of the steps.
func (p *Past) concerns(r events.Range) bool {
	var order events.Order
	switch e := p.Event.(type) {
	case events.CommandAccepted:
		order = e.Order
	case events.CommandRejected:
		order = e.Order
	default:
		return false
	}
	target, ok := rangeOf(order.Command)
	return ok && target.From < r.To && r.From < target.To
}

// rangeOf is what a command is about, if it is about steps.
func rangeOf(c events.Command) (events.Range, bool) {
	switch c := c.(type) {
	case events.Approve:
		return c.Range, true
	case events.Withdraw:
		return c.Range, true
	case events.Exclude:
		return c.Range, true
	case events.Include:
		return c.Range, true
	case events.Advance:
		return c.Range, c.Range != events.Range{}
	case events.Retry:
		return c.Range, true
	case events.Accept:
		return c.Range, true
	case events.Break:
		return c.Range(), true
	case events.Mark:
		return c.Range, true
	case events.Rerun:
		return c.Range, true
	case events.Keep:
		return c.Range, true
	case events.Skip:
		return events.Range{From: c.Step, To: c.Step + 1}, true
	case events.Answer:
		return events.Range{From: c.Step, To: c.Step + 1}, true
	case events.Continue, events.Pause, events.Set, events.Fix, events.Stop, events.Leave:
	}
	return events.Range{}, false
}

// Words says what happened, and how it should look.
func (p *Past) Words() (text string, look draw.Sign) {
	switch e := p.Event.(type) {
	case events.RunStarted:
		return "run created: " + draw.Count(e.TotalSteps, "step"), draw.SignNone
	case events.PlanLoaded:
		return fmt.Sprintf("plan %s: %s", Short(e.Digest), draw.Count(e.TotalSteps, "step")), draw.SignNone
	case events.StepStarted:
		return "started", draw.SignRunning
	case events.StepTried:
		return "tried before: " + draw.Count(e.Attempts, "attempt"), draw.SignNone
	case events.StepRetrying:
		return fmt.Sprintf("attempt %d%s", e.Attempt, because(e.Error)), draw.SignRescued
	case events.StepCompleted:
		switch {
		case e.Marked:
			return status.ByHand, draw.SignOK
		case e.Outdated:
			return "kept, with an earlier definition", draw.SignKept
		case e.Kept:
			return "kept", draw.SignKept
		case e.Changed:
			return "changed", draw.SignChanged
		}
		return "ok", draw.SignOK
	case events.StepSkipped:
		return "skipped: " + status.WhySkipped(string(e.Reason)+because(e.Detail)), draw.SignSkipped
	case events.StepFailed:
		switch {
		case e.Ignored:
			return "failed, ignored" + because(e.Error), draw.SignIgnored
		case e.Rescued:
			return "failed, rescued" + because(e.Error), draw.SignRescued
		}
		if e.Unreachable {
			return "unreachable" + because(e.Error), draw.SignUnreachable
		}
		return "failed" + because(e.Error), draw.SignFailed
	case events.StepLost:
		switch {
		case e.Ignored:
			return "lost, ignored" + because(e.Error), draw.SignIgnored
		case e.Error != "":
			return "lost" + because(e.Error), draw.SignFailed
		}
		return "lost: moon ended while it ran", draw.SignFailed
	case events.StepCancelled:
		return "cancelled", draw.SignCancelled
	case events.StepOmitted:
		return "not run" + because(e.Reason), draw.SignWaiting
	case events.PrintMessage:
		return e.Message, draw.SignNone
	case events.VariableSet:
		return "set " + e.Name, draw.SignNone
	case events.Notified:
		return "notified " + e.Handler, draw.SignNone
	case events.GateOpened:
		return "waiting: " + pauseWords(e.Reason) + because(e.Message), draw.SignPaused
	case events.GateResolved:
		return "continued by " + cmp.Or(e.By, "you"), draw.SignNone
	case events.StepConfirmed:
		return cmp.Or(e.Words(), "asks for confirmation again"), draw.SignConfirm
	case events.RunPaused:
		return "paused " + pausePhrase(e.Reason) + because(e.Message), draw.SignPaused
	case events.RunResumed:
		return "resumed", draw.SignNone
	case events.CommandAccepted:
		return strings.TrimSpace(cmp.Or(e.Actor, "you") + ": " + commandWords(e.Command)), draw.SignNone
	case events.CommandRejected:
		return "refused " + commandWords(e.Command) + because(e.Reason), draw.SignCancelled
	case events.Warning:
		return "warning: " + e.Message, draw.SignConfirm
	case events.RunCompleted:
		return "the run ended: " + string(e.Outcome), draw.SignNone
	// History does not keep these.
	case events.StepOutput, events.StepProgress, events.AttemptStarted, events.Gap:
	}
	return events.Type(p.Event), draw.SignNone
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func commandWords(c events.Command) string {
	switch c := c.(type) {
	case nil:
		return "a command"
	case events.Approve:
		return "approve " + draw.Count(c.To-c.From, "step")
	case events.Advance:
		return c.Verb
	case events.Break:
		if c.Clear {
			return "clear breakpoint"
		}
		return "breakpoint" + c.Clauses()
	case events.Mark:
		return "mark as done"
	case events.Rerun:
		if c.With {
			return "run again, and what depends on it"
		}
		return "run again"
	case events.Keep:
		return "keep"
	case events.Set:
		return "set " + c.Variable
	case events.Fix:
		return c.Words()
	case events.Stop:
		switch c.How {
		case events.StopNow:
			return "stop now"
		case events.StopDrain:
			return "stop after the running steps"
		case events.StopInterrupt:
		}
		return "stop"
	default:
		return events.Verb(c)
	}
}

// pausePhrase goes on after "paused".
func pausePhrase(r events.PauseReason) string {
	switch r {
	case events.PauseReview:
		return "for review"
	case events.PauseUndecided:
		return "at a step that is not approved"
	case events.PauseConfirm:
		return "to confirm"
	case events.PauseBreakpoint:
		return "at breakpoint"
	case events.PauseFailure:
		return "on failure"
	case events.PauseEnd:
		return "at the end"
	case events.PauseStep, events.PauseUser:
	}
	return pauseWords(r)
}

func pauseWords(r events.PauseReason) string {
	switch r {
	case events.PauseReview:
		return "review"
	case events.PauseUndecided:
		return "not approved yet"
	case events.PauseConfirm:
		return "needs confirmation"
	case events.PauseBreakpoint:
		return "breakpoint"
	case events.PauseStep:
		return "step by step"
	case events.PauseFailure:
		return "failure"
	case events.PauseUser:
		return "by you"
	case events.PauseEnd:
		return "the end"
	}
	return string(r)
}

// Short is the beginning of a digest.
func Short(digest string) string { return digest[:min(len(digest), 12)] }
