package state

import (
	"math/rand/v2"
	"testing"

	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/events/fact"
)

// TestGivenUpStaysGivenUp skips a failed step, lets moon die, and resumes: a person has decided about that step.
func TestGivenUpStaysGivenUp(t *testing.T) {
	p := graphtest.NewPlan(3)
	g := chain(t, p)
	b := newBench(t, p, g, fact.Options{BreakOnFailure: true})
	b.outcome = func(step, _ int) events.Outcome {
		return []events.Outcome{events.Failed, events.OK, events.OK}[step]
	}
	b.all()
	b.send(events.Skip{Step: 0})
	b.crash(rand.New(rand.NewPCG(1, 1)), p, g)
	b.all()
	if n := b.s.node(0); n.outcome != events.Skipped || n.attempt != 1 {
		t.Errorf("the step that was given up is %s after the resume, with %d attempts", n.outcome, n.attempt)
	}
	if n := b.s.node(2); n.outcome != events.OK {
		t.Errorf("the last step is %s", n.outcome)
	}
}
