package engine

import (
	"moon/engine/graph"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/planner"
)

// Build plans a playbook and makes its execution graph. Both are nil when the diagnostics hold an error.
func Build(o plan.Options) (*plan.Plan, *graph.Graph, diag.List) {
	p, ds := planner.New(o)
	return withGraph(p, ds)
}

// buildFrom plans a playbook again from the files that were read for a plan.
func buildFrom(before *plan.Plan, o plan.Options) (*plan.Plan, *graph.Graph, diag.List) {
	p, ds := planner.Grow(before, o)
	return withGraph(p, ds)
}

func withGraph(p *plan.Plan, ds diag.List) (*plan.Plan, *graph.Graph, diag.List) {
	if p == nil {
		return nil, nil, ds
	}
	g, err := graph.Build(p)
	if err != nil {
		ds.Add(diag.Diagnostic{Pos: diag.Pos{File: p.RootFile}, Message: err.Error()})
		return nil, nil, ds
	}
	return p, g, ds
}
