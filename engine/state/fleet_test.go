package state

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
	"moon/plan/planner"
)

// fleet is the plan of so many tasks for so many hosts: with a block that has a rescue, a handler, a task that runs on one host
// for all and a loop, if there are that many.
func fleet(tb testing.TB, tasks, hosts int) *plan.Plan {
	tb.Helper()
	var site strings.Builder
	site.WriteString("- hosts: all\n  gather_facts: false\n  handlers:\n    - {name: restart, command: 'true'}\n  tasks:\n")
	for i := range tasks {
		switch i % 10 {
		case 3:
			fmt.Fprintf(&site, "    - block:\n        - {name: task %[1]d, command: 'true'}\n      rescue:\n        - {name: rescue %[1]d, command: 'true'}\n      always:\n        - {name: always %[1]d, command: 'true'}\n", i)
		case 5:
			fmt.Fprintf(&site, "    - {name: task %d, command: 'true', run_once: true, register: r%d}\n", i, i)
		case 7:
			fmt.Fprintf(&site, "    - {name: task %d, command: 'true', loop: [a, b]}\n", i)
		default:
			fmt.Fprintf(&site, "    - {name: task %d, command: 'true', notify: restart}\n", i)
		}
	}
	dir := tb.TempDir()
	for name, text := range map[string]string{"site.yml": site.String(), "hosts.ini": fmt.Sprintf("h[0001:%04d]\n", hosts)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	p, ds := planner.New(plan.Options{
		Path: filepath.Join(dir, "site.yml"), Dir: dir,
		Hosts: plan.HostSelection{Inventory: []string{filepath.Join(dir, "hosts.ini")}},
	})
	if p == nil {
		tb.Fatal(ds)
	}
	return p
}

// TestFleetGraph checks that the graph grows with tasks × hosts: twice as many of either are twice as much.
func TestFleetGraph(t *testing.T) {
	size := func(tasks, hosts int) (nodes, edges int) {
		g, err := graph.Build(fleet(t, tasks, hosts))
		if err != nil {
			t.Fatal(err)
		}
		return len(g.Nodes), g.Edges()
	}
	nodes, edges := size(40, 40)
	for _, more := range [][2]int{{80, 40}, {40, 80}} {
		n, e := size(more[0], more[1])
		if n > 2*nodes+nodes/20 || e > 2*edges+edges/20 { // the first task has nothing before it
			t.Errorf("40 × 40 has %d nodes and %d edges, %d × %d has %d and %d", nodes, edges, more[0], more[1], n, e)
		}
	}
}

// BenchmarkFleet builds the graph of 100 tasks on 1,000 hosts, and has the state decide about steps that take no time.
func BenchmarkFleet(b *testing.B) {
	p := fleet(b, 100, 1_000)
	building, deciding := time.Hour, time.Hour
	var g *graph.Graph
	for b.Loop() {
		began := time.Now()
		var err error
		if g, err = graph.Build(p); err != nil {
			b.Fatal(err)
		}
		building = min(building, time.Since(began))
		began = time.Now()
		if started := playThrough(b, p, g); started < 100_000 {
			b.Fatal(started, "steps were started")
		}
		deciding = min(deciding, time.Since(began))
	}
	b.ReportMetric(float64(len(g.Nodes)), "nodes")
	b.ReportMetric(float64(g.Edges()), "edges")
	b.ReportMetric(building.Seconds()*1000, "graph-ms")
	b.ReportMetric(deciding.Seconds()*1000, "decide-ms")
}

// playThrough settles all steps of a run in the state alone: each ends well as soon as it may start. It gives how many did.
func playThrough(tb testing.TB, p *plan.Plan, g *graph.Graph) (started int) {
	tb.Helper()
	s := New(p, g, nil)
	now := time.Unix(1_000_000, 0)
	apply := func(f fact.Fact) {
		if err := s.Apply(fact.Record{At: now, Fact: f}); err != nil {
			tb.Fatal(err)
		}
	}
	apply(fact.RunCreated{Options: fact.Options{Forks: 8, OnFailure: fact.Host}, Total: len(p.Steps)})
	apply(fact.RunStarted{})
	for {
		switch next := s.decider().next(now).(type) {
		case Start:
			started++
			apply(fact.AttemptStarted{Step: next.Step, Attempt: next.Attempt})
			apply(fact.AttemptFinished{Step: next.Step, Attempt: next.Attempt, Outcome: events.Changed})
		case Evaluate:
			apply(fact.CondEvaluated{Step: next.Step, Holds: true})
		case Finish:
			return started
		default:
			tb.Fatalf("%T", next)
		}
	}
}
