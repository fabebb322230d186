package engine

import (
	"context"
	"math"
	"sync"
	"time"

	"moon/engine/graph"
	"moon/engine/history"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// Watch reads a run from its directory, whether it is over or another process runs it now. That process does not
// notice.
type Watch struct {
	past  history.Past
	load  func(digest string) (*plan.Plan, *graph.Graph, error)
	taken func(fact.Record) error // is given each record before what follows from it is published; may be nil

	mu    sync.Mutex
	polls []*poll // of those who follow
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
	return w.reader(lines).start(ctx)
}

// FollowBlocks is Follow as Session.FollowBlocks is.
func (w *Watch) FollowBlocks(ctx context.Context) (<-chan []events.Record, func() error) {
	f := w.reader(true)
	f.blocks = true
	return f.start(ctx)
}

func (w *Watch) reader(lines bool) *follower {
	first, _ := w.planned(w.past.Digests[0]) // it is there, or there would be no Watch
	var asked uint64
	looks := &poll{dir: w.past.Dir, over: !w.past.Live}
	w.mu.Lock()
	w.polls = append(w.polls, looks)
	w.mu.Unlock()
	return &follower{
		printed: func() uint64 { asked++; return asked }, // it may have: there is nobody who would know
		dir:     w.past.Dir, run: w.past.ID, lines: lines, version: w.past.Moon, first: first, planned: w.planned,
		durable: func() uint64 { return math.MaxUint64 }, // what a process that died has not synced is there as long as the machine is
		resumed: w.past.Resumed, listen: looks.listen, taken: w.taken,
	}
}

// look reads the journal now, as something has been asked of the run.
func (w *Watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.polls {
		p.hurry()
	}
}

// poll looks again after a while, and after a longer while where nothing happens.
type poll struct {
	dir string

	mu      sync.Mutex // guards what follows
	wait    time.Duration
	over    bool          // no process runs it; not asked again, since asking keeps those out for a moment who want to
	changed chan struct{} // closed when it is time to look; nil: it is time
}

// How often a run of another process is looked at: so soon after something happened, and no rarer than this.
const (
	pollSoon = 20 * time.Millisecond
	pollRare = 500 * time.Millisecond
)

func (p *poll) listen(quiet bool) (<-chan struct{}, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Looks become rarer while nothing happens: a run that waits for days costs next to nothing to watch.
	p.wait = min(2*p.wait, pollRare)
	if !quiet || p.wait == 0 {
		p.wait = pollSoon
	}
	changed := make(chan struct{})
	p.changed = changed
	// Asked before the next look at the journal: a run that ends in between is read to its end first.
	p.over = p.over || !history.Taken(p.dir)
	if !p.over {
		time.AfterFunc(p.wait, func() { p.wake(changed) })
	}
	return changed, p.over
}

// wake ends a wait, if it is still the one that goes on.
func (p *poll) wake(which chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == which && which != nil {
		close(which)
		p.changed = nil
	}
}

// hurry ends the wait, and lets those after it be short again.
func (p *poll) hurry() {
	p.mu.Lock()
	p.wait = 0
	which := p.changed
	p.mu.Unlock()
	p.wake(which)
}
