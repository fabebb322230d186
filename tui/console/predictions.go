package console

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/tui/status"
)

// predictedCounts are how many steps would do what, in words.
func (c *titles) predictedCounts() string {
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

// predictedWord is the one word about what a step would do.
func (c *titles) predictedWord(i int) string {
	f := c.predictionOf(i)
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
func (c *titles) predictedWords(i int) string {
	f := c.predictionOf(i)
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
