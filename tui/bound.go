package tui

import (
	"moon/events"
	"moon/tui/status"
)

// whenKnown says what a value waits for: the steps that will give it. Of those that have ended it says what became of them.
func (m *view) whenKnown(steps []int) string {
	switch from := m.Position().SourcesOf(steps); {
	case len(from.Pending) > 0:
		return "known after " + m.stepNames(from.Pending)
	case len(from.Gone) > 0:
		return "has no value: " + m.stepName(from.Gone[0]) + " " + status.Fate(m.Tree.Faces[from.Gone[0]])
	case len(from.Given) > 0 && !m.IsRecorded():
		return "given by " + m.stepNames(from.Given)
	case len(from.Given) > 0:
		return "was given by " + m.stepNames(from.Given)
	case m.Shot.Phase != events.Review:
		return "known when the step starts"
	}
	return "known after " + m.stepNames(steps)
}
