package predicted

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/plan"
	"moon/tui/status"
)

// KeptPartly says what of a kept prediction is not kept.
func KeptPartly(e *events.Expectation) []string {
	switch {
	case e == nil:
		return nil
	case e.Partly == events.PartlyNoLog:
		return []string{"kept without details (no_log)"}
	case e.Partly == events.PartlySecrets:
		return []string{"kept with its secrets masked"}
	}
	return nil
}

// Lines are what is printed below a step.
func Lines(p *plan.Plan, f *events.Prediction) []string {
	if f.Away {
		return []string{"not reached"}
	}
	if f.Error != "" {
		return strings.Split("would fail: "+f.Error, "\n")
	}
	if f.Skipped != "" {
		return []string{"would be skipped: " + status.WhySkipped(f.Skipped)}
	}
	word := "would " + string(f.Diff.Kind)
	switch f.Diff.Kind {
	case events.ChangeNone:
		word = "no change"
	case events.ChangeUnknown:
		word = "unpredictable"
		if p.Steps[f.Step].Open() {
			word = "stays open"
		}
	case events.ChangeCreate, events.ChangeUpdate, events.ChangeDelete: // the kind is the word
	}
	if f.Maybe {
		word += ", if it is not skipped"
	}
	word += causes[f.Cause]
	if f.Diff.Summary != "" {
		word += ": " + f.Diff.Summary
	}
	lines := []string{word}
	if f.Diff.Text != "" {
		for line := range strings.SplitSeq(strings.TrimSuffix(f.Diff.Text, "\n"), "\n") {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

// NotReached says of each host that was not reached why, once for all its steps, and not again where the facts of a host could not
// be had, which is a warning of the plan.
func NotReached(p *plan.Plan, all []*events.Prediction) string {
	var text strings.Builder
	said := map[string]bool{}
	// The plan has warned of these hosts already.
	for _, u := range p.Unreached {
		said[u.Host] = true
	}
	for _, f := range all {
		if f == nil || !f.Away || said[p.Steps[f.Step].Host] {
			continue
		}
		said[p.Steps[f.Step].Host] = true
		fmt.Fprintf(&text, "%s\n", strings.ReplaceAll(strings.TrimSpace(f.Error), "\n", "\n  "))
	}
	return text.String()
}

// Counts is one line about all of it.
func Counts(p *plan.Plan, all []*events.Prediction) string {
	kinds, skipped, failed, away, open := map[events.ChangeKind]int{}, 0, 0, 0, 0
	// Each step counts once. A host that is not reached comes first, because the error is only its reason.
	for _, f := range all {
		switch {
		case f == nil:
		case f.Away:
			away++
		case f.Error != "":
			failed++
		case f.Skipped != "":
			skipped++
		case p.Steps[f.Step].Open():
			open++
		default:
			kinds[f.Diff.Kind]++
		}
	}
	var words []string
	for _, k := range []struct {
		n    int
		text string
	}{
		{kinds[events.ChangeCreate], "%d to create"},
		{kinds[events.ChangeUpdate], "%d to update"},
		{kinds[events.ChangeDelete], "%d to delete"},
		{kinds[events.ChangeNone], "%d unchanged"},
		{skipped, "%d to skip"},
		{kinds[events.ChangeUnknown], "%d unpredictable"},
		{open, "%d open"},
		{failed, "%d that would fail"},
		{away, "%d not reached"},
	} {
		if k.n > 0 {
			words = append(words, fmt.Sprintf(k.text, k.n))
		}
	}
	if len(words) == 0 {
		return "predicted: nothing would run"
	}
	return "predicted: " + strings.Join(words, ", ")
}

// causes say why what earlier runs have made would be changed.
var causes = map[events.DriftCause]string{
	events.Drifted:       " (drifted since the last run)",
	events.Edited:        " (edited in the playbook since the last run)",
	events.DriftedEdited: " (edited in the playbook, and drifted, since the last run)",
}
