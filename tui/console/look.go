package console

import (
	"fmt"
	"slices"
	"strings"

	"moon/events"
	"moon/plan"
)

// viewer answers what is asked about the plan and the run.
type viewer struct {
	*speaker
	*reporter
	find *finder
	past *past
}

// showNode says what a node is. Without a number it is the plan.
func (c *viewer) showNode(args string) {
	if args == "" {
		c.showPart(0)
		return
	}
	n, why := c.find.oneNode(args)
	switch {
	case why != "":
		c.say("%s", why)
	case c.outline.nodes[n].step >= 0:
		c.showStep(int(c.outline.nodes[n].step))
	default:
		c.showPart(n)
	}
}

func (c *viewer) showPart(n int) {
	var lines []string
	if n > 0 {
		lines = append(lines, c.entryLine(n))
		s := &c.plan.Scopes[c.outline.nodes[n].scope]
		if s.When != "" {
			lines = append(lines, "when: "+clean(s.When))
		}
		if s.Loop != "" {
			lines = append(lines, "loop: "+clean(s.Loop))
		}
		lines = append(lines, c.originLines(s.Origin)...)
	} else {
		lines = append(lines, sentence(c.outline.titleOf(0), count(len(c.plan.Steps), "step"), c.countsWords()))
	}
	for _, b := range c.outline.unfoldBelow(n) {
		lines = append(lines, c.entryLine(b))
	}
	c.sayList(lines)
}

func (c *viewer) listAll(args string) {
	n := 0
	if args != "" {
		var why string
		if n, why = c.find.oneNode(args); why != "" {
			c.say("%s", why)
			return
		}
	}
	var lines []string
	// The playbook itself has no number.
	for b := max(n, 1); b < n+int(c.outline.nodes[n].size); b++ {
		lines = append(lines, c.entryLine(b))
	}
	if len(lines) == 0 {
		c.say("the plan has no steps.")
		return
	}
	c.sayList(lines)
}

// goToAttention goes through what needs a person: what failed or asks, and if there is none, what is not approved.
func (c *viewer) goToAttention(string) {
	// What is not approved comes second, as in review that would be everything.
	for _, of := range [][]state{{failed, unreachable, asking, confirm, outdated}, {undecided}} {
		var lines []string
		for i := range c.plan.Steps {
			for _, s := range of {
				if c.State(i) == s {
					lines = append(lines, c.entryLine(int(c.outline.nodeOf[i])))
				}
			}
		}
		if len(lines) > 0 {
			c.sayList(lines)
			return
		}
	}
	c.say("nothing needs attention.")
}

func (c *viewer) findText(args string) {
	if args == "" {
		c.say("find what? give a text.")
		return
	}
	var lines []string
	for n := 1; n < len(c.outline.nodes); n++ {
		if strings.Contains(strings.ToLower(c.outline.titleOf(n)), strings.ToLower(args)) {
			lines = append(lines, c.entryLine(n))
		}
	}
	if len(lines) == 0 {
		c.say("nothing is called %s.", clean(args))
		return
	}
	c.sayList(lines)
}

// sayWhere says where the run is and what can be done.
func (c *viewer) sayWhere(string) {
	t := c.position().Counts()
	switch c.run.Phase {
	case events.Review:
		c.say("REVIEW %s", sentence(clean(c.plan.RootFile), count(len(c.plan.Steps), "step"), tallied(&t, undecided, waiting), asksWords(t.Sum(confirm)),
			tallied(&t, excluded), c.lackingWords()))
		if words := c.predictedCounts(); words != "" {
			c.say("predicted: %s.", words)
		}
		c.say("nothing has run. approve all, approve safe, approve N, run, step, show, help, quit.")
	case events.Running:
		if i := c.position().Gate(); i >= 0 && c.run.Counts.Running == 0 {
			c.say("RUNNING. %s asks whether to continue: yes or no.", c.called(i))
			return
		}
		c.say("RUNNING. %s", c.progressWords())
	case events.Paused:
		c.say("%s", c.pausedWords())
		c.say("%s", sentence(fmt.Sprintf("%d of %d", t.Done(), t.Total()), tallied(&t, failed, unreachable, undecided),
			asksWords(t.Sum(confirm))))
	case events.Ended:
		c.say("ENDED. %s nothing left to run. retry, next, editor, summary, quit.", sentence(c.countsWords()))
	case events.Done:
		c.say("%s. %s summary, output, diff, quit.", c.doneWord(), sentence(c.countsWords()))
	}
}

// sayWhy says what a step waits for, or why it ended so.
func (c *viewer) sayWhy(args string) {
	i, problem := c.find.oneStep(args)
	if problem != "" {
		c.say("%s", problem)
		return
	}
	s, p, called := c.stepAt(i), &c.plan.Steps[i], c.called(i)
	switch st := c.State(i); {
	case s.State == events.Settled:
		c.say("%s: %s.", called, c.stateWord(i))
		c.sayReasons(i)
	case st == excluded && p.Excluded:
		c.say("%s is excluded by tags or selection.", called)
	case st == excluded:
		c.say("%s was excluded by skip; restore %s takes that back.", called, c.outline.stepNumber(i))
	case st == asking:
		c.say("%s asks whether to continue: yes or no.", called)
	case st == running:
		c.say("%s is running.", called)
	case st == confirm:
		c.say("%s needs confirmation: %s approve %s confirms it.", called, sentence(clean(p.Confirm)), c.outline.stepNumber(i))
	case st == undecided:
		c.say("%s is not approved; approve %s lets it run.", called, c.outline.stepNumber(i))
	case c.run.Phase == events.Paused && c.run.PausedAt == i:
		c.say("%s", c.pausedWords())
	default:
		// The engine knows; what can be seen from here is the last resort.
		if words := c.waitWords(i); words != "" {
			c.say("%s", words)
			return
		}
		c.waitsSomehow(i)
	}
	if s.State != events.Settled {
		c.sayNeeds(p)
	}
}

// waitsSomehow is what can be seen of why a step waits, where the engine does not say it.
func (c *viewer) waitsSomehow(i int) {
	switch called := c.called(i); {
	case c.run.Phase != events.Running:
		c.say("%s is waiting because the run is paused.", called)
	case c.run.Counts.Running > 0:
		c.say("%s is waiting for what comes before it: %s", called, sentence(c.runningNow()))
	default:
		c.say("%s is waiting for its turn.", called)
	}
}

func (c *viewer) sayNeeds(p *plan.Step) {
	for _, need := range c.plan.NeedsOf(p.Index) {
		if need.Scope > 0 {
			c.say("it needs %s (%s).", c.needName(need), need.On)
			continue
		}
		c.say("it needs %s (%s), which is %s.", c.called(need.Step), need.On, c.stateWord(need.Step))
	}
}

// sayReasons are why a step ended as it did.
func (c *viewer) sayReasons(i int) {
	s := c.stepAt(i)
	if s.Reason != "" {
		c.say("%s", sentence(clean(s.Reason)))
	}
	if s.Cause >= 0 && s.Cause < len(c.plan.Steps) && s.Outcome == events.Omitted {
		c.say("because of %s.", c.called(s.Cause))
	}
	if s.Error != "" {
		c.errorLines(s.Error, page)
	}
	if s.Drift != "" {
		c.say("drift: %s", sentence(clean(s.Drift)))
	}
}

// sumUp returns what the run came to so far.
func (c *viewer) sumUp(string) {
	var lines []string
	words := c.countsWords()
	if words == "" {
		words = "nothing has run"
	}
	lines = append(lines, sentence(words))
	for i := range c.plan.Steps {
		s := c.stepAt(i)
		switch c.State(i) {
		case failed, unreachable, ignored, rescued, outdated, cancelled:
			lines = append(lines, c.entryLine(int(c.outline.nodeOf[i])))
			if s.Error != "" {
				head, _ := firstLine(s.Error)
				lines = append(lines, "  "+clean(head))
			}
		case changed:
			line := c.called(i) + " changed"
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
	c.sayList(append(append(lines, c.recapHosts()...), c.overridesUsed()...))
}

// listEvents lists what has happened, oldest first.
func (c *viewer) listEvents(args string) {
	r := c.position().Everything()
	if args != "" {
		n, why := c.find.oneNode(args)
		if why != "" {
			c.say("%s", why)
			return
		}
		r = c.outline.rangeOf(n)
	}
	const most = 200
	var lines []string
	for k := range c.past.ring {
		// From the latest back, so that the limit drops the oldest.
		h := c.past.ring[(c.past.next+len(c.past.ring)-1-k)%len(c.past.ring)]
		if args != "" && !r.Has(h.step) {
			continue
		}
		line := clockText(h.at) + " " + h.text
		if h.step >= 0 && h.step < len(c.plan.Steps) {
			line = clockText(h.at) + " " + c.called(h.step) + ": " + h.text
		}
		if lines = append(lines, sentence(line)); len(lines) == most {
			break
		}
	}
	if len(lines) == 0 {
		c.say("no events yet.")
		return
	}
	slices.Reverse(lines)
	c.sayList(lines)
}
