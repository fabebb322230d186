package console

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/tui/status"
)

// predictAll keeps the predictions up with the run.
func (d *knownRun) predictAll() {
	d.predicted.Follow(d.position(), d.sources.PredictAll, func(do func()) { do() }, func() {
		if d.predicted.Busy() { // they are said together
			return
		}
		select {
		case d.predictedAll <- struct{}{}:
		default:
		}
	})
}

// prediction is what a step would do, as far as it is known by now.
func (d *knownRun) prediction(i int) *events.Foretold { return d.predicted.Now(i, d.position()) }

// predictedCounts are how many steps would do what, in words.
func (c *reporter) predictedCounts() string {
	counts := c.predicted.Counts()
	var parts []string
	for _, k := range []struct {
		n    int
		word string
	}{
		{counts.Fail, "would fail"},
		{counts.Away, "not reached"},
		{counts.Create, "create"},
		{counts.Update, "update"},
		{counts.Delete, "delete"},
		{counts.Same, "no change"},
	} {
		if k.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", k.n, k.word))
		}
	}
	return strings.Join(parts, ", ")
}

// sayPredicted says once what is predicted, to a person: a script asks for it.
func (c *announcer) sayPredicted() {
	if !c.person || c.run.Phase != events.Review || c.predicted.Busy() {
		return
	}
	if words := c.predictedCounts(); words != "" && words != c.toldPredicted {
		c.toldPredicted = words
		c.say("predicted: %s. show N says more.", words)
	}
}

// predictedWord is the one word about what a step would do.
func (c *reporter) predictedWord(i int) string {
	f := c.prediction(i)
	switch {
	case f == nil:
		return ""
	case f.Away:
		return "not reached"
	case f.Error != "":
		return "would fail"
	case f.Skipped != "":
		return "would be skipped"
	}
	word := kindWord(f.Diff.Kind)
	if f.Maybe && word != "" {
		word = "perhaps " + word
	}
	return word
}

func kindWord(k events.ChangeKind) string {
	switch k {
	case events.ChangeNone:
		return "no change"
	case events.ChangeCreate, events.ChangeUpdate, events.ChangeDelete:
		return string(k)
	case events.ChangeUnknown:
	}
	return ""
}

// predictedWords says it whole.
func (c *reporter) predictedWords(i int) string {
	f := c.prediction(i)
	word := c.predictedWord(i)
	switch {
	case f == nil:
		return ""
	case f.Error != "":
		return word + ": " + f.Error
	case f.Skipped != "":
		return word + ": " + status.WhySkipped(f.Skipped)
	case word == "" && f.Diff.Kind == events.ChangeUnknown:
		word = "unpredictable"
	}
	return strings.TrimSuffix(word+": "+f.Diff.Summary, ": ")
}
