package state

import (
	"testing"
	"time"

	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/events/fact"
	"moon/exec/fault"
)

// TestTransientErrorsAreTriedAgain counts the attempts of a step, by the class of its error and by what it asks for.
func TestTransientErrorsAreTriedAgain(t *testing.T) {
	for _, tc := range []struct {
		retries  int
		class    string
		attempts int
	}{
		{0, fault.Transient, 4}, {0, fault.Fatal, 1}, {0, "", 1}, {1, fault.Transient, 2}, {2, fault.Fatal, 3}, {2, "", 3},
	} {
		p := graphtest.NewPlan(1)
		p.Steps[0].Retry.Max = tc.retries
		b := newBench(t, p, chain(t, p), fact.Options{})
		b.outcome = func(int, int) events.Outcome { return events.Failed }
		b.class = tc.class
		b.all()
		if got := int(b.s.node(0).attempt); got != tc.attempts {
			t.Errorf("retries %d, class %q: %d attempts, want %d", tc.retries, tc.class, got, tc.attempts)
		}
	}
}

// A step that is to be tried again waits until its attempt starts, also if that is due at once and the run is paused, and runs from then
// on, however long it had to wait.
func TestViewKnowsWhenAnotherAttemptRuns(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Second} {
		p := graphtest.NewPlan(2)
		p.Steps[0].Retry.Max = 1
		b := newBench(t, p, chain(t, p), fact.Options{})
		b.outcome = func(_, attempt int) events.Outcome {
			return map[bool]events.Outcome{true: events.OK, false: events.Failed}[attempt == 2]
		}
		b.start()
		b.send(events.Pause{})
		b.end(0)
		b.add(fact.RetryScheduled{Step: 0, Attempt: 2, Due: b.now.Add(delay)})
		b.now = b.now.Add(delay)
		b.start()
		if got := b.run.Steps[0].State; got != events.Backoff || b.run.Counts.Running != 0 {
			t.Errorf("after %s, paused before its second attempt: state %d, %d running", delay, got, b.run.Counts.Running)
		}
		b.send(events.Continue{})
		b.start()
		if got := b.run.Steps[0].State; got != events.Active || b.run.Counts.Running != 1 || b.run.Steps[0].Attempt != 2 {
			t.Errorf("after %s, in its second attempt: state %d, %d running", delay, got, b.run.Counts.Running)
		}
		b.all()
		if b.run.Steps[0].Outcome != events.OK || b.run.Counts.Running != 0 {
			t.Errorf("%+v", b.run.Steps[0])
		}
	}
}
