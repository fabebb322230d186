package engine

import (
	"sync"

	"moon/engine/graph"
	"moon/plan"
)

// Remade has the plans of a run that is resumed or looked at. Each is made when it is asked for, from the one that was made before it, and
// only the last are held: a run with many open loops has many, each with all steps. It may be used from anywhere.
type Remade struct {
	// Make makes a plan by its digest. It may take over what it can from another of the run, which may be nil; required.
	Make func(digest string, other *plan.Plan) (*plan.Plan, *graph.Graph, error)

	mu   sync.Mutex
	held []planned // in the order in which they were asked for
}

// By is the plan with the digest.
func (r *Remade) By(digest string) (*plan.Plan, *graph.Graph, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, p := range r.held {
		if p.plan.Digest == digest {
			r.held = append(append(r.held[:i:i], r.held[i+1:]...), p)
			return p.plan, p.graph, nil
		}
	}
	var other *plan.Plan
	if n := len(r.held); n > 0 {
		other = r.held[n-1].plan
	}
	p, g, err := r.Make(digest, other)
	if err != nil {
		return nil, nil, err
	}
	r.hold(planned{p, g})
	return p, g, nil
}

// hold keeps a plan, and of the others the last. There are always two: one that is followed, and the one that takes its place.
func (r *Remade) hold(p planned) {
	r.held = append(r.held, p)
	steps := 0
	for i := len(r.held) - 1; i >= 0; i-- {
		if steps += len(r.held[i].plan.Steps); steps > mostHeld && i < len(r.held)-2 {
			r.held = append([]planned(nil), r.held[i+1:]...)
			return
		}
	}
}
