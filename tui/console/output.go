package console

import (
	"strconv"
	"strings"

	"moon/events"
	"moon/events/steplog"
)

// outputs says what steps printed and changed.
type outputs struct {
	*speaker
	*reporter
	find   *finder
	follow *follow
	outDir func() string // nil: no output is kept
}

// sayOutput says the last lines that a step printed.
func (c *outputs) sayOutput(args string) {
	which, most := splitCount(args)
	which, attempt := splitAttempt(which)
	i, why := c.find.oneStep(which)
	if why != "" {
		c.say("%s", why)
		return
	}
	s, p := c.stepAt(i), &c.plan.Steps[i]
	switch {
	case s.Message != "" && attempt == 0:
		c.sayList(cleanLines(strings.Split(strings.TrimSuffix(s.Message, "\n"), "\n")))
		return
	case p.NoLog:
		c.say("its output is not kept: no_log.")
		return
	case s.Attempt == 0:
		c.say("%s has not run.", c.called(i))
		return
	case len(s.Out) == 0 || c.outDir == nil:
		c.say("%s printed nothing.", c.called(i))
		return
	}
	// Attempts count from 1; without a number it is the last one, which alone may still be printing.
	of := len(s.Out)
	switch {
	case attempt > of:
		c.say("%s has had %s.", c.called(i), count(of, "attempt"))
		return
	case attempt == 0:
		attempt = of
	}
	if of > 1 {
		c.say("attempt %d of %d of %s:", attempt, of, c.called(i))
	}
	lines, total, err := readTail(c.outDir(), s.Out[attempt-1], most)
	settled := s.State == events.Settled || attempt < of
	switch {
	case err != nil:
		c.say("the output cannot be read: %s", sentence(clean(err.Error())))
	case total == 0 && settled:
		c.say("%s printed nothing.", c.called(i))
	case total == 0:
		c.say("%s has printed nothing yet.", c.called(i))
	default:
		if len(lines) < total {
			c.say("the last %d of %s of %s:", len(lines), count(total, "line"), c.called(i))
		}
		c.sayList(lines)
	}
}

// splitCount takes a number of lines off the end: output 2.1 50, output 2.1 all. A number alone names a step.
func splitCount(args string) (which string, most int) {
	words := strings.Fields(args)
	if n := len(words); n > 0 && words[n-1] == "all" {
		return strings.Join(words[:n-1], " "), 1 << 30
	}
	if n := len(words); n > 1 && words[n-2] != "attempt" {
		if lines, err := strconv.Atoi(words[n-1]); err == nil && lines > 0 {
			return strings.Join(words[:n-1], " "), lines
		}
	}
	return args, page
}

// splitAttempt takes an attempt off the end: output 2.1 attempt 1. 0: the last one.
func splitAttempt(args string) (which string, attempt int) {
	words := strings.Fields(args)
	if n := len(words); n > 1 && words[n-2] == "attempt" {
		if k, err := strconv.Atoi(words[n-1]); err == nil && k > 0 {
			return strings.Join(words[:n-2], " "), k
		}
	}
	return args, 0
}

// readTail reads the last lines of an attempt's output.
func readTail(dir, prefix string, most int) (lines []string, total int, err error) {
	log := steplog.Open(dir, prefix)
	defer log.Close() //nolint:errcheck // only read
	// A refresh reads a few MiB at most, for screens that must not wait.
	for again := true; again; again = log.More() {
		if _, err := log.Refresh(); err != nil {
			return nil, 0, err
		}
	}
	total = log.Len()
	for i := max(total-most, 0); i < total; i++ {
		lines = append(lines, clean(string(log.Line(i).Text)))
	}
	return lines, total, nil
}

// sayDiff says what a step changed, or would change.
func (c *outputs) sayDiff(args string) {
	i, why := c.find.oneStep(args)
	if why != "" {
		c.say("%s", why)
		return
	}
	s, f := c.stepAt(i), c.predictionOf(i)
	diff := s.Diff
	var lines []string
	// Once a step has run, what was predicted of it is not what it did.
	if diff == nil && s.Attempt == 0 {
		switch {
		case f == nil && c.sources.PredictAll != nil && c.predicted.Busy():
			c.say("what %s would do is still being predicted; ask again.", c.called(i))
			return
		case f == nil || f.Diff.Kind == "" && f.Error == "" && f.Skipped == "":
			c.say("unknown until it runs.")
			return
		case f.Error != "" || f.Skipped != "" || f.Diff.Kind == events.ChangeUnknown:
			c.say("%s", sentence(clean(c.predictedWords(i))))
			return
		}
		diff = &f.Diff
		lines = append(lines, "preview, not applied yet.")
	}
	if diff == nil {
		c.say("no change was recorded.")
		return
	}
	head := kindWord(diff.Kind)
	if diff.Path != "" {
		head += " " + clean(diff.Path)
	}
	lines = append(lines, sentence(strings.TrimSpace(head), clean(diff.Summary)))
	if diff.Text != "" {
		lines = append(lines, diffLines(diff.Text)...)
	}
	c.sayList(lines)
}

func (c *outputs) followOutput(args string) {
	switch strings.ToLower(args) {
	case "on":
		c.follow.on = true
		// Steps that run already have begun without being followed.
		for i := range min(len(c.run.Steps), len(c.plan.Steps)) {
			if c.run.Steps[i].State == events.Active {
				c.follow.beginStep(i)
			}
		}
		c.say("output of steps is said as it comes.")
	case "off":
		c.follow.on = false
		for i := range c.follow.of {
			c.follow.closeStep(i)
		}
		c.say("output of steps is not said; output N says it.")
	default:
		c.say("follow on or follow off.")
	}
}
