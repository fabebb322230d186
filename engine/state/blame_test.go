package state

import (
	"testing"

	"moon/engine/graph"
	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/events/fact"
)

// TestBlameIsTakenBack tries a failed step again after another was skipped because of it, which stays as it is. What is
// left out after the skipped one is not the fault of an end that is no more: else views, which open what a step has led
// to when it is tried again, would show it waiting for ever.
func TestBlameIsTakenBack(t *testing.T) {
	p := graphtest.NewPlan(4)
	gb := graph.NewBuilder(4)
	bad := gb.Node(graph.Node{Step: 0, Pool: -1}, nil)
	skipped := gb.Node(graph.Node{Step: 1, Pool: -1, Join: graph.Any}, []graph.Edge{{From: bad, On: events.OnSuccess}})
	long := gb.Node(graph.Node{Step: 2, Pool: -1}, nil)
	gb.Node(graph.Node{Step: 3, Pool: -1}, []graph.Edge{{From: skipped, On: events.OnFailure}, {From: long, On: events.OnSuccess}})
	g, err := gb.Graph()
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, p, g, fact.Options{Forks: 2, OnFailure: fact.Continue, BreakOnFailure: true})
	b.outcome = func(step, attempt int) events.Outcome {
		if step == 0 && attempt < 3 {
			return events.Failed
		}
		return events.OK
	}
	ends := func(step int) {
		t.Helper()
		for i, running := range b.running {
			if running == step {
				b.end(i)
				b.start()
				return
			}
		}
		t.Fatalf("step %d does not run", step)
	}
	again := events.Retry{Range: events.Range{From: 0, To: 1}}
	b.start()
	ends(0)
	b.send(events.Continue{}) // the failure stands, and the second step is skipped
	b.start()
	b.send(again)
	b.start()
	ends(2) // the fourth step is left out while the first runs again
	ends(0)
	b.send(again)
	b.start()
	ends(0)
	b.send(events.Continue{})
	b.all()
	if !b.s.finished {
		t.Fatalf("it does not end\n%s", b.s.Dump())
	}
	for i := range p.Steps {
		if s := b.run.Steps[i]; s.State != events.Settled {
			t.Errorf("step %d is %v at the end\n%v", i, s.State, b.log)
		}
	}
}
