package engine

import (
	"maps"
	"slices"
	"sync"

	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// results keeps what steps have produced, for the steps that use it. The loop writes, workers read.
type results struct {
	mu         sync.RWMutex
	registered map[int]map[string]any
	assigned   map[int]map[string]any
	broken     map[int]bool // failed, and there is a rescue
	skipped    map[int]bool // whether it was, of a step that decides about others
	said       map[int]bool // its action says itself that it was skipped, and what that comes to
	omitted    map[int]bool
	absent     map[int]plan.Absence // why a step that is over has given nothing
	failed     map[int]bool         // for good
	withheld   map[int]bool         // what it gave was secret, and is not kept; of a run that was resumed
	of         string               // the digest of the plan whose steps these are; "" is the run's first
}

func newResults() *results {
	return &results{
		registered: map[int]map[string]any{}, assigned: map[int]map[string]any{}, broken: map[int]bool{},
		skipped: map[int]bool{}, said: map[int]bool{}, omitted: map[int]bool{}, absent: map[int]plan.Absence{}, failed: map[int]bool{},
		withheld: map[int]bool{},
	}
}

// copy is what may be changed without the run noticing.
func (r *results) copy() *results {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return &results{
		registered: maps.Clone(r.registered), assigned: maps.Clone(r.assigned), broken: maps.Clone(r.broken),
		skipped: maps.Clone(r.skipped), said: maps.Clone(r.said),
		omitted: maps.Clone(r.omitted), absent: maps.Clone(r.absent), failed: maps.Clone(r.failed), withheld: maps.Clone(r.withheld),
		of: r.of,
	}
}

// Registered implements plan.Results.
func (r *results) Registered(step int) (map[string]any, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	v, ok := r.registered[step]
	return v, ok
}

// Assigned implements plan.Results.
func (r *results) Assigned(step int) (map[string]any, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	v, ok := r.assigned[step]
	return v, ok
}

// Broken implements plan.Results.
func (r *results) Broken(step int) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.broken[step]
}

// Failed implements plan.Results.
func (r *results) Failed() []int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.failed))
}

// fail says that a step has failed for good, or that this is taken back.
func (r *results) fail(step int, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if is {
		r.failed[step] = true
	} else {
		delete(r.failed, step)
	}
}

// Skipped implements plan.Results.
func (r *results) Skipped(step int) (skipped, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	skipped, ok = r.skipped[step]
	return skipped, ok
}

// decided says how a step ended that decides about others.
func (r *results) decided(step int, skipped bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.skipped[step] = skipped
	delete(r.omitted, step)
	delete(r.absent, step)
}

// Omitted implements plan.Results.
func (r *results) Omitted(step int) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.omitted[step]
}

// Absent implements plan.Results.
func (r *results) Absent(step int) (plan.Absence, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	why, ok := r.absent[step]
	return why, ok
}

// miss says why a step has given nothing.
func (r *results) miss(step int, why plan.Absence) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.absent[step] = why
}

// omit says that a step was never reached.
func (r *results) omit(step int, why plan.Absence) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.omitted[step] = true
	r.absent[step] = why
}

func (r *results) set(step int, registered, assigned map[string]any, broken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken[step] = broken
	delete(r.omitted, step)
	delete(r.absent, step)
	delete(r.withheld, step)
	delete(r.said, step)
	if registered != nil {
		r.registered[step] = registered
	}
	if assigned != nil {
		r.assigned[step] = assigned
	}
}

// keep takes what an attempt has registered. What a skipped step is registered as follows from the state alone, unless its action says
// itself that it was skipped: that has more.
func (r *results) keep(f fact.AttemptFinished, registered, assigned map[string]any, broken bool) {
	r.set(f.Step, registered, assigned, broken)
	if f.Outcome == events.Skipped && f.Result["skipped"] == true {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.said[f.Step] = true
	}
}

// saysSkipped reports whether what a step has registered is what its action says of having been skipped.
func (r *results) saysSkipped(step int) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.said[step]
}

// move carries results over to a replaced plan: of says which step of the plan before each one is, or -1. What there was stays as it is,
// for attempts that have begun under that plan.
func (s *observer) move(of []int, to *plan.Plan) {
	r := s.results
	r.mu.RLock()
	defer r.mu.RUnlock()
	// A step keeps what it has given under its new number; names and places belong to the plan and come with it.
	s.takeResults(&results{
		registered: moved(r.registered, of), assigned: moved(r.assigned, of), broken: moved(r.broken, of), skipped: moved(r.skipped, of),
		said: moved(r.said, of), omitted: moved(r.omitted, of), withheld: moved(r.withheld, of), of: to.Digest,
		absent: map[int]plan.Absence{}, // of what did not run the run says again what it keeps
		failed: map[int]bool{},         // of what has failed the run says again what it keeps
	})
}

func (s *observer) takeResults(r *results) {
	s.results = r
	s.shown.Store(r)
}

// moved are what belongs to steps under the numbers that the steps have in another plan.
func moved[V any](old map[int]V, of []int) map[int]V {
	now := make(map[int]V, len(old))
	if len(old) == 0 { // most have few
		return now
	}
	for i, j := range of {
		if v, ok := old[j]; ok {
			now[i] = v
		}
	}
	return now
}

// about reports whether these are the results of a plan's steps.
func (r *results) about(p, first *plan.Plan) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.of == p.Digest || r.of == "" && first == p
}

// withhold says that a step gave what cannot be had again.
func (r *results) withhold(step int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.withheld[step] = true
}

func (r *results) isWithheld(step int) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.withheld[step]
}
