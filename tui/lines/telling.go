package lines

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"moon/events"
	"moon/tui/standing"
)

// telling decides what of a run is said by itself. Who listens cannot skim: an end of a step is said as long as there are not
// too many at once, and what is more is counted. What failed has a count of its own, so it is never among a thousand that
// went well; and why the run stops is always said.
type telling struct {
	following bool // what steps print is said too

	left      int // ends that may be said now
	failures  int // and ends of what failed
	refilled  time.Time
	swallowed tally // ends that were not said
	since     time.Time

	again bool // what comes was told before, under another plan or by another process
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

// hear takes in what has happened.
func (d *desk) hear(batch []events.Record) {
	for i := range batch {
		r := &batch[i]
		d.run.Apply(*r)
		d.hearOne(r)
	}
	if d.telling.owes && d.run.Phase == events.Paused && d.run.Counts.Running == 0 && d.asked == 0 {
		d.telling.owes = false
		d.flushSwallowed(d.now())
		d.say("%s", d.pausedWords())
		d.sayWatches()
	}
	d.foretell()
}

func (d *desk) hearOne(r *events.Record) {
	d.past.add(r)
	if d.estimate != nil && r.Step >= 0 && r.Step < len(d.run.Steps) {
		d.estimate.See(r.Step, &d.run.Steps[r.Step])
	}
	if r.Step >= len(d.plan.Steps) {
		return // the plan it is about is not here
	}
	switch e := r.Event.(type) {
	case events.PlanLoaded:
		d.planLoaded(e)
	case events.RunPaused:
		d.paused(r, e)
	case events.RunResumed:
		d.telling.again, d.telling.owes = false, false
		d.telling.round, d.telling.spoke = r.Time, r.Time
		d.telling.refilled = time.Time{}
	case events.RunCompleted:
		d.completed(r)
	case events.StepStarted:
		d.follow.begin(d, r.Step)
		d.telling.spoke = r.Time
		d.telling.refill(r.Time)
		if d.telling.following && d.telling.left > 0 {
			d.tell(r, "running", r.Step)
		}
	case events.StepRetrying:
		d.follow.begin(d, r.Step)
		if !e.ByUser {
			head, _ := first(e.Error)
			d.say("%s %s failed: %s. attempt %d follows.", clock(r.Time), d.called(r.Step), clean(head), e.Attempt)
		}
	case events.StepCompleted:
		d.ended(r)
	case events.StepSkipped:
		if !d.plan.Steps[r.Step].Excluded {
			d.ended(r)
		}
	case events.StepFailed, events.StepLost, events.StepCancelled:
		d.ended(r)
	case events.PrintMessage:
		d.message(r, e.Message)
	case events.Warning:
		d.said(r.Time)
		d.say("warning: %s", sentence(clean(e.Message)))
	case events.CommandAccepted:
		d.accepted(e)
	case events.CommandRejected:
		d.say("refused: %s", sentence(clean(e.Reason)))
		if e.Actor == Actor {
			d.asked--
			if _, was := e.Command.(events.Fix); was {
				d.fixRefused()
			}
		}
	case events.GateOpened:
		if e.Reason == events.PauseUser {
			d.said(r.Time)
			d.ring()
			d.say("%s %s asks whether to continue: %s yes or no.", clock(r.Time), d.called(r.Step), sentence(clean(e.Message)))
		}
	case events.RunStarted, events.StepTried, events.AttemptStarted, events.StepOutput, events.StepProgress, events.StepOmitted,
		events.VariableSet, events.Notified,
		events.GateResolved, events.Gap:
	}
}

func clock(t time.Time) string { return t.Local().Format("15:04:05") }

// said puts what was swallowed before something that matters.
func (d *desk) said(at time.Time) {
	d.telling.spoke = at
	d.flushSwallowed(at)
}

func (d *desk) ring() {
	if d.o.Terminal != nil {
		d.flush()
		_, _ = io.WriteString(d.o.Terminal, "\a") // nobody is told if it cannot ring
	}
}

// tell says what became of a step, on one line.
func (d *desk) tell(r *events.Record, word string, step int, rest ...string) {
	d.telling.spoke = r.Time
	parts := append([]string{fmt.Sprintf("%s %s %s", clock(r.Time), word, d.called(step))}, rest...)
	d.say("%s", sentence(parts...))
}

// ended says how a step ended, or counts it.
func (d *desk) ended(r *events.Record) {
	i := r.Step
	s, st := &d.run.Steps[i], d.state(i)
	d.follow.end(d, i)
	if d.telling.again || s.Kept {
		return
	}
	d.telling.owes = d.run.Phase == events.Paused
	d.telling.refill(r.Time)
	may := &d.telling.left
	if st.Bad() || st == rescued || st == ignored {
		may = &d.telling.failures
	}
	if *may == 0 {
		if d.telling.swallowed == (tally{}) {
			d.telling.since = r.Time
		}
		d.telling.swallowed[st]++
		return
	}
	*may--
	d.flushSwallowed(r.Time)
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
	if s.Attempt > 0 {
		rest = append(rest, lasted(s.Lasted(s.Ended)))
	}
	if s.Drift != "" {
		rest = append(rest, "drift: "+clean(s.Drift))
	}
	word := d.word(i)
	if st == rescued {
		word = stateWords[failed] // its rescue has not begun
	}
	d.tell(r, word, i, rest...)
	if s.Error != "" && (st.Bad() || st == rescued || st == ignored) {
		d.errorLines(s.Error, 5)
	}
}

// refill lets one more end be said for each second that has gone by, by the clock of the run.
func (t *telling) refill(now time.Time) {
	if t.refilled.IsZero() {
		t.left, t.failures, t.refilled = burst, burst, now
	}
	if n := int(now.Sub(t.refilled) / time.Second); n > 0 {
		t.left, t.failures = min(t.left+n, burst), min(t.failures+n, burst)
		t.refilled = now
	}
}

// flushSwallowed counts what was not said one by one.
func (d *desk) flushSwallowed(now time.Time) {
	t := &d.telling
	if t.swallowed == (tally{}) {
		return
	}
	d.say("%s then %s.", clock(now), t.swallowed.words(ends...))
	t.swallowed = tally{}
}

func (t *telling) flushLate(d *desk, now time.Time) {
	if t.swallowed != (tally{}) && now.Sub(t.since) >= lateAfter {
		d.said(now)
	}
}

// progress is said every minute, and of a step that runs long without a word, once.
func (t *telling) progress(d *desk, now time.Time) {
	if d.run.Phase != events.Running && d.run.Counts.Running == 0 || d.gate() >= 0 && d.run.Counts.Running == 0 {
		return
	}
	quiet := !t.spoke.IsZero() && now.Sub(t.spoke) >= quietAfter
	if !quiet && now.Sub(t.round) < everyRound {
		return
	}
	if now.Sub(t.round) >= everyRound {
		t.round = now
	}
	t.spoke = time.Time{} // until something is said
	d.flushSwallowed(now)
	d.say("%s %s", clock(now), d.progress())
}

// message is what a step has to say to people.
func (d *desk) message(r *events.Record, text string) {
	d.said(r.Time)
	head, rest := first(text)
	d.say("%s %s says: %s", clock(r.Time), d.called(r.Step), clean(head))
	for _, line := range rest[:min(len(rest), page)] {
		d.say("  %s", clean(line))
	}
	if more := len(rest) - page; more > 0 {
		d.say("  %s more; show %s says all.", count(more, "line"), d.outline.stepNumber(r.Step))
	}
}

// engineActor is who decides what no person has.
const engineActor = "moon"

func (d *desk) accepted(e events.CommandAccepted) {
	if e.Actor == Actor {
		d.asked--
	}
	switch e.Command.(type) {
	case events.Withdraw:
		if e.Actor == engineActor {
			return // the warning that follows says why a step is to be approved again
		}
	case events.Stop:
		d.leaving = true // whoever asked: there is nothing to stay for when it has ended
	default:
	}
	if e.Actor != Actor && e.Actor != "" && !d.telling.again {
		d.say("%s: %s.", clean(e.Actor), commandWords(e.Command))
	}
}

// planLoaded takes over another plan when the run has one, and says what is different in it.
func (d *desk) planLoaded(e events.PlanLoaded) {
	d.telling.swallowed, d.telling.again = tally{}, true
	if e.Digest == d.coming {
		d.coming = ""
	}
	if e.Digest == d.plan.Digest || d.o.PlanFor == nil {
		return
	}
	p := d.o.PlanFor(e.Digest)
	if p == nil {
		return
	}
	diff := standing.Differ(d.plan, p)
	mine := d.sentFix != nil
	d.sentFix = nil
	d.others = d.others.Replan(d.plan, p)
	d.setPlan(p)
	d.rest = nil // of a plan that is not any more
	if mine {
		return // what becomes of it was said before
	}
	d.say("replanned: %s changed, %d added, %d gone.", count(len(diff.Changed), "step"), len(diff.Added), diff.Gone)
	if len(diff.Changed) > 0 {
		d.say("first change: %s.", d.called(diff.Changed[0]))
	}
}

// paused says why nothing new starts, and what can be done.
func (d *desk) paused(r *events.Record, e events.RunPaused) {
	d.telling.again, d.telling.owes = false, false
	if !d.opened {
		d.open()
		if e.Reason == events.PauseReview {
			return
		}
	}
	d.said(r.Time)
	if e.Reason == events.PauseReview { // the plan was replaced in it
		d.say("%s REVIEW. nothing has run. approve, then run, or step.", clock(r.Time))
		return
	}
	if e.Reason == events.PauseFailure {
		d.ring()
	}
	if e.Reason == events.PauseEnd {
		d.ring()
		d.say("%s ENDED. %s retry, editor, next, summary, quit.", clock(r.Time), sentence(d.counts()))
		return
	}
	d.say("%s %s", clock(r.Time), d.pausedWords())
	d.sayWatches()
}

// pausedWords are one line about a pause: why, and what can be done.
func (d *desk) pausedWords() string {
	e, i := d.run.Pause, d.run.PausedAt
	if i >= len(d.plan.Steps) {
		i = -1
	}
	before := ""
	if i >= 0 {
		before = " before " + d.called(i)
	}
	still := ""
	if n := d.run.Counts.Running; n > 0 {
		still = " " + count(n, "step") + " still finishing."
	}
	switch e.Reason {
	case events.PauseConfirm:
		ask := ""
		if i >= 0 {
			ask = " " + sentence(clean(d.plan.Steps[i].Confirm))
		}
		if i >= 0 && d.state(i) != confirm {
			return "PAUSED" + before + ", which is confirmed." + still + " step runs it, run continues."
		}
		return "PAUSED" + before + ", which needs confirmation." + ask + still + " yes, no, show, quit."
	case events.PauseUndecided:
		if i >= 0 && d.state(i) != undecided {
			return "PAUSED" + before + ", " + d.word(i) + "." + still + " step, run, quit."
		}
		return "PAUSED" + before + ", which is not approved." + still + " yes, no, approve all, show, quit."
	case events.PauseBreakpoint:
		return "PAUSED at the breakpoint" + before + "." + still + " step, over, run, show, diff, vars, quit."
	case events.PauseFailure:
		return d.failedWords(i, still)
	case events.PauseStep:
		return "PAUSED" + before + "." + still + " step, over, out, run, show, skip, quit."
	case events.PauseUser, events.PauseReview, events.PauseEnd:
	}
	if next := d.nextStep(); before == "" && next >= 0 {
		before = " before " + d.called(next)
	}
	why := ""
	if e.Message != "" {
		why = " " + sentence(clean(e.Message))
	}
	return "PAUSED" + before + "." + why + still + " step, run, show, quit."
}

func (d *desk) failedWords(i int, still string) string {
	if i < 0 {
		return "PAUSED on failure." + still + " retry, run, quit."
	}
	if !d.broken(i) {
		return "PAUSED after " + d.called(i) + ", which is " + d.word(i) + " now." + still + " run continues, step runs one step, quit."
	}
	if d.state(i).Pending() {
		return "PAUSED at " + d.called(i) + ", which failed and was changed since." + still + " retry, skip, run, quit."
	}
	giveUp := "run continues without it, and its dependents are skipped"
	if d.rescuable(d.plan.Steps[i].Scope) {
		giveUp = "run runs the rescue, then continues"
	}
	shell := ""
	if d.o.Shell != nil && d.o.Person {
		shell = " shell,"
	}
	return "PAUSED on failure of " + d.called(i) + "." + still + " retry, edit NAME, editor," + shell + " skip, quit; " + giveUp + "."
}

// rescuable reports whether a scope, or one around it, has a rescue.
func (d *desk) rescuable(scope int) bool {
	for id := scope; id > 0 && id < len(d.plan.Scopes); id = d.plan.Scopes[id].Parent {
		if d.plan.Scopes[id].Branch != "" {
			return false // a failure in a rescue is not rescued by it
		}
		for k := id + 1; k < len(d.plan.Scopes) && d.plan.Scopes[k].First <= d.plan.Scopes[id].Last; k++ {
			if d.plan.Scopes[k].Parent == id && d.plan.Scopes[k].Branch == "rescue" {
				return true
			}
		}
	}
	return false
}

// completed says how the run ended.
func (d *desk) completed(r *events.Record) {
	d.said(r.Time)
	d.opened = true
	if d.leaving {
		return // the report says it
	}
	d.say("%s %s. %s", clock(r.Time), d.doneWord(), sentence(d.counts(), lasted(d.run.Result.Duration), waited(d.run.Result.Waited)))
	if hosts := d.recap(); len(hosts) <= page {
		for _, line := range hosts {
			d.say("%s", line)
		}
	}
	if d.o.Person {
		d.say("summary, output, diff, quit.")
	}
}

func (d *desk) doneWord() string {
	switch d.run.Result.Outcome {
	case events.RunDone:
		if d.run.Counts.Changed > 0 {
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
