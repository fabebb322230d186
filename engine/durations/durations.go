package durations

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"moon/engine/graph"
	"moon/events"
	"moon/plan"
)

// Steps is how long the steps of a playbook took that succeeded, smoothed over its runs, by the name a step has in
// every plan of it.
type Steps map[string]time.Duration

// Bounds of what is remembered of a playbook.
const (
	mostSteps = 20_000
	// longestDuration is what counts at most, so that no sum over a plan overflows.
	longestDuration = 24 * time.Hour
)

// lastRuns is the weight of the last run in the mean: after three of them an old one counts for a third.
const lastRuns = 0.3

// keyOf names a step as its record of sources does.
func keyOf(ps *plan.Step) string {
	if ps.Host == "" || ps.Host == "localhost" {
		return ps.Path
	}
	return ps.Path + "@" + ps.Host
}

// blend takes in what the steps of another run took.
func (d Steps) blend(run Steps) {
	for key, now := range run {
		now = min(max(now.Round(time.Microsecond), time.Microsecond), longestDuration)
		if before, ok := d[key]; ok {
			// The mean moves by a fixed part of the difference, so one slow run does not stand for all.
			now = before + time.Duration(lastRuns*float64(now-before)).Round(time.Microsecond)
		}
		d[key] = now
	}
}

// Trim forgets what is too much: first steps that the plan does not have, then the last ones of the plan.
func (d Steps) Trim(p *plan.Plan, most int) {
	if len(d) <= most {
		return
	}
	keep := make(map[string]bool, most)
	for i := range p.Steps {
		// Steps of the plan come first, in order: what was edited out is the first to go.
		if key := keyOf(&p.Steps[i]); d[key] > 0 && len(keep) < most {
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

// of gives what is known of a plan's steps, 0 where nothing is, and the median of what is.
func (d Steps) of(p *plan.Plan) (took []time.Duration, median time.Duration) {
	took = make([]time.Duration, len(p.Steps))
	if len(d) == 0 {
		return took, 0
	}
	var known []time.Duration
	for i := range p.Steps {
		if took[i] = d[keyOf(&p.Steps[i])]; took[i] > 0 {
			known = append(known, took[i])
		}
	}
	if len(known) > 0 {
		slices.Sort(known)
		median = known[len(known)/2]
	}
	return took, median
}

// Lasts is how the steps of a playbook ended last, by the same names.
type Lasts map[string]events.Last

// trim forgets the oldest where there are too many.
func (l Lasts) trim(most int) {
	if len(l) <= most {
		return
	}
	names := slices.SortedFunc(maps.Keys(l), func(a, b string) int {
		return cmp.Or(l[b].At.Compare(l[a].At), cmp.Compare(a, b))
	})
	for _, key := range names[most:] {
		delete(l, key)
	}
}

// of gives them for a plan's steps.
func (l Lasts) of(p *plan.Plan) []events.Last {
	if len(l) == 0 {
		return nil
	}
	list := make([]events.Last, len(p.Steps))
	for i := range p.Steps {
		list[i] = l[keyOf(&p.Steps[i])]
	}
	return list
}

// isLeftOut reports whether it is certain before the run that a step takes no time.
func isLeftOut(ps *plan.Step) bool { return ps.Excluded || ps.Prediction == plan.WillSkip }

// rankGrain is the time by which steps must differ for one to go before the other: what all take a moment goes in the
// order of the plan, and not in another one each time.
const rankGrain = 100 * time.Millisecond

// Ranks are the weights of what hangs on each node: in time, as far as it is known what steps take, and one of which it is
// not known takes what most do. Where nothing is known, it is their number.
func Ranks(p *plan.Plan, g *graph.Graph, d Steps) []int64 {
	took, median := d.of(p)
	// Without times the number of steps behind a node is the best guess of what it holds up.
	if median == 0 {
		return g.Ranks(nil)
	}
	return g.Ranks(func(step int) int64 {
		switch {
		case isLeftOut(&p.Steps[step]):
			return 0
		case took[step] > 0:
			return grains(took[step])
		}
		return grains(median)
	})
}

// Forecast is how long a plan may take, or nil where nothing is known of it.
func Forecast(p *plan.Plan, g *graph.Graph, d Steps, last Lasts, slots int) *events.Forecast {
	took, median := d.of(p)
	if median == 0 {
		return nil
	}
	f := &events.Forecast{Slots: slots, Took: took, Rest: make([]time.Duration, len(took)), Last: last.of(p)}
	for i := range took {
		switch {
		case isLeftOut(&p.Steps[i]):
			took[i] = 0
		case took[i] == 0:
			took[i] = -1
		}
	}
	rank := g.Ranks(func(step int) int64 { return max(int64(took[step]), 0) })
	for i := range f.Rest {
		f.Rest[i] = time.Duration(rank[g.NodeOf(i)])
	}
	return f
}

func grains(d time.Duration) int64 { return int64((d + rankGrain - 1) / rankGrain) }

// Stopwatch measures from a run's events how long its steps take.
type Stopwatch struct {
	since map[string]time.Duration // when steps began that have not ended
	took  Steps                    // of those that succeeded
	last  Lasts                    // of those that succeeded or failed
}

// NewStopwatch has measured nothing yet.
func NewStopwatch() *Stopwatch { return &Stopwatch{map[string]time.Duration{}, Steps{}, Lasts{}} }

// See takes an event of a step at a time of the run, which is now. A step that is tried again by itself takes as long as all its
// attempts and what lies between them; where a person had it tried again, only what came after counts.
func (w *Stopwatch) See(p *plan.Plan, step int, e events.Event, at time.Duration, now time.Time, dry bool) {
	if loaded, is := e.(events.PlanLoaded); is && len(loaded.Expanded) == 0 {
		clear(w.since) // what was being measured has no place in another plan
	}
	if step < 0 {
		return
	}
	key := keyOf(&p.Steps[step])
	switch e := e.(type) {
	case events.StepStarted:
		if _, continues := w.since[key]; !continues || e.Since.IsZero() {
			w.since[key] = at
		}
	case events.StepRetrying:
		if e.ByUser {
			w.since[key] = at
		}
	case events.StepCompleted:
		if since, ran := w.since[key]; ran && !dry { // a gate takes a person's time, and what is kept takes none
			w.took[key] = at - since
			outcome := events.OK
			if e.Changed {
				outcome = events.Changed
			}
			w.last[key] = events.Last{At: now, Outcome: outcome, Took: at - since}
		}
		delete(w.since, key)
	case events.StepFailed:
		if since, ran := w.since[key]; ran && !dry {
			w.last[key] = events.Last{At: now, Outcome: events.Failed, Took: at - since}
		}
		delete(w.since, key)
	case events.StepSkipped, events.StepLost, events.StepCancelled, events.StepOmitted:
		delete(w.since, key)
	default: // nothing begins or ends with it
	}
}

// IsEmpty reports whether no step has ended that counts.
func (w *Stopwatch) IsEmpty() bool { return len(w.last) == 0 }
