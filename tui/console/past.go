package console

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"moon/events"
	"moon/tui/status"
)

// past is the end of what has happened. It keeps so much and forgets what is older.
type past struct {
	ring []happened
	next int
}

type happened struct {
	at   time.Time
	step int
	text string
}

const pastSize = 10_000

func (p *past) addRecord(r *events.Record) {
	text := pastWords(r.Event)
	if text == "" {
		return
	}
	h := happened{r.Time, r.Step, text}
	// Steps have other numbers now. Where rounds were added, renumber knows which.
	if e, loaded := r.Event.(events.PlanLoaded); loaded && len(e.Expanded) == 0 {
		for i := range p.ring {
			p.ring[i].step = -1
		}
	}
	if len(p.ring) < pastSize {
		p.ring = append(p.ring, h)
		return
	}
	p.ring[p.next] = h
	p.next = (p.next + 1) % pastSize
}

// renumber gives what has happened the numbers of a plan to which rounds were added: of says which step of the plan before each one is.
func (p *past) renumber(of []int) {
	now := map[int]int{-1: -1}
	for i, j := range of {
		if j >= 0 {
			now[j] = i
		}
	}
	for k := range p.ring {
		if i, ok := now[p.ring[k].step]; ok {
			p.ring[k].step = i
		}
	}
}

// pastWords says what happened; nothing for what is not worth it.
func pastWords(e events.Event) string {
	switch e := e.(type) {
	case events.RunStarted:
		return "the run was opened"
	case events.PlanLoaded:
		return "planned: " + count(e.TotalSteps, "step")
	case events.StepStarted:
		return "started"
	case events.StepRetrying:
		return fmt.Sprintf("attempt %d%s", e.Attempt, becauseOf(e.Error))
	case events.StepCompleted:
		switch {
		case e.Marked:
			return status.ByHand
		case e.Outdated:
			return "kept, with an earlier definition"
		case e.Kept:
			return "kept"
		case e.Changed:
			return "changed"
		}
		return "ok"
	case events.StepSkipped:
		return "skipped: " + status.WhySkipped(string(e.Reason)+becauseOf(e.Detail))
	case events.StepFailed:
		if e.Unreachable {
			return "unreachable" + becauseOf(e.Error)
		}
		return "failed" + becauseOf(e.Error)
	case events.StepLost:
		if e.Error != "" {
			return "lost" + becauseOf(e.Error)
		}
		return "lost: moon crashed while it ran"
	case events.StepCancelled:
		return "cancelled"
	case events.StepOmitted:
		return "not run" + becauseOf(e.Reason)
	case events.PrintMessage:
		return "says" + becauseOf(e.Message)
	case events.VariableSet:
		return "set " + clean(e.Name)
	case events.Notified:
		return "notified " + clean(e.Handler)
	case events.GateOpened:
		return "asks" + becauseOf(e.Message)
	case events.GateResolved:
		return "answered by " + clean(e.By)
	case events.StepConfirmed:
		return clean(e.Words())
	case events.RunPaused:
		return "paused: " + string(e.Reason)
	case events.RunResumed:
		return "resumed"
	case events.CommandAccepted:
		return clean(e.Actor) + ": " + commandWords(e.Command)
	case events.CommandRejected:
		return "refused " + commandWords(e.Command) + becauseOf(e.Reason)
	case events.Warning:
		return "warning" + becauseOf(e.Message)
	case events.RunCompleted:
		return "the run ended: " + string(e.Outcome)
	case events.StepTried, events.AttemptStarted, events.StepOutput, events.StepProgress, events.Gap:
		// There are many of these, and each is followed by one that says what came of it: they would push out what is listed.
	}
	return ""
}

func becauseOf(text string) string {
	if text == "" {
		return ""
	}
	head, _ := firstLine(text)
	return ": " + clean(head)
}

func commandWords(c events.Command) string {
	switch c := c.(type) {
	case events.Advance:
		return cmp.Or(c.Verb, "advance")
	case events.Set:
		return "set " + clean(c.Variable)
	case events.Fix:
		return "fix " + clean(c.Words())
	case events.Approve:
		return "approve " + count(c.To-c.From, "step")
	case events.Break:
		if c.Clear {
			return "clear breakpoint"
		}
		return "break" + clean(c.Clauses())
	case events.Stop:
		return strings.TrimSpace("stop " + string(c.How))
	case events.Withdraw:
		return "unapprove"
	case events.Include:
		return "restore"
	case nil:
		return "a command"
	default:
		return events.Verb(c)
	}
}
