package console

import (
	"fmt"
	"time"

	"moon/events"
	"moon/internal/termtext"
	"moon/plan"
	"moon/plan/counterpart"
	"moon/tui/status"
)

// announcer says what happens.
type announcer struct {
	*speaker
	*reporter
	*requests
	exit    *exit
	fixes   *fixes
	watches *watches
	follow  *follow
	past    *past
	planFor func(digest string) *plan.Plan // nil: the plan never changes
	mode    string                         // what is said next to the playbook's name

	telling telling
	opened  bool // the review was announced

	announcedPredicted string // what was said of the predictions
}

// sayOpening says what the plan is, when there is something to decide for the first time: in review, or where a run is resumed.
func (c *announcer) sayOpening() {
	c.opened = true
	t := c.position().Counts()
	name := clean(c.plan.RootFile)
	if c.plan.Name != "" {
		name += " " + clean(c.plan.Name)
	}
	head, done := "REVIEW", ""
	if c.run.Phase != events.Review {
		head, done = "RESUMED", tallied(&t, failed, unreachable, ok, changed, kept, skipped)
	}
	c.say("%s %s", head, sentence(name, c.mode, c.realWords(), count(len(c.plan.Steps), "step"), done, tallied(&t, excluded),
		asksWords(t.Sum(confirm)), c.lackingWords()))
	var lines []string
	for _, n := range c.outline.unfoldBelow(0) {
		lines = append(lines, c.entryLine(n))
	}
	c.sayList(lines)
	if c.run.Phase != events.Review {
		return
	}
	c.say("approve all, approve safe (all except what needs confirmation) or approve N. then run, or step. show N, skip N, break N, help, quit.")
}

// telling decides what of a run is said by itself. Who listens cannot skim: an end of a step is said as long as there are not
// too many at once, and what is more is counted. What failed has a count of its own, so it is never among a thousand that
// went well; and why the run stops is always said.
type telling struct {
	left      int // ends that may be said now
	failures  int // and ends of what failed
	refilled  time.Time
	swallowed status.Tally // ends that were not said
	since     time.Time

	again bool // what comes was announced before, under another plan or by another process
	owes  bool // something has ended in a pause, and it was not said since where the run is

	spoke time.Time // when something was said last
	round time.Time // when progress was said last
}

const (
	burst      = page             // so many ends are said at once, and then one a second
	lateAfter  = 5 * time.Second  // after which what was swallowed is said
	quietAfter = 10 * time.Second // of a step that runs, after which it is said that it does
	everyRound = time.Minute      // how often progress is said
)

// hearBatch takes in what has happened.
func (c *announcer) hearBatch(batch []events.Record) {
	for i := range batch {
		r := &batch[i]
		c.run.Apply(*r)
		c.hearOne(r)
	}
	// After the whole batch, and with no command open: what is said of where the run is must still be true when it is heard.
	if c.telling.owes && c.run.Phase == events.Paused && c.run.Counts.Running == 0 && c.asked == 0 {
		c.telling.owes = false
		c.flushSwallowed(c.now())
		c.say("%s", c.pausedWords())
		c.watches.sayWatches()
	}
	c.predictAll()
}

func (c *announcer) hearOne(r *events.Record) {
	// What is published again because rounds were added was said under the plan before.
	if r.Again {
		return
	}
	c.past.addRecord(r)
	if c.estimate != nil && r.Step >= 0 && r.Step < len(c.run.Steps) {
		c.estimate.See(r.Step, &c.run.Steps[r.Step])
	}
	if r.Step >= len(c.plan.Steps) {
		return // the plan it is about is not here
	}
	switch e := r.Event.(type) {
	case events.PlanLoaded:
		c.planLoaded(e)
	case events.RunPaused:
		c.sayPaused(r, e)
	case events.RunResumed:
		c.telling.again, c.telling.owes = false, false
		c.telling.round, c.telling.spoke = r.Time, r.Time
		c.telling.refilled = time.Time{}
	case events.RunCompleted:
		c.sayCompleted(r)
	case events.StepStarted:
		c.follow.beginStep(r.Step)
		c.telling.spoke = r.Time
		c.telling.refillBursts(r.Time)
		if c.follow.on && c.telling.left > 0 {
			c.sayStep(r, "running", r.Step)
		}
	case events.StepRetrying:
		c.follow.beginStep(r.Step)
		if !e.ByUser {
			head, _ := firstLine(e.Error)
			c.say("%s %s failed: %s. attempt %d follows.", clockText(r.Time), c.called(r.Step), clean(head), e.Attempt)
		}
	case events.StepCompleted:
		c.sayEnd(r)
	case events.StepSkipped:
		// What tags or the selection exclude was said of the plan, and is not news.
		if !c.plan.Steps[r.Step].Excluded {
			c.sayEnd(r)
		}
	case events.StepFailed, events.StepLost, events.StepCancelled:
		c.sayEnd(r)
	case events.PrintMessage:
		c.sayMessage(r, e.Message)
	case events.Warning:
		c.endSilence(r.Time)
		c.say("warning: %s", sentence(clean(e.Message)))
	case events.CommandAccepted:
		c.sayAccepted(e)
	case events.CommandRejected:
		c.say("refused: %s", sentence(clean(e.Reason)))
		// The feed has the commands of others as well; only own ones are waited for.
		if e.Actor == Actor {
			c.asked--
			if _, was := e.Command.(events.Fix); was {
				c.fixes.fixRefused()
			}
		}
	case events.GateOpened:
		if e.Reason == events.PauseUser {
			c.endSilence(r.Time)
			c.ringBell()
			c.say("%s %s asks whether to continue: %s yes or no.", clockText(r.Time), c.called(r.Step), sentence(clean(e.Message)))
		}
	case events.StepConfirmed:
		if words := e.Words(); words != "" {
			c.endSilence(r.Time)
			c.say("%s %s: %s", clockText(r.Time), c.called(r.Step), sentence(clean(words)))
		}
	case events.RunStarted, events.StepTried, events.AttemptStarted, events.StepOutput, events.StepProgress, events.StepOmitted,
		events.VariableSet, events.Notified,
		events.GateResolved, events.Gap:
	}
}

// endSilence puts what was swallowed before something that matters.
func (c *announcer) endSilence(at time.Time) {
	c.telling.spoke = at
	c.flushSwallowed(at)
}

// sayStep says what became of a step, on one line.
func (c *announcer) sayStep(r *events.Record, word string, step int, rest ...string) {
	c.telling.spoke = r.Time
	parts := append([]string{fmt.Sprintf("%s %s %s", clockText(r.Time), word, c.called(step))}, rest...)
	c.say("%s", sentence(parts...))
}

// sayEnd says how a step ended, or counts it.
func (c *announcer) sayEnd(r *events.Record) {
	i := r.Step
	s, st := &c.run.Steps[i], c.State(i)
	// Also where the end is not said: the file that is followed has to be closed.
	c.follow.endStep(i, c.telling.left == 0)
	if c.telling.again || s.Kept {
		return
	}
	// What ends in a pause changes what can be done there, so that is said again when all has ended.
	c.telling.owes = c.run.Phase == events.Paused
	c.telling.refillBursts(r.Time)
	may := &c.telling.left
	if st.Bad() || st == rescued || st == ignored {
		may = &c.telling.failures
	}
	if *may == 0 {
		if c.telling.swallowed == (status.Tally{}) {
			// Of the first that was not said, which has waited longest.
			c.telling.since = r.Time
		}
		c.telling.swallowed[st]++
		return
	}
	*may--
	// What ended before is counted before, or the order would be wrong.
	c.flushSwallowed(r.Time)
	var rest []string
	if s.HasRC && s.RC != 0 {
		rest = append(rest, fmt.Sprintf("rc %d", s.RC))
	}
	if st == changed && s.Diff != nil {
		rest = append(rest, clean(s.Diff.Summary))
	}
	if st == skipped || st == excluded {
		rest = append(rest, clean(s.Reason))
	}
	switch {
	case s.Marked:
		rest = append(rest, status.ByHand)
	case s.Attempt > 0:
		rest = append(rest, lastedWords(s.Lasted(s.Ended)))
	}
	if s.Drift != "" {
		rest = append(rest, "drift: "+clean(s.Drift))
	}
	word := c.stateWord(i)
	if st == rescued {
		word = stateWords[failed] // its rescue has not begun
	}
	c.sayStep(r, word, i, rest...)
	if s.Error != "" && (st.Bad() || st == rescued || st == ignored) {
		c.errorLines(s.Error, 5)
	}
}

// refillBursts lets one more end be said for each second that has gone by, by the clock of the run.
func (t *telling) refillBursts(now time.Time) {
	if t.refilled.IsZero() {
		t.left, t.failures, t.refilled = burst, burst, now
	}
	if n := int(now.Sub(t.refilled) / time.Second); n > 0 {
		// A quiet run saves up one burst and no more.
		t.left, t.failures = min(t.left+n, burst), min(t.failures+n, burst)
		t.refilled = now
	}
}

// flushSwallowed counts what was not said one by one.
func (c *announcer) flushSwallowed(now time.Time) {
	t := &c.telling
	if t.swallowed == (status.Tally{}) {
		return
	}
	c.say("%s then %s.", clockText(now), tallied(&t.swallowed, ends...))
	t.swallowed = status.Tally{}
}

// flushLate counts it when it has waited for long enough.
func (c *announcer) flushLate(now time.Time) {
	if t := &c.telling; t.swallowed != (status.Tally{}) && now.Sub(t.since) >= lateAfter {
		c.endSilence(now)
	}
}

// sayProgress says every minute how far the run is, and of a step that runs long without a word, once.
func (c *announcer) sayProgress(now time.Time) {
	t := &c.telling
	if c.run.Phase != events.Running && c.run.Counts.Running == 0 || c.position().Gate() >= 0 && c.run.Counts.Running == 0 {
		return
	}
	// spoke is zero from a word about silence until something is said, so that it comes once.
	quiet := !t.spoke.IsZero() && now.Sub(t.spoke) >= quietAfter
	if !quiet && now.Sub(t.round) < everyRound {
		return
	}
	if now.Sub(t.round) >= everyRound {
		t.round = now
	}
	t.spoke = time.Time{} // until something is said
	c.flushSwallowed(now)
	c.say("%s %s", clockText(now), c.progressWords())
}

// sayMessage is what a step has to say to people.
func (c *announcer) sayMessage(r *events.Record, text string) {
	c.endSilence(r.Time)
	head, rest := firstLine(text)
	c.say("%s %s says: %s", clockText(r.Time), c.called(r.Step), clean(head))
	for _, line := range rest[:min(len(rest), page)] {
		c.say("  %s", clean(line))
	}
	if more := len(rest) - page; more > 0 {
		c.say("  %s more; show %s says all.", count(more, "line"), c.outline.stepNumber(r.Step))
	}
}

// engineActor is who decides what no person has.
const engineActor = "moon"

func (c *announcer) sayAccepted(e events.CommandAccepted) {
	if e.Actor == Actor {
		c.asked--
	}
	switch e.Command.(type) {
	case events.Withdraw:
		if e.Actor == engineActor {
			return // the warning that follows says why a step is to be approved again
		}
	case events.Stop:
		c.exit.leaving = true // whoever asked: there is nothing to stay for when it has ended
	default:
	}
	if e.Actor != Actor && e.Actor != "" && !c.telling.again {
		c.say("%s: %s.", clean(e.Actor), commandWords(e.Command))
	}
}

// planLoaded takes over another plan when the run has one, and says what is different in it.
func (c *announcer) planLoaded(e events.PlanLoaded) {
	// Steps that are kept end once more under the new plan, which is not news. Where rounds are added each repetition says so itself,
	// and what comes after it is new: the run does not stop.
	if len(e.Expanded) == 0 {
		c.telling.swallowed, c.telling.again = status.Tally{}, true
	}
	if e.Digest == c.coming {
		// From here on the run may be at rest again: lines wait for the plan that was made.
		c.coming = ""
	}
	if e.Digest == c.plan.Digest || c.planFor == nil {
		return
	}
	p := c.planFor(e.Digest)
	if p == nil {
		return
	}
	diff := status.Differ(c.plan, p)
	before, opened := c.plan, status.OpenedWords(c.plan, p)
	mine := c.fixes.sentFix != nil
	c.fixes.sentFix = nil
	// Before the plan is replaced: files are compared between the two.
	c.others = c.others.Replan(c.plan, p)
	c.setPlan(p)
	if len(e.Expanded) > 0 { // steps run meanwhile; any other plan comes when none does
		of := counterpart.Grown(p, before)
		c.follow.renumber(of)
		c.past.renumber(of)
	}
	c.rest = nil // of a plan that is not any more
	if mine {
		return // what becomes of it was said before
	}
	if opened != "" {
		c.say("%s", sentence(clean(opened)))
		return
	}
	c.say("replanned: %s changed, %d added, %d gone.", count(len(diff.Changed), "step"), len(diff.Added), diff.Gone)
	if len(diff.Changed) > 0 {
		c.say("first change: %s.", c.called(diff.Changed[0]))
	}
}

// sayPaused says why nothing new starts, and what can be done.
func (c *announcer) sayPaused(r *events.Record, e events.RunPaused) {
	c.telling.again, c.telling.owes = false, false
	if !c.opened {
		c.sayOpening()
		if e.Reason == events.PauseReview {
			return
		}
	}
	c.endSilence(r.Time)
	if e.Reason == events.PauseReview { // the plan was replaced in it
		c.say("%s REVIEW. nothing has run. approve, then run, or step.", clockText(r.Time))
		return
	}
	if e.Reason == events.PauseFailure {
		c.ringBell()
	}
	if e.Reason == events.PauseEnd {
		c.ringBell()
		if e.Message != "" {
			c.say("exports failed: %s", termtext.CleanName(e.Message))
		}
		c.say("%s ENDED. %s retry, editor, next, summary, quit.", clockText(r.Time), sentence(c.countsWords()))
		return
	}
	c.say("%s %s", clockText(r.Time), c.pausedWords())
	c.watches.sayWatches()
}

// sayCompleted says how the run ended.
func (c *announcer) sayCompleted(r *events.Record) {
	c.endSilence(r.Time)
	c.opened = true
	if c.exit.leaving {
		return // the report says it
	}
	c.say("%s %s. %s", clockText(r.Time), c.doneWord(), sentence(c.countsWords(), lastedWords(c.run.Result.Duration), waitedWords(c.run.Result.Waited)))
	if e := c.run.Result.Error; e != "" {
		c.say("exports failed: %s", termtext.CleanName(e))
	}
	if hosts := c.recapHosts(); len(hosts) <= page {
		for _, line := range hosts {
			c.say("%s", line)
		}
	}
	if c.person {
		c.say("summary, output, diff, quit.")
	}
}

// sayPredicted says once what is predicted, to a person: a script asks for it.
func (c *announcer) sayPredicted() {
	if !c.person || c.run.Phase != events.Review || c.predicted.Busy() {
		return
	}
	if words := c.predictedCounts(); words != "" && words != c.announcedPredicted {
		c.announcedPredicted = words
		c.say("predicted: %s. show N says more.", words)
	}
}
