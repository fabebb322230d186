package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"moon/engine/journal"
	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/events/rundir"
	"moon/events/steplog"
)

// follower folds the journal again and publishes what follows from it.
type follower struct {
	dir, run, version string
	lines             bool
	blocks            bool // lines that follow each other come together
	first             planned
	planned           func(digest string) (planned, error)
	skip              uint64 // records whose events are not published, but for run.started
	durable           func() uint64
	printed           func() uint64 // another number when a step has printed since
	resumed           uint64        // the record with which the run was resumed last: an end before it was not the end
	// listen gives what is closed when there may be more to read, and whether all that will ever be written is written
	// already. It is called before reading, so that nothing is missed; quiet says that the last reading gave nothing.
	listen func(quiet bool) (changed <-chan struct{}, over bool)
	out    chan []events.Record
	// handedOver says under which plan the batch begins that the reader has now: it is done with those before. May be nil.
	handedOver func(digest string)
	left       func()                  // nothing more is read; may be nil
	taken      func(fact.Record) error // is given each record first; may be nil
	since      string                  // the plan under which the batch begins
	err        error

	state   *state.State
	seq     uint64
	batch   []events.Record
	text    int // bytes of output in the batch
	current fact.Record
	tails   map[int]*tail // of steps that run
	looked  uint64        // what printed gave when all output had been read
	ended   bool
	again   func(step int, e events.Event) bool // while rounds are added to the plan: whether something was published before
}

// tail is the output of an attempt that has not ended.
type tail struct {
	*steplog.Bounded
	started fact.Record
}

func (f *follower) start(ctx context.Context) (<-chan []events.Record, func() error) {
	f.out = make(chan []events.Record)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		defer close(f.out)
		f.err = f.follow(ctx)
		if f.left != nil {
			f.left()
		}
	}()
	return f.out, func() error { <-finished; return f.err }
}

// maxBatch and maxText bound what is held for a slow reader: events, and bytes of output.
const (
	maxBatch = 512
	maxText  = 1 << 20
)

// full reports whether the batch should be sent before anything is added.
func (f *follower) full() bool { return len(f.batch) >= maxBatch || f.text >= maxText }

func (f *follower) follow(ctx context.Context) (err error) {
	f.state = state.New(f.first.plan, f.first.graph, f.publish)
	f.tails = map[int]*tail{}
	r, err := journal.Open(rundir.Journal(f.dir))
	if err != nil {
		return err
	}
	defer func() {
		for _, t := range f.tails {
			err = errors.Join(err, t.Close())
		}
		err = errors.Join(err, r.Close())
	}()
	// The first look reads everything there is; later ones are woken by the run or by the clock.
	for quiet := false; !f.ended; {
		// Taken before reading: what ends between the two is seen in the next round and not missed.
		changed, over := f.listen(quiet)
		printed := f.printed() // before reading as well: the start of a step that has printed will be read
		err := f.read(ctx, r)
		if err == nil && printed != f.looked {
			err = f.readLines()
			if !f.full() {
				f.looked = printed
			}
		}
		if err != nil && len(f.batch) > 0 {
			// What could be read is published before the error, so that a view is not behind the file.
			err = errors.Join(err, f.send(ctx)) // what could be read is true
		}
		if err != nil {
			return err
		}
		// A run that was resumed begins where it was left: with its start alone it would look like a run under review.
		behind := f.skip > 0 && f.current.Seq <= f.skip
		quiet = behind || len(f.batch) == 0 && f.text == 0
		if quiet {
			if over {
				return f.cutShort(ctx) // the run ended without a last record: it could not be written
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

// cutShort publishes what is left of a run that has no end: lines that were being written when moon died.
func (f *follower) cutShort(ctx context.Context) error {
	if err := f.finishTails(ctx); err != nil || len(f.batch) == 0 {
		return err
	}
	return f.send(ctx)
}

// finishTails publishes the last lines of the steps that a process left running.
func (f *follower) finishTails(ctx context.Context) error {
	for _, step := range slices.Sorted(maps.Keys(f.tails)) {
		if err := f.finishLines(ctx, step, false); err != nil {
			return err
		}
	}
	return nil
}

// send hands the batch over, and waits until the reader takes it.
func (f *follower) send(ctx context.Context) error {
	if len(f.batch) == 0 { // much was read, and none of it is passed on
		f.text = 0
		return ctx.Err()
	}
	select {
	case f.out <- f.batch:
		f.batch, f.text = make([]events.Record, 0, min(len(f.batch), maxBatch)), 0
		if f.handedOver != nil {
			f.handedOver(f.since)
		}
		f.since = f.state.Plan().Digest
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

// read folds what the journal has, up to a full batch. What is not durable yet has not happened: it may be read, and be
// gone after a loss of power.
func (f *follower) read(ctx context.Context, r *journal.Reader) error {
	for last := f.durable(); !f.full() && f.current.Seq < last; {
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
	if f.taken != nil {
		if err := f.taken(rec); err != nil {
			return err
		}
	}
	switch x := rec.Fact.(type) {
	case fact.AttemptStarted:
		if f.lines && rec.Seq > f.skip {
			f.tails[x.Step] = &tail{steplog.FollowBounded(rundir.Output(f.dir), x.Out), rec}
		}
	case fact.AttemptFinished:
		// All of the output comes before the end of the step. Of one that printed nothing there are no files to look for.
		if err := f.finishLines(ctx, x.Step, x.Bytes == fact.Bytes{}); err != nil {
			return err
		}
	case fact.RunReplanned:
		p, err := f.planned(x.Digest)
		if err != nil {
			return err
		}
		of := state.Renumbered(p.plan, f.state.Plan(), x)
		f.again, f.tails = repeatsOf(f.state, of, x), moved(f.tails, of)
		f.state.Replan(rec, p.plan, p.graph)
		f.again = nil
		return nil
	case fact.RunResumed:
		p, err := f.planned(x.Digest)
		if err != nil {
			return err
		}
		if err := f.finishTails(ctx); err != nil {
			return err
		}
		f.state.Resume(rec, p.plan, p.graph)
		if x.Cut > 0 {
			f.publish(-1, events.Warning{Message: fmt.Sprintf("the journal ended in the middle of a record; %d bytes were cut off", x.Cut)})
		}
		return nil
	case fact.RunFinished:
		// A resumed run has ended before. Only the last end is one.
		f.ended = rec.Seq > max(f.skip, f.resumed)
	default:
	}
	return f.state.Apply(rec)
}

// repeatsOf says of what is published when rounds are added to a plan whether it was published before.
func repeatsOf(was *state.State, of []int, f fact.RunReplanned) func(step int, e events.Event) bool {
	if len(f.Expanded) == 0 {
		return nil
	}
	over := make([]bool, len(of))
	for i, j := range of {
		over[i] = j >= 0 && (was.Settled(j) || was.Attempt(j) > 0)
	}
	return func(step int, e events.Event) bool {
		if _, loaded := e.(events.PlanLoaded); loaded {
			return false
		}
		return step < 0 || over[step]
	}
}

func (f *follower) publish(step int, e events.Event) {
	started, isStart := e.(events.RunStarted)
	if isStart {
		started.Moon = f.version
		e = started
	} else if f.current.Seq <= f.skip {
		return
	}
	if _, isEnd := e.(events.RunCompleted); isEnd && f.current.Seq < f.resumed {
		return // it went on
	}
	f.add(events.Record{Time: f.current.At, Mono: f.current.Mono, Step: step, Event: e, Again: f.again != nil && f.again(step, e)})
}

func (f *follower) add(r events.Record) {
	f.seq++
	r.Seq, r.Run = f.seq, f.run
	f.batch = append(f.batch, r)
}

// publishLine publishes a line of output with the time at which it was written, whenever it is read.
func (f *follower) publishLine(step int, t *tail, line steplog.Excerpt) {
	if line.Nothing {
		f.text = maxText // what else there is has its turn
		return
	}
	f.text += len(line.Text)
	f.add(events.Record{
		Time: t.started.At.Add(line.At), Mono: t.started.Mono + line.At, Step: step,
		Event: events.StepOutput{Stderr: line.Stderr, Line: string(line.Text), Dropped: line.Dropped, Binary: line.Binary, More: line.More},
	})
}

// nextOutput is what is published next of what a step has printed.
func (f *follower) nextOutput(t *tail) (steplog.Excerpt, bool, error) {
	if f.blocks {
		return t.NextBlock()
	}
	return t.Next()
}

// readLines publishes the output that has come since. Steps are taken in order, so that a replay is the same each time.
func (f *follower) readLines() error {
	if len(f.tails) == 0 {
		return nil
	}
	for _, step := range slices.Sorted(maps.Keys(f.tails)) {
		for !f.full() {
			line, ok, err := f.nextOutput(f.tails[step])
			if err != nil {
				return fmt.Errorf("output of %s: %w", events.StepID(step), err)
			}
			if !ok {
				break
			}
			f.publishLine(step, f.tails[step], line)
		}
	}
	return nil
}

// finishLines publishes the rest of a step's output, however much it is, a batch at a time.
func (f *follower) finishLines(ctx context.Context, step int, silent bool) (err error) {
	tail := f.tails[step]
	if tail == nil {
		return nil
	}
	delete(f.tails, step)
	defer func() { err = errors.Join(err, tail.Close()) }()
	if silent {
		return nil
	}
	tail.Finish()
	for {
		line, ok, err := f.nextOutput(tail)
		if err != nil {
			return fmt.Errorf("output of %s: %w", events.StepID(step), err)
		}
		if !ok {
			return nil
		}
		f.publishLine(step, tail, line)
		if f.full() {
			if err := f.send(ctx); err != nil {
				return err
			}
		}
	}
}
