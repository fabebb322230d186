package engine

import (
	"moon/engine/graph"
	"moon/events/fact"
	"moon/events/rundir"
	"moon/plan"
)

// Recover reads a run as a resumed one does, with every value that its steps have given, and gives the facts.
func Recover(dir string, planned func(digest string) (*plan.Plan, *graph.Graph, error)) (facts []fact.Fact, err error) {
	s := newSession(Config{})
	s.dir = dir
	past := &past{session: s, planned: planned}
	w, _, err := s.cfg.Disk.Reopen(rundir.Journal(dir), func(r fact.Record) error {
		facts = append(facts, r.Fact)
		return past.take(r)
	})
	if err != nil {
		return facts, err
	}
	return facts, w.Close()
}
