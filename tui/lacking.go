package tui

import (
	"moon/events"
	"moon/plan"
)

// lackNote is the note of its row.
func lackNote(l *plan.Missing) string {
	if len(l.Steps) == 0 {
		return "will skip"
	}
	return "will skip: uses " + events.StepID(l.Steps[0])
}
