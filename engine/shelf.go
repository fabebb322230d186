package engine

import (
	"slices"
	"sync"

	"moon/engine/graph"
	"moon/plan"
)

// shelf has the plans of the run by their digests. It may be used from anywhere.
//
// A run with many open loops has many plans, each with all steps. Those that a loop has added rounds to since are let go when no reader
// of the journal has to come to them any more.
type shelf struct {
	mu      sync.Mutex // guards what follows
	plans   map[string]planned
	grown   []string // of those that were replaced or will be by the rounds of a loop, the digests, in order
	readers map[*reader]bool
	past    func(digest string) (planned, error) // makes those of the processes before this one again; nil: there was none
}

// reader is where one who reads the journal is.
type reader struct{ at int } // all before it in grown has been read

// mostHeld is how many steps the plans have together that are held although only their rounds differ.
const mostHeld = 50_000

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

// holdGrown keeps a plan that differs from the one before by the rounds of loops.
func (s *shelf) holdGrown(p planned) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans[p.plan.Digest] = p
	if !slices.Contains(s.grown, p.plan.Digest) {
		s.grown = append(s.grown, p.plan.Digest)
	}
	s.release()
}

func (s *shelf) planned(digest string) (planned, bool) {
	s.mu.Lock()
	p, ok := s.plans[digest]
	s.mu.Unlock()
	if ok || s.past == nil {
		return p, ok
	}
	p, err := s.past(digest)
	return p, err == nil
}

// read adds a reader, who is at the beginning.
func (s *shelf) read() *reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &reader{}
	if s.readers == nil {
		s.readers = map[*reader]bool{}
	}
	s.readers[r] = true
	return r
}

// passed says that a reader needs the plan with the digest, and none before it.
func (s *shelf) passed(r *reader, digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.grown, digest); i > r.at {
		r.at = i
		s.release()
	}
}

// leave takes a reader away.
func (s *shelf) leave(r *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.readers, r)
}

// release lets plans go that no one needs. The last two stay: one is the run's, and the other may take its place.
func (s *shelf) release() {
	if len(s.readers) == 0 {
		return // who comes later begins with the first
	}
	end := len(s.grown) - 2
	for r := range s.readers {
		end = min(end, r.at)
	}
	held := 0
	for i, digest := range slices.Backward(s.grown) {
		p, ok := s.plans[digest]
		if !ok {
			return // and none before it
		}
		if held += len(p.plan.Steps); i < end && held > mostHeld {
			delete(s.plans, digest)
		}
	}
}

type planned struct {
	plan  *plan.Plan
	graph *graph.Graph
}
