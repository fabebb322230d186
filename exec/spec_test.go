package exec_test

import (
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/spec"
)

// TestEveryActionIsDone compares what actions are declared to do with what they do.
func TestEveryActionIsDone(t *testing.T) {
	for _, a := range spec.All() {
		known, predicts, effect := exec.Known(a.Name)
		switch {
		case !known:
			t.Errorf("%s is declared, and nothing carries it out", a.Name)
		case predicts != (effect == ""):
			t.Errorf("%s has a plan and a fixed effect (%s), or neither", a.Name, effect)
		case a.Diff && !a.Check:
			t.Errorf("%s shows a difference and does not predict it", a.Name)
		case predicts && (!a.Check || a.Changes):
			t.Errorf("%s predicts what it does, and its declaration denies it", a.Name)
		case a.Check && !predicts && effect != events.ChangeNone && effect != events.ChangeCreate:
			t.Errorf("%s is declared to predict what it does, and does not", a.Name)
		}
	}
}
