package graphtest

import (
	"fmt"
	"path/filepath"
	"testing"

	"moon/engine/graph"
	"moon/events"
	"moon/plan"
	"moon/plan/planner"
)

// NewPlan is a plan of n steps with nothing in them.
func NewPlan(n int) *plan.Plan {
	p := &plan.Plan{RootFile: "test.yml", Digest: "d", Scopes: []plan.Scope{{Kind: plan.ScopePlaybook, Parent: -1, Last: n}}}
	for i := range n {
		p.Steps = append(p.Steps, plan.Step{Index: i, Name: fmt.Sprint(i), Path: fmt.Sprint(i), Digest: fmt.Sprint(i)})
	}
	return p
}

// Wide is how many steps a large graph has.
const Wide = 100_000

// NewWide makes graphs of n steps with nearly three edges each, in layers of a hundred.
func NewWide(tb testing.TB, n int) (*plan.Plan, func() *graph.Graph) {
	tb.Helper()
	return NewPlan(n), func() *graph.Graph {
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

// PlanSite plans the playbook of a directory for hosts that are all this machine, of which it knows nothing.
func PlanSite(tb testing.TB, dir, playbook, hosts string) (*plan.Plan, *graph.Graph) {
	tb.Helper()
	p, ds := planner.New(plan.Options{
		Path: filepath.Join(dir, playbook), Dir: dir, Facts: plan.KnownFacts{Here: map[string]any{}},
		Hosts: plan.HostSelection{Inventory: []string{hosts}, NoConnect: true}, Login: plan.Login{Connection: "local"},
	})
	if p == nil {
		tb.Fatalf("%+v", ds)
	}
	g, err := graph.Build(p)
	if err != nil {
		tb.Fatal(err)
	}
	return p, g
}
