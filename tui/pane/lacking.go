package pane

import (
	"moon/events"
	"moon/plan"
)

// LackNote is the note of its row.
func LackNote(l *plan.Missing) string {
	if len(l.Steps) == 0 {
		return "will skip"
	}
	return "will skip: uses " + events.StepID(l.Steps[0])
}
