package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"moon/engine/graph"
	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
	"moon/events/output"
	"moon/plan"
)

// news tells waiting readers that there is something new to read. It never blocks and keeps nothing.
type news struct {
	mu sync.Mutex
	ch chan struct{}
}

func newNews() *news { return &news{ch: make(chan struct{})} }

func (n *news) poke() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.ch)
	n.ch = make(chan struct{})
}

// wait returns a channel that is closed by the next poke. It is taken before reading, so that nothing is missed.
func (n *news) wait() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ch
}

// Follow publishes the run's events in batches, read from the journal at the reader's own pace: a slow reader slows
// nothing and loses nothing. With lines, every line of output comes as an event of its own, read from the output
// files. The channel is closed after run.completed, or when ctx ends; the error function says then whether anything
// was wrong.
func (s *Session) Follow(ctx context.Context, lines bool) (<-chan []events.Record, func() error) {
	f := &follower{
		dir: s.dir, run: s.id, lines: lines, news: s.news, done: s.done, out: make(chan []events.Record),
		planned: s.planned, plan: s.first.plan, graph: s.first.graph, version: s.cfg.Version, skip: s.skipped,
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		defer close(f.out)
		f.err = f.follow(ctx)
	}()
	return f.out, func() error { <-finished; return f.err }
}

// follower folds the journal again and publishes what follows from it.
type follower struct {
	dir, run, version string
	lines             bool
	news              *news
	done              <-chan struct{}
	planned           func(digest string) (planned, bool)
	plan              *plan.Plan
	graph             *graph.Graph
	skip              uint64 // records whose events are not published, but for run.started
	out               chan []events.Record
	err               error

	state   *State
	seq     uint64
	batch   []events.Record
	current fact.Record
	tails   map[int]*output.Lines // of steps that run
	ended   bool
}

// maxBatch bounds what is held for a slow reader.
const maxBatch = 512

func (f *follower) follow(ctx context.Context) (err error) {
	f.state = NewState(f.plan, f.graph, f.publish)
	f.tails = map[int]*output.Lines{}
	r, err := journal.Open(filepath.Join(f.dir, journalName))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for !f.ended {
		changed := f.news.wait()
		over := isClosed(f.done) // before reading: what was written by then will be read
		if err := f.read(ctx, r); err != nil {
			return err
		}
		if err := f.readLines(); err != nil {
			return err
		}
		if len(f.batch) == 0 {
			if over {
				return nil // the run ended without a last record: it could not be written
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		if err := f.send(ctx); err != nil {
			return err
		}
	}
	return nil
}

// send hands the batch over, and waits until the reader takes it.
func (f *follower) send(ctx context.Context) error {
	select {
	case f.out <- f.batch:
		f.batch = nil
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// read folds what the journal has, up to a full batch.
func (f *follower) read(ctx context.Context, r *journal.Reader) error {
	for len(f.batch) < maxBatch {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f.apply(ctx, rec); err != nil {
			return err
		}
		if f.ended {
			return nil
		}
	}
	return nil
}

func (f *follower) apply(ctx context.Context, rec fact.Record) error {
	f.current = rec
	switch x := rec.Fact.(type) {
	case fact.AttemptStarted:
		if f.lines && rec.Seq > f.skip {
			f.tails[x.Step] = output.Follow(filepath.Join(f.dir, "out"), x.Out)
		}
	case fact.AttemptFinished:
		// All of the output comes before the end of the step.
		if err := f.finishLines(ctx, x.Step); err != nil {
			return err
		}
	case fact.RunReplanned:
		p, ok := f.planned(x.Digest)
		if !ok {
			return fmt.Errorf("the journal names a plan that is not here: %s", x.Digest)
		}
		f.state.Replan(rec, p.plan, p.graph)
		return nil
	case fact.RunResumed:
		p, ok := f.planned(x.Digest)
		if !ok {
			return fmt.Errorf("the journal names a plan that is not here: %s", x.Digest)
		}
		f.state.Resume(rec, p.plan, p.graph)
		if x.Cut > 0 {
			f.publish(-1, events.Warning{Message: fmt.Sprintf("the journal ended in the middle of a record; %d bytes were cut off", x.Cut)})
		}
		return nil
	case fact.RunFinished:
		f.ended = rec.Seq > f.skip
	default:
	}
	return f.state.Apply(rec)
}

func (f *follower) publish(step int, e events.Event) {
	started, isStart := e.(events.RunStarted)
	if isStart {
		started.Moon = f.version
		e = started
	} else if f.current.Seq <= f.skip {
		return
	}
	f.seq++
	f.batch = append(f.batch, events.Record{Seq: f.seq, Run: f.run, Time: f.current.At, Mono: f.current.Mono, Step: step, Event: e})
}

// readLines publishes the output that has come since. Steps are taken in order, so that a replay is the same each time.
func (f *follower) readLines() error {
	if len(f.tails) == 0 {
		return nil
	}
	steps := make([]int, 0, len(f.tails))
	for step := range f.tails {
		steps = append(steps, step)
	}
	slices.Sort(steps)
	for _, step := range steps {
		for len(f.batch) < maxBatch {
			line, ok, err := f.tails[step].Next()
			if err != nil {
				return fmt.Errorf("output of %s: %w", events.StepID(step), err)
			}
			if !ok {
				break
			}
			f.publish(step, events.StepOutput{Stderr: line.Stderr, Line: string(line.Text)})
		}
	}
	return nil
}

// finishLines publishes the rest of a step's output, however much it is, a batch at a time.
func (f *follower) finishLines(ctx context.Context, step int) (err error) {
	tail := f.tails[step]
	if tail == nil {
		return nil
	}
	delete(f.tails, step)
	defer func() { err = errors.Join(err, tail.Close()) }()
	tail.Finish()
	for {
		line, ok, err := tail.Next()
		if err != nil {
			return fmt.Errorf("output of %s: %w", events.StepID(step), err)
		}
		if !ok {
			return nil
		}
		f.publish(step, events.StepOutput{Stderr: line.Stderr, Line: string(line.Text)})
		if len(f.batch) >= maxBatch {
			if err := f.send(ctx); err != nil {
				return err
			}
		}
	}
}
