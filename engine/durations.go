package engine

import (
	"maps"
	"slices"
	"time"

	"moon/events"
	"moon/plan"
)

// Durations is how long the steps of a playbook took that ended well, smoothed over its runs, by the name a step has in
// every plan of it.
type Durations map[string]time.Duration

// Bounds of what is remembered of a playbook.
const (
	mostDurations = 20_000
	// longestDuration is what counts at most, so that no sum over a plan overflows.
	longestDuration = 24 * time.Hour
)

// lastRuns is the weight of the last run in the mean: after three of them an old one counts for a third.
const lastRuns = 0.3

// durationKey names a step as its record of sources does.
func durationKey(ps *plan.Step) string {
	if ps.Host == "" || ps.Host == "localhost" {
		return ps.Path
	}
	return ps.Path + "@" + ps.Host
}

// blend takes in what the steps of another run took.
func (d Durations) blend(run Durations) {
	for key, now := range run {
		now = min(max(now.Round(time.Microsecond), time.Microsecond), longestDuration)
		if before, ok := d[key]; ok {
			now = before + time.Duration(lastRuns*float64(now-before)).Round(time.Microsecond)
		}
		d[key] = now
	}
}

// trim forgets what is too much: first steps that the plan does not have, then the last ones of the plan.
func (d Durations) trim(p *plan.Plan, most int) {
	if len(d) <= most {
		return
	}
	keep := make(map[string]bool, most)
	for i := range p.Steps {
		if key := durationKey(&p.Steps[i]); d[key] > 0 && len(keep) < most {
			keep[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(d)) {
		switch {
		case keep[key]:
		case len(keep) < most:
			keep[key] = true
		default:
			delete(d, key)
		}
	}
}

// stopwatch measures from a run's events how long its steps take.
type stopwatch struct {
	since map[int]time.Duration // when steps began that have not ended
	took  Durations             // of those that ended well
}

func newStopwatch() *stopwatch { return &stopwatch{map[int]time.Duration{}, Durations{}} }

// see takes an event of a step at a time of the run. A step that is tried again by itself takes as long as all its
// attempts and what lies between them; where a person had it tried again, only what came after counts.
func (w *stopwatch) see(p *plan.Plan, step int, e events.Event, at time.Duration, dry bool) {
	switch e := e.(type) {
	case events.PlanLoaded:
		clear(w.since)
	case events.StepStarted:
		w.since[step] = at
	case events.StepRetrying:
		if e.ByUser {
			w.since[step] = at
		}
	case events.StepCompleted:
		if since, ran := w.since[step]; ran && !dry { // a gate takes a person's time, and what is kept takes none
			w.took[durationKey(&p.Steps[step])] = at - since
		}
		delete(w.since, step)
	case events.StepFailed, events.StepSkipped, events.StepLost, events.StepCancelled, events.StepOmitted:
		delete(w.since, step)
	default: // nothing begins or ends with it
	}
}
