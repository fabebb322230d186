package feed

import (
	"fmt"
	"sync"
	"time"

	"moon/events"
)

// Store folds the feed into a run. It is the bridge between the engine, which must never wait for the screen, and
// the screen, which must not be asked to draw more often than a person can see.
//
//	feed ──▶ drain ──▶ run, what changed ──▶ poke (one place) ──▶ at most 30 frame messages a second ──▶ model
//
// One goroutine drains; the model takes the lock only to copy what is on the screen.
type Store struct {
	Mu      sync.Mutex
	Run     events.Run
	changed []int32 // steps that may look different since the last take
	listed  []bool  // by step: in changed
	all     bool    // every step may
	notes   []string
	pauses  int // how many pauses there have been
	last    time.Time
	History history
	stopped bool   // somebody stopped the run, perhaps by a signal: there is nothing to stay for when it has ended
	awaited string // the ID of the last command of this screen, until it is answered
	Ended   bool   // the feed is closed, or of no use any more
	err     error

	Poke chan struct{}
}

// NewStore makes a store that has seen nothing yet.
func NewStore() *Store { return &Store{Poke: make(chan struct{}, 1), all: true} }

// applyAtOnce bounds how long a big batch keeps the lock.
const applyAtOnce = 256

// Refused begins the note about a command that the run did not take.
const Refused = "refused: "

// Drain folds the feed until it is closed.
func (s *Store) Drain(feed <-chan []events.Record) {
	for batch := range feed {
		// The lock is given back in between: drawing must not wait for a large batch.
		for len(batch) > 0 {
			n := min(len(batch), applyAtOnce)
			s.ApplyAll(batch[:n])
			batch = batch[n:]
		}
		s.Wake()
	}
	s.End(nil)
}

// ApplyAll folds a batch of the feed, and lets readers in between.
func (s *Store) ApplyAll(batch []events.Record) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for i := range batch {
		s.Apply(&batch[i])
	}
}

// End says that nothing more will come, and why if that was not planned.
func (s *Store) End(err error) {
	s.Mu.Lock()
	s.Ended, s.err = true, err
	s.Mu.Unlock()
	s.Wake()
}

// Failure is why the feed could not be folded to its end.
func (s *Store) Failure() error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.err
}

// Wake says that there is something to see. It never blocks, and one poke is enough for any number of changes.
func (s *Store) Wake() {
	select {
	case s.Poke <- struct{}{}:
	default:
	}
}

// Apply folds one event. The caller holds Mu.
func (s *Store) Apply(rec *events.Record) {
	s.Run.Apply(*rec)
	s.History.add(rec)
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
		s.note(Refused + e.Reason)
	case events.Warning:
		s.note(e.Message)
	default: // concerns its step, or nothing on the screen
	}
}

func (s *Store) accepted(c events.Command) {
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

func (s *Store) touchAll(r events.Range) {
	// To list most of the steps costs more than to look at all of them.
	if r.To-r.From > len(s.Run.Steps)/2 {
		s.all = true
		return
	}
	for i := max(r.From, 0); i < min(r.To, len(s.Run.Steps)); i++ {
		s.touch(i)
	}
}

func (s *Store) touch(step int) {
	if s.all || step >= len(s.Run.Steps) {
		return
	}
	if len(s.listed) < len(s.Run.Steps) {
		s.listed = make([]bool, len(s.Run.Steps))
	}
	if !s.listed[step] {
		s.listed[step] = true
		s.changed = append(s.changed, int32(step))
	}
}

// note keeps a message for the person; of many, the last few.
func (s *Store) note(text string) {
	const keep = 3
	if len(s.notes) == keep {
		s.notes = s.notes[:copy(s.notes, s.notes[1:])]
	}
	s.notes = append(s.notes, text)
}

// Guard does something that the screen can do without. A panic in it must not end the process while the terminal belongs
// to the screen: it becomes a note.
func (s *Store) Guard(what string, do func()) {
	defer func() {
		if r := recover(); r != nil {
			s.Mu.Lock()
			s.note(fmt.Sprintf("%s broke off, an internal error: %v", what, r))
			s.Mu.Unlock()
			s.Wake()
		}
	}()
	do()
}

// Read lets f look at the run.
func (s *Store) Read(f func(run *events.Run)) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	f(&s.Run)
}

// Digest is the plan the run is about.
func (s *Store) Digest() string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Run.Digest
}

// Shot is the part of a run that is not about single steps, as of one moment.
type Shot struct {
	Phase    events.Phase
	Pause    events.RunPaused
	PausedAt int
	Pointer  int
	Pauses   int
	Counts   events.Counts
	Times    events.Times
	Timeout  time.Duration // of the run, instead of that of its playbook
	started  time.Time
	Ended    time.Time
	Last     time.Time // of the last event
	Result   events.RunCompleted
	digest   string
	Check    bool
	Steps    int
	closed   bool // nothing more will come
	Awaits   bool // the answer to a command of this screen is still to come
	Stopped  bool // before its end, by somebody
	Notes    []string
}

// Take gives each step that may have changed to f, forgets that they did, and returns the rest of the run. With
// everything changed it calls whole instead. Before both, spent gets how the time of the run was spent.
func (s *Store) Take(spent func(events.Times), f func(step int, of *events.Step), whole func(steps []events.Step)) Shot {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	spent(s.Run.Clock.Times)
	if s.all {
		whole(s.Run.Steps)
	} else {
		for _, i := range s.changed {
			if int(i) < len(s.Run.Steps) {
				f(int(i), &s.Run.Steps[i])
			}
		}
	}
	for _, i := range s.changed {
		s.listed[i] = false
	}
	if len(s.listed) > len(s.Run.Steps) {
		s.listed = nil
	}
	s.changed, s.all = s.changed[:0], false
	// Taken along, so that each note is shown once.
	notes := s.notes
	s.notes = nil
	r := &s.Run
	return Shot{
		Phase: r.Phase, Pause: r.Pause, PausedAt: r.PausedAt, Pointer: r.Pointer, Pauses: s.pauses, Counts: r.Counts,
		Times: r.Clock.Times, Timeout: r.Timeout, started: r.Started, Ended: r.Ended, Last: s.last, Result: r.Result, digest: r.Digest,
		Check: r.Check, Steps: len(r.Steps), closed: s.Ended, Awaits: s.Awaits(), Stopped: s.stopped, Notes: notes,
	}
}

// Over reports whether nothing more will come.
func (s *Store) Over() bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Ended
}

// Conclude ends a run whose record breaks off, because moon died or the record is damaged: what was running is lost, and
// the rest was not run. Only the fold is given this, and not the history: it was not recorded.
func (s *Store) Conclude() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.notes, s.stopped = nil, false // they were for somebody who could still act
	if s.Run.Phase == events.Done {
		return
	}
	end := func(step int, e events.Event) {
		// Not recorded, so it has no number of its own.
		s.Run.Apply(events.Record{Seq: s.Run.LastSeq, Run: s.Run.ID, Time: s.last, Step: step, Event: e})
	}
	for i := range s.Run.Steps {
		switch s.Run.Steps[i].State {
		case events.Active, events.Backoff:
			end(i, events.StepLost{})
		case events.Waiting, events.Held:
			end(i, events.StepOmitted{Reason: "the record of the run ends before"})
		case events.Settled:
		}
	}
	end(-1, s.Run.Summary())
	s.all = true
}

// Forget makes the next take give everything.
func (s *Store) Forget() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.all = true
}

// Await notes the command whose answer is waited for. Commands are answered in their order, so the last one is enough.
func (s *Store) Await(id string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.awaited = id
}

// answered notes the answer to a command.
func (s *Store) answered(o *events.Order) {
	if o.ID == s.awaited {
		s.awaited = ""
	}
}

// Awaits reports whether an answer is still to come, or the beginning of the run: until then nothing is known of it, and a key would be
// judged by an empty run. After the end of a run there is no answer.
func (s *Store) Awaits() bool {
	return (s.awaited != "" || s.Run.ID == "") && s.Run.Phase != events.Done && !s.Ended
}
