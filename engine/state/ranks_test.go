package state

import (
	"testing"
	"time"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// wide is a graph of n steps with nearly three edges each, in layers of a hundred.
func wide(tb testing.TB, n int) (*plan.Plan, func() *graph.Graph) {
	tb.Helper()
	p := planOf(n)
	return p, func() *graph.Graph {
		gb := graph.NewBuilder(n)
		for i := range n {
			var edges []graph.Edge
			for k := range 3 {
				if from := i - 100 + k*7; from >= 0 && from < i {
					edges = append(edges, graph.Edge{From: graph.ID(from), On: events.OnSuccess})
				}
			}
			gb.Node(graph.Node{Step: int32(i), Pool: -1}, edges)
		}
		g, err := gb.Graph()
		if err != nil {
			tb.Fatal(err)
		}
		return g
	}
}

const wideSteps = 100_000

// BenchmarkSchedule has the state decide about 100,000 steps that take no time, with the ranks of their durations.
func BenchmarkSchedule(b *testing.B) {
	p, graphOf := wide(b, wideSteps)
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
