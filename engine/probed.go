package engine

import (
	"maps"
	"sync"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/plan"
	"moon/plan/found"
	"moon/plan/planner"
)

// probed compares what steps find with what they had found while planning, if they were asked then: what was approved was planned
// with that.
type probed struct {
	mu   sync.Mutex
	seen map[string]found.Result // in this run, where it is not the same
}

// compare fails a step whose result is not the one that the plan was made with, unless nothing that differs is used. It runs in a worker,
// before anything knows of the result.
func (c *probed) compare(p *plan.Plan, step int, got exec.Result, stdout, stderr plan.Output, r *report) {
	was, ok := p.Found(step)
	if !ok || r.Again {
		return
	}
	switch r.Outcome {
	case events.Unreachable, events.Lost, events.Cancelled, events.Skipped: // it has found nothing
		return
	case events.OK, events.Changed:
	default:
		// Ignored or rescued, what was planned with the result would still run.
		failFor(r, r.Error+"\nthe plan was made with its result; plan again")
		return
	}
	now, why := found.Result{Of: was.Of, Path: was.Path, Fields: got.Fields, RC: got.RC}, ""
	text, err := stdout.Whole()
	if err == nil {
		now.Stdout = text
		now.Stderr, err = stderr.Whole()
	}
	if err == nil {
		now, err = now.Plain()
	}
	if why = was.Differs(now); err != nil {
		why = err.Error()
	}
	if why == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]found.Result{}
	}
	// With all that has differed so far: two results that change nothing one by one may do so together.
	c.seen[was.Path] = now
	if err == nil && planner.Stands(p, maps.Clone(c.seen)) {
		return
	}
	failFor(r, why+" since the plan was made; put it back, or plan again")
}

// failFor makes the attempt one that ends the run, whatever the playbook says of failures.
func failFor(r *report, why string) {
	r.Outcome, r.Class, r.Error, r.Ignored, r.Stale = events.Failed, fault.Fatal, why, false, true
	r.registered, r.Registered = nil, nil
}
