package engine

import (
	"testing"
	"time"

	"moon/events"
	"moon/events/fact"
	"moon/exec/fault"
	"moon/plan"
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
		p := planOf(1)
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

func TestBackoff(t *testing.T) {
	p := planOf(200)
	p.Steps[0].Retry = plan.Retry{Max: 1, Delay: 5 * time.Second}
	s := &Session{id: "run", state: NewState(p, chain(t, p), nil)}
	if got := s.backoff(0, 2); got != 5*time.Second {
		t.Errorf("with a delay of its own: %s", got)
	}
	for attempt, base := range map[int]time.Duration{2: time.Second, 3: 2 * time.Second, 4: 4 * time.Second} {
		least, most := time.Hour, time.Duration(0)
		for step := 1; step < 200; step++ {
			d := s.backoff(step, attempt)
			least, most = min(least, d), max(most, d)
		}
		if least < base/2 || most >= base*3/2 || most-least < base/2 {
			t.Errorf("before attempt %d: %s to %s", attempt, least, most)
		}
	}
	if first, again := s.backoff(7, 2), s.backoff(7, 2); first != again {
		t.Errorf("it is another time each time: %s, %s", first, again)
	}
}
