package engine

import (
	"sync"

	"moon/engine/graph"
	"moon/plan"
)

// shelf has the plans of the run by their digests. It may be used from anywhere.
type shelf struct {
	mu    sync.Mutex // guards what follows
	plans map[string]planned
}

// PlanFor is the plan with the digest, if this run has or had it.
func (s *shelf) PlanFor(digest string) *plan.Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plans[digest].plan
}

// hold keeps a plan that the run has, or is about to have.
func (s *shelf) hold(p planned) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans[p.plan.Digest] = p
}

func (s *shelf) planned(digest string) (planned, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.plans[digest]
	return p, ok
}

type planned struct {
	plan  *plan.Plan
	graph *graph.Graph
}
