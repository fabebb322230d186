package engine

import (
	"context"
	"math"
	"time"

	"moon/engine/graph"
	"moon/engine/history"
	"moon/events"
	"moon/plan"
)

// Watch reads a run from its directory, whether it is over or another process runs it now. That process does not
// notice.
type Watch struct {
	past history.Past
	load func(digest string) (*plan.Plan, *graph.Graph, error)
}

// NewWatch watches a run. load gives the plans it had, and has while it is watched, by digest; those it had so far must
// be there. It is called from anywhere.
func NewWatch(past history.Past, load func(digest string) (*plan.Plan, *graph.Graph, error)) (*Watch, error) {
	if len(past.Digests) == 0 {
		return nil, &history.UnbegunError{Run: past.ID}
	}
	w := &Watch{past: past, load: load}
	for _, digest := range past.Digests {
		if _, err := w.planned(digest); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *Watch) planned(digest string) (planned, error) {
	p, g, err := w.load(digest)
	return planned{p, g}, err
}

// PlanFor is the plan with the digest, if the run has or had it.
func (w *Watch) PlanFor(digest string) *plan.Plan {
	p, _ := w.planned(digest) // where it is not there, following the run has said so
	return p.plan
}

// Follow publishes the run's events from the first one, as Session.Follow does. Of a run that was resumed the ends before
// are left out, so that run.completed is the last. The channel is closed after it, when ctx ends, or when the process
// that ran it is gone.
func (w *Watch) Follow(ctx context.Context, lines bool) (<-chan []events.Record, func() error) {
	first, _ := w.planned(w.past.Digests[0]) // it is there, or there would be no Watch
	var asked uint64
	return (&follower{
		printed: func() uint64 { asked++; return asked }, // it may have: there is nobody who would know
		dir:     w.past.Dir, run: w.past.ID, lines: lines, version: w.past.Moon, first: first, planned: w.planned,
		durable: func() uint64 { return math.MaxUint64 }, // what a process that died has not synced is there as long as the machine is
		resumed: w.past.Resumed, listen: (&poll{dir: w.past.Dir, over: !w.past.Live}).listen,
	}).start(ctx)
}

// poll looks again after a while, and after a longer while where nothing happens.
type poll struct {
	dir  string
	wait time.Duration
	over bool // nobody runs it; not asked again, since asking keeps those out for a moment who want to
}

// How often a run of another process is looked at: so soon after something happened, and no rarer than this.
const (
	pollSoon = 20 * time.Millisecond
	pollRare = 500 * time.Millisecond
)

func (p *poll) listen(quiet bool) (<-chan struct{}, bool) {
	// Looks become rarer while nothing happens: a run that waits for days costs next to nothing to watch.
	p.wait = min(2*p.wait, pollRare)
	if !quiet || p.wait == 0 {
		p.wait = pollSoon
	}
	changed := make(chan struct{})
	// Asked before the next look at the journal: a run that ends in between is read to its end first.
	p.over = p.over || !history.Taken(p.dir)
	if !p.over {
		time.AfterFunc(p.wait, func() { close(changed) })
	}
	return changed, p.over
}
