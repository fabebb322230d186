package tui

import (
	"fmt"
	"sync"
	"time"

	"moon/events"
)

// store folds the feed into a run. It is the bridge between the engine, which must never wait for the screen, and
// the screen, which must not be asked to draw more often than a person can see.
//
//	feed ──▶ drain ──▶ run, what changed ──▶ poke (one place) ──▶ at most 30 frame messages a second ──▶ model
//
// One goroutine drains; the model takes the lock only to copy what is on the screen.
type store struct {
	mu      sync.Mutex
	run     events.Run
	changed []int32 // steps that may look different since the last take
	listed  []bool  // by step: in changed
	all     bool    // every step may
	notes   []string
	pauses  int // how many pauses there have been
	last    time.Time
	history history
	stopped bool   // somebody stopped the run, perhaps by a signal: there is nothing to stay for when it has ended
	awaited string // the ID of the last command of this screen, until it is answered
	ended   bool   // the feed is closed, or of no use any more
	err     error

	poke chan struct{}
}

func newStore() *store { return &store{poke: make(chan struct{}, 1), all: true} }

// applyAtOnce bounds how long a big batch keeps the lock.
const applyAtOnce = 256

// refused begins the note about a command that the run did not take.
const refused = "refused: "

// drain folds the feed until it is closed.
func (s *store) drain(feed <-chan []events.Record) {
	for batch := range feed {
		for len(batch) > 0 {
			n := min(len(batch), applyAtOnce)
			s.applyAll(batch[:n])
			batch = batch[n:]
		}
		s.wake()
	}
	s.end(nil)
}

func (s *store) applyAll(batch []events.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range batch {
		s.apply(&batch[i])
	}
}

// end says that nothing more will come, and why if that was not planned.
func (s *store) end(err error) {
	s.mu.Lock()
	s.ended, s.err = true, err
	s.mu.Unlock()
	s.wake()
}

// failure is why the feed could not be folded to its end.
func (s *store) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// wake says that there is something to see. It never blocks, and one poke is enough for any number of changes.
func (s *store) wake() {
	select {
	case s.poke <- struct{}{}:
	default:
	}
}

func (s *store) apply(rec *events.Record) {
	s.run.Apply(*rec)
	s.history.add(rec)
	s.last = rec.Time
	if rec.Step >= 0 {
		s.touch(rec.Step)
	}
	switch e := rec.Event.(type) {
	case events.RunStarted:
		s.all, s.stopped = true, false
	case events.PlanLoaded, events.RunResumed:
		s.all = true
	case events.RunPaused:
		s.pauses++
	case events.StepRetrying:
		s.all = s.all || e.ByUser // a retry may reopen others
	case events.CommandAccepted:
		s.answered(&e.Order)
		s.accepted(e.Command)
	case events.CommandRejected:
		s.answered(&e.Order)
		s.note(refused + e.Reason)
	case events.Warning:
		s.note(e.Message)
	default: // concerns its step, or nothing on the screen
	}
}

func (s *store) accepted(c events.Command) {
	switch c := c.(type) {
	case events.Approve:
		s.touchAll(c.Range)
	case events.Withdraw:
		s.touchAll(c.Range)
	case events.Exclude:
		s.touchAll(c.Range)
	case events.Include:
		s.touchAll(c.Range)
	case events.Advance:
		s.touchAll(c.Range)
	case events.Keep:
		s.touchAll(c.Range)
	case events.Break:
		s.touchAll(c.Range())
	case events.Stop:
		s.stopped = true
	default: // acts through the events that follow
	}
}

func (s *store) touchAll(r events.Range) {
	if r.To-r.From > len(s.run.Steps)/2 {
		s.all = true
		return
	}
	for i := max(r.From, 0); i < min(r.To, len(s.run.Steps)); i++ {
		s.touch(i)
	}
}

func (s *store) touch(step int) {
	if s.all || step >= len(s.run.Steps) {
		return
	}
	if len(s.listed) < len(s.run.Steps) {
		s.listed = make([]bool, len(s.run.Steps))
	}
	if !s.listed[step] {
		s.listed[step] = true
		s.changed = append(s.changed, int32(step))
	}
}

// note keeps a message for the person; of many, the last few.
func (s *store) note(text string) {
	const keep = 3
	if len(s.notes) == keep {
		s.notes = s.notes[:copy(s.notes, s.notes[1:])]
	}
	s.notes = append(s.notes, text)
}

// guard does something that the screen can do without. A panic in it must not end the process while the terminal belongs
// to the screen: it becomes a note.
func (s *store) guard(what string, do func()) {
	defer func() {
		if r := recover(); r != nil {
			s.mu.Lock()
			s.note(fmt.Sprintf("%s broke off, an internal error: %v", what, r))
			s.mu.Unlock()
			s.wake()
		}
	}()
	do()
}

// read lets f look at the run.
func (s *store) read(f func(run *events.Run)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.run)
}

// digest is the plan the run is about.
func (s *store) digest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run.Digest
}

// shot is the part of a run that is not about single steps, as of one moment.
type shot struct {
	phase    events.Phase
	pause    events.RunPaused
	pausedAt int
	pointer  int
	pauses   int
	counts   events.Counts
	times    events.Times
	started  time.Time
	ended    time.Time
	last     time.Time // of the last event
	result   events.RunCompleted
	digest   string
	check    bool
	steps    int
	closed   bool // nothing more will come
	awaits   bool // the answer to a command of this screen is still to come
	stopped  bool // before its end, by somebody
	notes    []string
}

// take gives each step that may have changed to f, forgets that they did, and returns the rest of the run. With
// everything changed it calls whole instead. Before both, spent gets how the time of the run was spent.
func (s *store) take(spent func(events.Times), f func(step int, of *events.Step), whole func(steps []events.Step)) shot {
	s.mu.Lock()
	defer s.mu.Unlock()
	spent(s.run.Clock.Times)
	if s.all {
		whole(s.run.Steps)
	} else {
		for _, i := range s.changed {
			if int(i) < len(s.run.Steps) {
				f(int(i), &s.run.Steps[i])
			}
		}
	}
	for _, i := range s.changed {
		s.listed[i] = false
	}
	if len(s.listed) > len(s.run.Steps) {
		s.listed = nil
	}
	s.changed, s.all = s.changed[:0], false
	notes := s.notes
	s.notes = nil
	r := &s.run
	return shot{
		phase: r.Phase, pause: r.Pause, pausedAt: r.PausedAt, pointer: r.Pointer, pauses: s.pauses, counts: r.Counts,
		times: r.Clock.Times, started: r.Started, ended: r.Ended, last: s.last, result: r.Result, digest: r.Digest, check: r.Check,
		steps: len(r.Steps), closed: s.ended, awaits: s.awaits(), stopped: s.stopped, notes: notes,
	}
}

// over reports whether nothing more will come.
func (s *store) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// conclude ends a run whose record breaks off, because moon died or the record is damaged: what was running is lost, and
// the rest was not run. Only the fold is told, and not the history: it was not recorded.
func (s *store) conclude() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes, s.stopped = nil, false // they were for somebody who could still act
	if s.run.Phase == events.Done {
		return
	}
	end := func(step int, e events.Event) {
		s.run.Apply(events.Record{Seq: s.run.LastSeq, Run: s.run.ID, Time: s.last, Step: step, Event: e})
	}
	for i := range s.run.Steps {
		switch s.run.Steps[i].State {
		case events.Active, events.Backoff:
			end(i, events.StepLost{})
		case events.Waiting, events.Held:
			end(i, events.StepOmitted{Reason: "the record of the run ends before"})
		case events.Settled:
		}
	}
	end(-1, s.run.Summary())
	s.all = true
}

// forget makes the next take give everything.
func (s *store) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = true
}

// await notes the command whose answer is waited for. Commands are answered in their order, so the last one is enough.
func (s *store) await(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awaited = id
}

// answered notes the answer to a command.
func (s *store) answered(o *events.Order) {
	if o.ID == s.awaited {
		s.awaited = ""
	}
}

// awaits reports whether an answer is still to come, or the beginning of the run: until then nothing is known of it, and a key would be
// judged by an empty run. After the end of a run there is no answer.
func (s *store) awaits() bool {
	return (s.awaited != "" || s.run.ID == "") && s.run.Phase != events.Done && !s.ended
}
