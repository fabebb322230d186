package durations

import (
	"slices"
	"testing"
	"time"

	"moon/engine/graph"
	"moon/engine/graph/graphtest"
	"moon/events"
)

// TestRanks compares the ranks of a small graph with what they are by hand:
//
//	0 ─▶ 1 ─▶ 3      2 ─▶ 3      4 alone
func TestRanks(t *testing.T) {
	p := graphtest.NewPlan(5)
	gb := graph.NewBuilder(5)
	step := func(i int, from ...graph.ID) graph.ID {
		edges := make([]graph.Edge, len(from))
		for k, f := range from {
			edges[k] = graph.Edge{From: f, On: events.OnSuccess}
		}
		return gb.Node(graph.Node{Step: int32(i), Pool: -1}, edges)
	}
	n0 := step(0)
	n1 := step(1, n0)
	n2 := step(2)
	n3 := step(3, gb.Node(graph.Node{Kind: graph.Barrier, Step: -1, Label: "b", Pool: -1}, []graph.Edge{{From: n1, On: events.OnSuccess}, {From: n2, On: events.OnSuccess}}))
	n4 := step(4)
	g, err := gb.Graph()
	if err != nil {
		t.Fatal(err)
	}
	of := func(d Steps) (got []int64) {
		exact := Steps{}
		for key, tenths := range d {
			exact[key] = tenths*rankGrain - 3*time.Millisecond // which make no difference
		}
		rank := Ranks(p, g, exact)
		for _, n := range []graph.ID{n0, n1, n2, n3, n4} {
			got = append(got, rank[n])
		}
		return got
	}
	key := func(i int) string { return keyOf(&p.Steps[i]) }
	for _, c := range []struct {
		name string
		d    Steps
		out  int // a step that is left out
		want []int64
	}{
		{"nothing known", nil, -1, []int64{3, 2, 2, 1, 1}},
		{"of other steps", Steps{"other": 7}, -1, []int64{3, 2, 2, 1, 1}},
		{"all known", Steps{key(0): 1, key(1): 2, key(2): 50, key(3): 10, key(4): 70}, -1, []int64{13, 12, 60, 10, 70}},
		{"the median of 5, 6 and 40", Steps{key(0): 5, key(1): 6, key(4): 40}, -1, []int64{17, 12, 12, 6, 40}},
		{"one left out", Steps{key(0): 1, key(1): 2, key(2): 50, key(3): 10, key(4): 70}, 2, []int64{13, 12, 10, 10, 70}},
	} {
		if c.out >= 0 {
			p.Steps[c.out].Excluded = true
		}
		if got := of(c.d); !slices.Equal(got, c.want) {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// BenchmarkGraph builds a graph of 100,000 nodes and 300,000 edges and ranks it by durations.
func BenchmarkGraph(b *testing.B) {
	p, graphOf := graphtest.NewWide(b, graphtest.Wide)
	d := Steps{}
	for i := range p.Steps {
		d[keyOf(&p.Steps[i])] = time.Duration(i%977) * time.Millisecond
	}
	best := time.Hour
	for b.Loop() {
		began := time.Now()
		g := graphOf()
		if len(Ranks(p, g, d)) != graphtest.Wide {
			b.Fatal("not all have a rank")
		}
		best = min(best, time.Since(began))
	}
	b.ReportMetric(best.Seconds()*1000, "best-ms")
}
