package state

import (
	"testing"
	"time"

	"moon/engine/graph"
	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// BenchmarkSchedule has the state decide about 100,000 steps that take no time, with the ranks of their durations.
func BenchmarkSchedule(b *testing.B) {
	p, graphOf := graphtest.NewWide(b, graphtest.Wide)
	g := graphOf()
	best := time.Hour
	for b.Loop() {
		s := New(p, g, nil)
		s.Prefer(func(_ *plan.Plan, g *graph.Graph) []int64 {
			return g.Ranks(func(step int) int64 { return int64(step%977+99) / 100 })
		})
		now := time.Unix(1_000_000, 0)
		apply := func(f fact.Fact) {
			if err := s.Apply(fact.Record{At: now, Fact: f}); err != nil {
				b.Fatal(err)
			}
		}
		began := time.Now()
		apply(fact.RunCreated{Options: fact.Options{Forks: 8, OnFailure: fact.Drain}, Total: len(p.Steps)})
		apply(fact.RunStarted{})
		for over := false; !over; {
			switch next := s.decider().next(now).(type) {
			case Start:
				apply(fact.AttemptStarted{Step: next.Step, Attempt: next.Attempt})
				apply(fact.AttemptFinished{Step: next.Step, Attempt: next.Attempt, Outcome: events.OK})
			case Finish:
				over = true
			default:
				b.Fatalf("%T", next)
			}
		}
		best = min(best, time.Since(began))
	}
	b.ReportMetric(best.Seconds()*1000, "best-ms")
}
