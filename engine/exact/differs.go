package exact

import (
	"fmt"
	"strings"

	"moon/events"
)

// Differs says in words how what a step would do now is not what is expected of it, or "". A step that would fail now is not held back:
// it says best itself why it fails, and fails before it has done anything.
func Differs(e *events.Expectation, now *events.Prediction) string {
	if open(e) != "" || now.Away || now.Error != "" {
		return ""
	}
	was, is := effectOf(&e.Prediction), effectOf(now)
	if is.Kind == events.ChangeUnknown {
		return fmt.Sprintf("predicted to %s, but cannot be predicted now%s", inWords(&e.Prediction), because(is.Summary))
	}
	words := fmt.Sprintf("predicted to %s, but would now %s", inWords(&e.Prediction), inWords(now))
	switch {
	case was.Kind != is.Kind:
		return words
	case was.Kind == events.ChangeNone, e.Partly == events.PartlyNoLog:
		return ""
	case was.Path != is.Path:
		return fmt.Sprintf("predicted for %s, but would now be done to %s", was.Path, is.Path)
	case !events.SameSummary(was, is):
		return words
	case e.Text != digestOf(now.Diff.Text):
		return fmt.Sprintf("predicted to %s, but the text would now be different", inWords(&e.Prediction))
	case was.Digest != is.Digest:
		return fmt.Sprintf("predicted to %s, but the content that it would replace has changed since", inWords(&e.Prediction))
	}
	return ""
}

// effectOf is the change that a prediction comes to: a step that is skipped changes nothing.
func effectOf(f *events.Prediction) *events.Diff {
	if f.Skipped != "" || f.Diff.Kind == "" {
		return &events.Diff{Kind: events.ChangeNone}
	}
	return &f.Diff
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func inWords(f *events.Prediction) string {
	if f.Skipped != "" {
		return "be skipped (" + f.Skipped + ")"
	}
	if f.Diff.Kind == events.ChangeNone || f.Diff.Kind == "" {
		return "change nothing"
	}
	return f.Diff.Words()
}

// mostLines is how much of a diff is part of an error.
const mostLines = 40

// message is the error of a step that is not done because of how it differs: what was expected, what it would be now, and the diff of that.
func message(why string, now *events.Prediction) string {
	text := "drifted, and not done: " + why
	if now.Diff.Path != "" {
		text += ": " + now.Diff.Path
	}
	if now.Diff.Text == "" || effectOf(now) != &now.Diff {
		return text
	}
	lines := strings.Split(strings.TrimSuffix(now.Diff.Text, "\n"), "\n")
	if n := len(lines) - mostLines; n > 0 {
		lines = append(lines[:mostLines], fmt.Sprintf("… %d more lines", n))
	}
	return text + "\n" + strings.Join(lines, "\n")
}
