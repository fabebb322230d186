package state

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
	"moon/plan/planner"
)

// TestBlocksOfSteps runs random steps in blocks with random outcomes, and compares what ran with what the blocks say: a failure that a
// rescue further in has handled is none for the blocks around, and one in a rescue or an always is.
func TestBlocksOfSteps(t *testing.T) {
	handled := 0
	for seed := range uint64(300) {
		p := &player{Rand: rand.New(rand.NewPCG(seed, 3))}
		p.b.WriteString("steps:\n")
		tasks := p.list("  ", 3)
		dir := t.TempDir()
		path := filepath.Join(dir, "p.yml")
		if err := os.WriteFile(path, []byte(p.b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		pl, ds := planner.New(plan.Options{Path: path, Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}}})
		if pl == nil {
			t.Fatalf("%+v\n%s", ds, p.b.String())
		}
		g, err := graph.Build(pl)
		if err != nil {
			t.Fatalf("%v\n%s", err, p.b.String())
		}
		outcomes := map[string]events.Outcome{}
		for i := range pl.Steps {
			outcomes[pl.Steps[i].Name] = []events.Outcome{events.OK, events.Changed, events.OK, events.Failed}[p.IntN(4)]
		}
		h := &onHost{ran: map[string]bool{}, outcome: func(task string) events.Outcome { return outcomes[task] }}
		well := h.list(tasks) == events.OK
		be := newBench(t, pl, g, fact.Options{Forks: 1 + p.IntN(4)})
		be.outcome = func(step, _ int) events.Outcome { return outcomes[pl.Steps[step].Name] }
		be.anyOrder(p.Rand)
		got := map[string]bool{}
		for i := range pl.Steps {
			if be.s.node(i).attempt > 0 {
				got[pl.Steps[i].Name] = true
			}
		}
		if !maps.Equal(got, h.ran) {
			t.Fatalf("seed %d: ran %v, want %v\n%s\n%s\n%s", seed, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(h.ran)),
				p.b.String(), fmt.Sprint(outcomes), g.Text())
		}
		if left := be.s.tally().unexplained(); left != nil {
			t.Errorf("seed %d: nothing says why %v did not run\n%s\n%s", seed, left, p.b.String(), g.Text())
		}
		if well && be.s.counts.Rescued > 1 {
			handled++
		}
		if failed := be.s.counts.Failed > 0; failed == well {
			t.Errorf("seed %d: failed %v, and the blocks say %v\n%s\n%v", seed, failed, !well, p.b.String(), outcomes)
		}
	}
	if handled < 10 {
		t.Errorf("only %d runs handled more than one failure", handled)
	}
}
