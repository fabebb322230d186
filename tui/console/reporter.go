package console

import (
	"fmt"
	"strings"

	"moon/events"
)

// reporter says what steps, parts and the run are like.
type reporter struct {
	*titles
	canShell bool // a shell can be offered
}

// realWords counts the steps that a dry run executes.
func (c *reporter) realWords() string {
	n := c.plan.DefyDryRun()
	if !c.run.Check || n == 0 {
		return ""
	}
	if n == 1 {
		return "1 step runs for real"
	}
	return fmt.Sprintf("%d steps run for real", n)
}

// realWord marks a step that is executed although the run is dry.
func (c *reporter) realWord(i int) string {
	if c.run.Check && c.plan.Steps[i].DefiesDryRun() {
		return "runs for real (check_mode: false)"
	}
	return ""
}

func asksWords(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 needs confirmation"
	}
	return fmt.Sprintf("%d need confirmation", n)
}

// entryLine is a node on one line.
func (c *reporter) entryLine(n int) string {
	head := c.outline.numberOf(n) + ". " + c.outline.titleOf(n)
	if i := int(c.outline.nodes[n].step); i >= 0 {
		head = c.outline.numberOf(n) + ". " + c.stepTitle(i) + c.onHost(i)
		return sentence(append([]string{head}, c.stepWords(i)...)...)
	}
	r := c.outline.rangeOf(n)
	t := c.position().Tally(r)
	head += c.ofHost(n)
	if s := &c.plan.Scopes[c.outline.nodes[n].scope]; s.Skipped != "" && r.From == r.To {
		return sentence(head, "skipped: "+clean(s.Skipped)+" is false")
	}
	parts := []string{head, hostsWords(&c.plan.Scopes[c.outline.nodes[n].scope]), count(r.To-r.From, "step")}
	for s, k := range t {
		if k > 0 && int(k) == r.To-r.From { // all the same
			return sentence(append(parts, strings.Replace(stateWords[s], "CONFIRM", asksWords(int(k)), 1))...)
		}
	}
	if done := t.Done(); done > 0 {
		parts = append(parts, fmt.Sprintf("%d done", done))
	}
	parts = append(parts, tallied(&t, failed, unreachable, asking, running, changed, undecided))
	if c.run.Phase == events.Review {
		parts = append(parts, tallied(&t, waiting))
	}
	return sentence(append(parts, asksWords(t.Sum(confirm)), tallied(&t, excluded))...)
}

// stepWords are what a step is like, and what else there is to say of it in a word.
func (c *reporter) stepWords(i int) []string {
	s := c.stepAt(i)
	st := c.State(i)
	words := []string{c.stateWord(i)}
	if l := c.missingValue(i); l != nil {
		words = append(words, "will be skipped: uses "+clean(l.Reason()))
	} else if st.Pending() || st == asking {
		words = append(words, c.predictedWord(i), c.realWord(i))
	}
	if st == undecided || st == confirm || st == outdated {
		// The first only, as this is one line; show says all of them.
		if files := c.others.Of(c.plan, i); len(files) > 0 {
			words = append(words, clean(files[0].String()))
		}
	}
	if st.Pending() || st == asking {
		if s.Break {
			words = append(words, "breakpoint"+clean(s.BreakOn))
		}
		if i == c.position().Next() && c.run.Phase != events.Review {
			words = append(words, "next")
		}
	}
	if st == failed && s.HasRC {
		words = append(words, fmt.Sprintf("rc %d", s.RC))
	}
	if s.Attempt > 0 && s.State == events.Settled {
		words = append(words, lastedWords(s.Lasted(s.Ended)))
	}
	if s.Attempt > 1 {
		words = append(words, fmt.Sprintf("attempt %d", s.Attempt))
	}
	return words
}

// stateWord is what a step is like. What is approved waits, once the run has begun.
func (c *reporter) stateWord(i int) string {
	st := c.State(i)
	s := c.stepAt(i)
	switch {
	case st == waiting && c.run.Phase != events.Review:
		return "waiting"
	case (st == rescued || st == ignored) && c.position().Failed(i):
		return stateWords[failed] // whatever becomes of it, it has not become of it yet
	case st == failed && s.Outcome == events.Timeout:
		return "FAILED: timeout"
	case st == failed && s.Outcome == events.Rejected:
		return "FAILED: rejected"
	case st == failed && s.Outcome == events.Lost && s.Error != "":
		return "FAILED: lost while it ran"
	case st == failed && s.Outcome == events.Lost:
		return "FAILED: lost, moon crashed while it ran"
	case s.State == events.Backoff:
		return "waiting for its next attempt"
	}
	return stateWords[st]
}

// progressWords is how far the run is, what runs, and how long it may take.
func (c *reporter) progressWords() string {
	t := c.position().Counts()
	return sentence(fmt.Sprintf("%d of %d", t.Done(), t.Total()), tallied(&t, failed, unreachable), c.runningNow(),
		c.timeLeft())
}

func (c *reporter) timeLeft() string {
	// What is being stopped does not take its usual time.
	if c.estimate == nil || c.stopping > 0 {
		return ""
	}
	left, known := c.estimate.Left(c.now())
	if !known {
		return ""
	}
	return aboutTime(left) + " left"
}

// runningNow names what runs.
func (c *reporter) runningNow() string {
	const named = 3
	var parts []string
	n := 0
	for i := range min(len(c.run.Steps), len(c.plan.Steps)) {
		s := &c.run.Steps[i]
		if s.State != events.Active {
			continue
		}
		// Counted beyond that too, for how many more there are.
		if n++; n > named {
			continue
		}
		words := c.called(i) + " is running"
		if t := lastedWords(s.Lasted(c.now())); t != "" {
			words += " for " + t
		}
		parts = append(parts, words)
	}
	if n > named {
		parts = append(parts, fmt.Sprintf("and %d more", n-named))
	}
	return strings.Join(parts, ", ")
}

func (c *reporter) countsWords() string {
	t := c.position().Counts()
	return tallied(&t, ends...)
}

// pausedWords are one line about a pause: why, and what can be done.
func (c *reporter) pausedWords() string {
	e, i := c.run.Pause, c.run.PausedAt
	if i >= len(c.plan.Steps) {
		i = -1
	}
	before := ""
	if i >= 0 {
		before = " before " + c.called(i)
	}
	still := ""
	if n := c.run.Counts.Running; n > 0 {
		still = " " + count(n, "step") + " still finishing."
	}
	// The reason is why it paused. What it asks for may have been decided since, so each case looks at the step again.
	switch e.Reason {
	case events.PauseConfirm:
		ask := ""
		if i >= 0 {
			ask = " " + sentence(clean(c.plan.Steps[i].Confirmers.Asked(c.plan.Steps[i].Confirm, c.run.Steps[i].By)))
		}
		if i >= 0 && c.State(i) != confirm {
			return "PAUSED" + before + ", which is confirmed." + still + " step runs it, run continues."
		}
		return "PAUSED" + before + ", which needs confirmation." + ask + still + " yes, no, show, quit."
	case events.PauseUndecided:
		if i >= 0 && c.State(i) != undecided {
			return "PAUSED" + before + ", " + c.stateWord(i) + "." + still + " step, run, quit."
		}
		return "PAUSED" + before + ", which is not approved" + becauseOf(e.Message) + "." + still + " yes, no, approve all, show, quit."
	case events.PauseBreakpoint:
		return "PAUSED at the breakpoint" + before + "." + still + " step, over, run, show, diff, vars, quit."
	case events.PauseFailure:
		return c.failedWords(i, still)
	case events.PauseStep:
		return "PAUSED" + before + "." + still + " step, over, out, run, show, skip, quit."
	case events.PauseUser, events.PauseReview, events.PauseEnd:
	}
	if next := c.position().Next(); before == "" && next >= 0 {
		before = " before " + c.called(next)
	}
	why := ""
	if e.Message != "" {
		why = " " + sentence(clean(e.Message))
	}
	return "PAUSED" + before + "." + why + still + " step, run, show, quit."
}

func (c *reporter) failedWords(i int, still string) string {
	if i < 0 {
		return "PAUSED on failure." + still + " retry, run, quit."
	}
	if !c.position().FailedOrEdited(i) {
		return "PAUSED after " + c.called(i) + ", which is " + c.stateWord(i) + " now." + still +
			" run continues, step runs one step, quit."
	}
	if c.State(i).Pending() {
		return "PAUSED at " + c.called(i) + ", which failed and was changed since." + still + " retry, skip, run, quit."
	}
	giveUp := "run continues without it, and its dependents are skipped"
	if c.hasRescue(c.plan.Steps[i].Scope) {
		giveUp = "run runs the rescue, then continues"
	}
	shell := ""
	if c.canShell {
		shell = " shell,"
	}
	if c.run.Steps[i].Drifted {
		return "PAUSED: " + c.called(i) + " has drifted." + still + " accept, retry," + shell + " skip, quit; " + giveUp + "."
	}
	return "PAUSED on failure of " + c.called(i) + "." + still + " retry, edit NAME, editor," + shell + " skip, quit; " + giveUp + "."
}

func (c *reporter) doneWord() string {
	switch c.run.Result.Outcome {
	case events.RunDone:
		if c.run.Counts.Changed > 0 {
			return "DONE (changed)"
		}
		return "DONE"
	case events.RunFailed:
		return "FAILED"
	case events.RunStopped:
		return "STOPPED"
	case events.RunInterrupted:
		return "INTERRUPTED"
	}
	return "ENDED"
}
