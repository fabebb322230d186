package engine

import (
	"testing"
	"time"

	"moon/engine/graph"
	"moon/engine/graph/graphtest"
	"moon/engine/state"
	"moon/plan"
)

func TestBackoff(t *testing.T) {
	p := graphtest.NewPlan(200)
	g, err := graph.Build(p)
	if err != nil {
		t.Fatal(err)
	}
	p.Steps[0].Retry = plan.Retry{Max: 1, Delay: 5 * time.Second}
	s := &attempts{}
	s.id, s.state = "run", state.New(p, g, nil)
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
