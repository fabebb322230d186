package known

import (
	"testing"

	"moon/events"
)

// Before the next attempt the output is that of the last.
func TestOutputBetweenAttempts(t *testing.T) {
	of := events.Step{State: events.Backoff, Out: []string{"step-0001.1", "step-0001.2"}}
	if got := outsOf(&of); len(got) != 1 || got[0] != "step-0001.1" {
		t.Errorf("waiting: %q", got)
	}
	of.State = events.Active
	if got := outsOf(&of); len(got) != 2 {
		t.Errorf("running: %q", got)
	}
}
