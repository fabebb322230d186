package lines

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/plan"
)

// open says what the plan is, when there is something to decide for the first time: in review, or where a run is resumed.
func (d *desk) open() {
	d.opened = true
	t := d.tally(d.everything())
	name := clean(d.plan.RootFile)
	if d.plan.Name != "" {
		name += " " + clean(d.plan.Name)
	}
	head, done := "REVIEW", ""
	if d.run.Phase != events.Review {
		head, done = "RESUMED", t.words(failed, unreachable, ok, changed, kept, skipped)
	}
	d.say("%s %s", head, sentence(name, d.o.Mode, d.realWords(), count(len(d.plan.Steps), "step"), done, t.words(excluded),
		asks(t[confirm]), d.lackingWords()))
	var lines []string
	for _, n := range d.outline.unfolded(0) {
		lines = append(lines, d.entry(n))
	}
	d.list(lines)
	if d.run.Phase != events.Review {
		return
	}
	d.say("approve all, approve safe (all except what needs confirmation) or approve N. then run, or step. show N, skip N, break N, help, quit.")
}

// realWords counts the steps that a dry run executes.
func (d *desk) realWords() string {
	n := d.plan.DefyDryRun()
	if !d.run.Check || n == 0 {
		return ""
	}
	if n == 1 {
		return "1 step runs for real"
	}
	return fmt.Sprintf("%d steps run for real", n)
}

// real marks a step that is executed although the run is dry.
func (d *desk) real(i int) string {
	if d.run.Check && d.plan.Steps[i].DefiesDryRun() {
		return "runs for real (check_mode: false)"
	}
	return ""
}

func asks(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 needs confirmation"
	}
	return fmt.Sprintf("%d need confirmation", n)
}

// entry is a node on one line.
func (d *desk) entry(n int) string {
	head := d.outline.number(n) + ". " + d.outline.title(n)
	if i := int(d.outline.nodes[n].step); i >= 0 {
		head = d.outline.number(n) + ". " + d.stepTitle(i) + d.on(i)
		return sentence(append([]string{head}, d.stepWords(i)...)...)
	}
	r := d.outline.steps(n)
	t := d.tally(r)
	head += d.ofHost(n)
	if s := &d.plan.Scopes[d.outline.nodes[n].scope]; s.Skipped != "" && r.From == r.To {
		return sentence(head, "skipped: "+clean(s.Skipped)+" is false")
	}
	parts := []string{head, hostsWords(&d.plan.Scopes[d.outline.nodes[n].scope]), count(r.To-r.From, "step")}
	for s, k := range t {
		if k == r.To-r.From && k > 0 { // all the same
			return sentence(append(parts, strings.Replace(stateWords[s], "CONFIRM", asks(k), 1))...)
		}
	}
	if done := t.done(); done > 0 {
		parts = append(parts, fmt.Sprintf("%d done", done))
	}
	parts = append(parts, t.words(failed, unreachable, asking, running, changed, undecided))
	if d.run.Phase == events.Review {
		parts = append(parts, t.words(waiting))
	}
	return sentence(append(parts, asks(t[confirm]), t.words(excluded))...)
}

// stepWords are what a step is like, and what else there is to say of it in a word.
func (d *desk) stepWords(i int) []string {
	s := d.of(i)
	st := d.state(i)
	words := []string{d.word(i)}
	if l := d.lacks(i); l != nil {
		words = append(words, "will be skipped: uses "+clean(l.Reason()))
	} else if st.Pending() || st == asking {
		words = append(words, d.foretoldWord(i), d.real(i))
	}
	if st == undecided || st == confirm || st == outdated {
		if files := d.others.Of(d.plan, i); len(files) > 0 {
			words = append(words, clean(files[0].String()))
		}
	}
	if st.Pending() || st == asking {
		if s.Break {
			words = append(words, "breakpoint"+clean(s.BreakOn))
		}
		if i == d.nextStep() && d.run.Phase != events.Review {
			words = append(words, "next")
		}
	}
	if st == failed && s.HasRC {
		words = append(words, fmt.Sprintf("rc %d", s.RC))
	}
	if s.Attempt > 0 && s.State == events.Settled {
		words = append(words, lasted(s.Lasted(s.Ended)))
	}
	if s.Attempt > 1 {
		words = append(words, fmt.Sprintf("attempt %d", s.Attempt))
	}
	return words
}

// word is what a step is like. What is approved waits, once the run has begun.
func (d *desk) word(i int) string {
	st := d.state(i)
	s := d.of(i)
	switch {
	case st == waiting && d.run.Phase != events.Review:
		return "waiting"
	case (st == rescued || st == ignored) && d.broken(i):
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

// show says what a node is. Without a number it is the plan.
func (d *desk) show(args string) {
	if args == "" {
		d.showPart(0)
		return
	}
	n, why := d.oneNode(args)
	switch {
	case why != "":
		d.say("%s", why)
	case d.outline.nodes[n].step >= 0:
		d.showStep(int(d.outline.nodes[n].step))
	default:
		d.showPart(n)
	}
}

func (d *desk) showPart(n int) {
	var lines []string
	if n > 0 {
		lines = append(lines, d.entry(n))
		s := &d.plan.Scopes[d.outline.nodes[n].scope]
		if s.When != "" {
			lines = append(lines, "when: "+clean(s.When))
		}
		if s.Loop != "" {
			lines = append(lines, "loop: "+clean(s.Loop))
		}
		lines = append(lines, d.from(s.Origin)...)
	} else {
		lines = append(lines, sentence(d.outline.title(0), count(len(d.plan.Steps), "step"), d.counts()))
	}
	for _, b := range d.outline.unfolded(n) {
		lines = append(lines, d.entry(b))
	}
	d.list(lines)
}

func (d *desk) listAll(args string) {
	n := 0
	if args != "" {
		var why string
		if n, why = d.oneNode(args); why != "" {
			d.say("%s", why)
			return
		}
	}
	var lines []string
	for b := max(n, 1); b < n+int(d.outline.nodes[n].size); b++ {
		lines = append(lines, d.entry(b))
	}
	if len(lines) == 0 {
		d.say("the plan has no steps.")
		return
	}
	d.list(lines)
}

// next goes through what needs a person: what failed or asks, and if there is none, what is not approved.
func (d *desk) next(string) {
	for _, of := range [][]state{{failed, unreachable, asking, confirm, outdated}, {undecided}} {
		var lines []string
		for i := range d.plan.Steps {
			for _, s := range of {
				if d.state(i) == s {
					lines = append(lines, d.entry(int(d.outline.stepAt[i])))
				}
			}
		}
		if len(lines) > 0 {
			d.list(lines)
			return
		}
	}
	d.say("nothing needs attention.")
}

func (d *desk) find(args string) {
	if args == "" {
		d.say("find what? give a text.")
		return
	}
	var lines []string
	for n := 1; n < len(d.outline.nodes); n++ {
		if strings.Contains(strings.ToLower(d.outline.title(n)), strings.ToLower(args)) {
			lines = append(lines, d.entry(n))
		}
	}
	if len(lines) == 0 {
		d.say("nothing is called %s.", clean(args))
		return
	}
	d.list(lines)
}

// where says where the run is and what can be done.
func (d *desk) where(string) {
	t := d.tally(d.everything())
	switch d.run.Phase {
	case events.Review:
		d.say("REVIEW %s", sentence(clean(d.plan.RootFile), count(len(d.plan.Steps), "step"), t.words(undecided, waiting), asks(t[confirm]),
			t.words(excluded), d.lackingWords()))
		if words := d.foretold.words(); words != "" {
			d.say("predicted: %s.", words)
		}
		d.say("nothing has run. approve all, approve safe, approve N, run, step, show, help, quit.")
	case events.Running:
		if i := d.gate(); i >= 0 && d.run.Counts.Running == 0 {
			d.say("RUNNING. %s asks whether to continue: yes or no.", d.called(i))
			return
		}
		d.say("RUNNING. %s", d.progress())
	case events.Paused:
		d.say("%s", d.pausedWords())
		d.say("%s", sentence(fmt.Sprintf("%d of %d", t.done(), len(d.plan.Steps)-t[excluded]), t.words(failed, unreachable, undecided),
			asks(t[confirm])))
	case events.Ended:
		d.say("ENDED. %s nothing left to run. retry, next, editor, summary, quit.", sentence(d.counts()))
	case events.Done:
		d.say("%s. %s summary, output, diff, quit.", d.doneWord(), sentence(d.counts()))
	}
}

// progress is how far the run is, what runs, and how long it may take.
func (d *desk) progress() string {
	t := d.tally(d.everything())
	return sentence(fmt.Sprintf("%d of %d", t.done(), len(d.plan.Steps)-t[excluded]), t.words(failed, unreachable), d.runningNow(),
		d.timeLeft())
}

func (d *desk) timeLeft() string {
	if d.estimate == nil || d.stopping > 0 {
		return ""
	}
	left, known := d.estimate.Left(d.now())
	if !known {
		return ""
	}
	return about(left) + " left"
}

// runningNow names what runs.
func (d *desk) runningNow() string {
	const named = 3
	var parts []string
	n := 0
	for i := range min(len(d.run.Steps), len(d.plan.Steps)) {
		s := &d.run.Steps[i]
		if s.State != events.Active {
			continue
		}
		if n++; n > named {
			continue
		}
		words := d.called(i) + " is running"
		if t := lasted(s.Lasted(d.now())); t != "" {
			words += " for " + t
		}
		parts = append(parts, words)
	}
	if n > named {
		parts = append(parts, fmt.Sprintf("and %d more", n-named))
	}
	return strings.Join(parts, ", ")
}

func (d *desk) counts() string {
	t := d.tally(d.everything())
	return t.words(ends...)
}

// why says what a step waits for, or why it ended so.
func (d *desk) why(args string) {
	i, problem := d.oneStep(args)
	if problem != "" {
		d.say("%s", problem)
		return
	}
	s, p, called := d.of(i), &d.plan.Steps[i], d.called(i)
	switch st := d.state(i); {
	case s.State == events.Settled:
		d.say("%s: %s.", called, d.word(i))
		d.reasons(i)
	case st == excluded && p.Excluded:
		d.say("%s is excluded by tags or selection.", called)
	case st == excluded:
		d.say("%s was excluded by skip; restore %s takes that back.", called, d.outline.stepNumber(i))
	case st == asking:
		d.say("%s asks whether to continue: yes or no.", called)
	case st == running:
		d.say("%s is running.", called)
	case st == confirm:
		d.say("%s needs confirmation: %s approve %s confirms it.", called, sentence(clean(p.Confirm)), d.outline.stepNumber(i))
	case st == undecided:
		d.say("%s is not approved; approve %s lets it run.", called, d.outline.stepNumber(i))
	case d.run.Phase == events.Paused && d.run.PausedAt == i:
		d.say("%s", d.pausedWords())
	default:
		if words := d.waitWords(i); words != "" {
			d.say("%s", words)
			return
		}
		d.waitsSomehow(i)
	}
	if s.State != events.Settled {
		d.needs(p)
	}
}

// waitsSomehow is what can be seen of why a step waits, where the engine does not say it.
func (d *desk) waitsSomehow(i int) {
	switch called := d.called(i); {
	case d.run.Phase != events.Running:
		d.say("%s is waiting because the run is paused.", called)
	case d.run.Counts.Running > 0:
		d.say("%s is waiting for what comes before it: %s", called, sentence(d.runningNow()))
	default:
		d.say("%s is waiting for its turn.", called)
	}
}

func (d *desk) needs(p *plan.Step) {
	for _, need := range p.Needs {
		if need.Step >= 0 && need.Step < len(d.plan.Steps) {
			d.say("it needs %s (%s), which is %s.", d.called(need.Step), need.On, d.word(need.Step))
		}
	}
}

// reasons are why a step ended as it did.
func (d *desk) reasons(i int) {
	s := d.of(i)
	if s.Reason != "" {
		d.say("%s", sentence(clean(s.Reason)))
	}
	if s.Cause >= 0 && s.Cause < len(d.plan.Steps) && s.Outcome == events.Omitted {
		d.say("because of %s.", d.called(s.Cause))
	}
	if s.Error != "" {
		d.errorLines(s.Error, page)
	}
	if s.Drift != "" {
		d.say("drift: %s", sentence(clean(s.Drift)))
	}
}

// errorLines says the first line of an error, and the last of the others.
func (d *desk) errorLines(text string, most int) {
	head, rest := first(text)
	d.say("  %s", clean(head))
	for _, line := range rest[max(len(rest)-most, 0):] {
		d.say("  %s", clean(line))
	}
}

// summary is what the run came to so far.
func (d *desk) summary(string) {
	var lines []string
	words := d.counts()
	if words == "" {
		words = "nothing has run"
	}
	lines = append(lines, sentence(words))
	for i := range d.plan.Steps {
		s := d.of(i)
		switch d.state(i) {
		case failed, unreachable, ignored, rescued, outdated, cancelled:
			lines = append(lines, d.entry(int(d.outline.stepAt[i])))
			if s.Error != "" {
				head, _ := first(s.Error)
				lines = append(lines, "  "+clean(head))
			}
		case changed:
			line := d.called(i) + " changed"
			if s.Diff != nil {
				line += ": " + clean(strings.TrimSpace(string(s.Diff.Kind)+" "+s.Diff.Path+" "+s.Diff.Summary))
			}
			lines = append(lines, sentence(line))
		default:
		}
		if s.Drift != "" {
			lines = append(lines, "  drift: "+clean(s.Drift))
		}
	}
	d.list(append(append(lines, d.recap()...), d.overridesUsed()...))
}
