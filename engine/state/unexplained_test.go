package state

import (
	"slices"
	"testing"

	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/events/fact"
)

// A run that has left out steps for no reason has not succeeded.
func TestNothingIsLeftOutUnexplained(t *testing.T) {
	for _, c := range []struct {
		name    string
		missing fact.ValuesMissing
		want    events.RunOutcome
		left    []int
	}{
		{"skipped because of a value", fact.ValuesMissing{Step: 1, Skips: true}, events.RunDone, nil},
		{"not run, as earlier versions had it", fact.ValuesMissing{Step: 1}, events.RunFailed, []int{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := graphtest.NewPlan(3)
			b := newBench(t, p, chain(t, p), fact.Options{Forks: 1})
			b.start()
			b.end(0)
			b.add(c.missing)
			b.all()
			if b.run.Result.Outcome != c.want || !slices.Equal(b.s.tally().unexplained(), c.left) {
				t.Errorf("the run is %s, unexplained are %v; want %s and %v", b.run.Result.Outcome, b.s.tally().unexplained(), c.want, c.left)
			}
		})
	}
}

// A failure explains all that comes after it, and what a rescue has skipped.
func TestFailureExplains(t *testing.T) {
	p := graphtest.NewPlan(3)
	b := newBench(t, p, chain(t, p), fact.Options{Forks: 1, OnFailure: fact.Continue})
	b.outcome = func(int, int) events.Outcome { return events.Failed }
	b.all()
	if left := b.s.tally().unexplained(); left != nil || b.s.counts.Omitted != 2 {
		t.Errorf("unexplained are %v of %d", left, b.s.counts.Omitted)
	}
}
