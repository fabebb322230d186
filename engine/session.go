package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"moon/engine/control"
	"moon/engine/durations"
	"moon/engine/exported"
	"moon/engine/graph"
	"moon/engine/history"
	"moon/engine/journal"
	"moon/engine/state"
	"moon/engine/statefile"
	"moon/events"
	"moon/events/fact"
	"moon/exec/process"
	"moon/plan"
	"moon/plan/bind"
)

// Session is one run of a plan. It lies in layers, each of which knows those below it and nothing above:
//
//	ledger ◀ observer ◀ attempts ◀ steering ◀ hearing ◀ Session
//
// All of it belongs to the loop, but for what says that it may be called from anywhere.
type Session struct {
	hearing
	first     planned       // the plan of the first record
	attention *process.Bell // rung for the loop while it waits for a process; nil: it never has
	skipped   uint64        // records of the processes before this one, which are not published again
	done      chan struct{}
	err       error
}

// Start makes the run directory and begins the run. With Options.Review it is paused until a command goes on.
func Start(cfg Config) (*Session, error) {
	if cfg.Options.OnFailure == "" {
		cfg.Options.OnFailure = fact.Policy(cfg.Plan.Dialect.Rules().OnFailure)
	}
	s := newSession(cfg)
	s.first = planned{cfg.Plan, cfg.Graph}
	s.hold(s.first)
	s.secrets = cfg.Plan.Secrets()
	s.state = state.New(cfg.Plan, cfg.Graph, s.observe)
	s.loadDurations(cfg.Plan)
	s.owner.Target = history.TargetOf(cfg.Plan, cfg.Options)
	leave, err := history.Enter(cfg.Disk, cfg.Runs, "", s.owner)
	if err != nil {
		return nil, journal.OutOfRoom(cfg.Runs, err)
	}
	// Looked at while no other run of the playbook works: what the plan removes must be what is recorded.
	if err = statefile.Check(cfg.States, cfg.Plan, cfg.Options.Check); err == nil {
		err = s.makeDir()
	}
	leave()
	if err != nil {
		return nil, journal.OutOfRoom(cfg.Runs, err)
	}
	err = s.journal.Reserve(cfg.Runs)
	if err == nil {
		// Stored before the first record, which names the plan by its digest.
		err = journal.OutOfRoom(cfg.Runs, s.keep(cfg.Plan))
	}
	if err != nil {
		return nil, errors.Join(err, s.journal.Close(), os.RemoveAll(s.dir), s.lock.Unlock())
	}
	s.add(fact.RunCreated{
		Format: fact.Format, Moon: cfg.Version, Playbook: cfg.Plan.RootFile, Root: cfg.Plan.Root, Digest: cfg.Plan.Digest,
		Total: len(cfg.Plan.Steps), Options: cfg.Options, Actor: s.owner.User, Host: s.owner.Host, PID: s.owner.PID,
	})
	s.add(fact.RunStarted{})
	if cfg.Options.Exact && cfg.Expected != nil {
		s.add(fact.RunExpects{Expectations: *cfg.Expected})
	}
	s.putFirst()
	s.listen()
	// After listening: a run that starts at the same moment either sees the lock or is reached by the request.
	s.meet()
	s.beginLoop()
	return s, nil
}

func newSession(cfg Config) *Session {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Session{done: make(chan struct{})}
	s.ledger = ledger{
		cfg: cfg, owner: history.Self(), began: cfg.Now(), news: newNews(), ours: newOurs(),
		prior: statefile.NewRecorder(cfg.States), running: map[int]*attempt{},
		texts: map[string]string{},
	}
	s.timing = durations.NewStopwatch()
	s.takeResults(newResults())
	s.wake, s.perhaps = make(chan struct{}, 1), map[int]bool{}
	s.found, s.unanswered = map[int]*foundItems{}, map[string]bool{}
	s.plans = map[string]planned{}
	s.asked, s.met = map[sentBy]control.Answer{}, map[string]bool{}
	s.current.Store(cfg.Plan)
	return s
}

// putFirst queues the commands that come before everything else. The loop takes what is queued before it decides.
func (s *Session) putFirst() {
	for _, o := range s.cfg.First {
		s.put(order{o})
	}
}

// Send gives the run a command. It never blocks; a command after the end is dropped.
func (s *Session) Send(o events.Order) { s.put(order{o}) }

// Replan replaces the plan of a paused run by an edited one. It refuses while steps run.
func (s *Session) Replan(p *plan.Plan, g *graph.Graph) error {
	r := replan{planned{p, g}, make(chan error, 1)}
	// Held before the loop knows of it: a follower may ask for the plan as soon as the record is there.
	s.hold(r.planned)
	if !s.put(r) {
		return errors.New("the run has ended")
	}
	select {
	case err := <-r.answer:
		return err
	case <-s.done:
		return errors.New("the run has ended")
	}
}

// Wait returns when the run has ended and everything about it is on the disk. An error means that the run could not be
// carried on: the journal, the lock or the disk failed.
func (s *Session) Wait() error {
	<-s.done
	return s.err
}

// Discard removes the directory of a run in which nothing was ever started. It does nothing to any other run.
func (s *Session) Discard() error {
	<-s.done
	if s.skipped > 0 || s.state.Reviewed() && s.state.Begun() && s.state.AnyStarted() {
		return nil // also of one that was resumed, and had begun before
	}
	return os.RemoveAll(s.dir)
}

// beginLoop starts the loop, on a thread that outlives the run if processes may be started on it.
func (s *Session) beginLoop() {
	if _, can := s.cfg.Runner.(waiter); can {
		process.OnThread(s.loop)
		return
	}
	go s.loop()
}

// loop owns the state. It does a round whenever something has come in, or it is time for something, and waits in between: for both, or
// for the process of the one step that runs.
func (s *Session) loop() {
	defer s.close()
	defer s.surviveRound()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait, over := s.round()
		if over {
			return
		}
		if s.attend(wait) {
			continue
		}
		timer.Reset(wait)
		select {
		case <-s.wake:
		case <-timer.C:
		}
	}
}

// surviveRound ends the run if a round of the loop panics: as a panic it would print whatever it was about.
func (s *Session) surviveRound() {
	if broken := recover(); broken != nil {
		s.fatal = fmt.Errorf("internal error: %v; please report this\n%s", broken, debug.Stack())
		s.stopRunning(events.StopInterrupt)
	}
}

// round takes what has come in, decides what follows, makes both durable with one sync, and only then starts what was decided. It says
// for how long nothing else is to be done, unless something comes in, and whether the run is over.
func (s *Session) round() (wait time.Duration, over bool) {
	for {
		for _, in := range s.take() {
			s.handle(in)
		}
		until := s.decide()
		// The cause belongs to one round: what is decided next has others.
		s.cause = 0
		s.sync()
		calm := s.trouble == nil
		s.record()
		s.answer()
		s.launch()
		switch {
		case s.fatal != nil && len(s.running) == 0, s.fatal == nil && s.state.Finished():
			return 0, true
		// Little room is left on the disk. What runs may end and be recorded.
		case s.fatal == nil && s.trouble == nil && s.journal.Low() != nil:
			s.retire(s.journal.Low())
		case calm && s.trouble != nil: // the command to end is a record of its own
		case until.IsZero():
			return time.Hour, false
		default:
			return max(until.Sub(s.cfg.Now()), 0), false
		}
	}
}

// attend runs the only attempt there is on the thread of the loop, if it may, and reports whether it has. The loop looks after everything
// else while it waits for the process, and takes in what that reports without a thread having been woken for it.
func (s *Session) attend(wait time.Duration) (done bool) {
	a := s.own
	if a == nil {
		return false
	}
	s.own = nil
	if s.attention == nil {
		s.attention, _ = process.NewBell()
	}
	if s.attention == nil { // too many files are open
		go a.run()
		return false
	}
	a.job.Owner = &process.Owner{Bell: s.attention, Wait: wait, Turn: s.turn}
	s.ringFor(s.attention)
	a.run()
	s.ringFor(nil)
	s.attention.Silence()
	return true // a wake-up that is left over makes one more round
}

// turn is a round while the loop waits for a process: the run is not over before that. The attempt must not take a mistake of the loop for
// its own.
func (s *Session) turn() (wait time.Duration) {
	defer s.surviveRound()
	wait, _ = s.round()
	return wait
}

func (s *Session) close() {
	// Those who wait for an answer get one, or they would wait for ever.
	for _, in := range s.shut() {
		switch in := in.(type) {
		case replan:
			in.answer <- errors.New("the run has ended")
		case asking:
			in.answer <- control.Answer{Reason: hasEnded}
		case wondering:
			in.answer <- nil
		default:
		}
	}
	if s.attention != nil {
		s.attention.Close()
	}
	if s.others != nil {
		_ = s.others.Close()
	}
	if s.control != nil {
		_ = s.control.Close() // a socket that is left behind is in nobody's way
	}
	// Processes that a step left running are the run's, and end with it.
	process.EndRun(s.id)
	err := s.journal.Close()
	if s.fatal != nil {
		err = s.fatal // the file says the same again
	}
	s.err = errors.Join(err, s.trouble, history.Unlock(s.lock))
	close(s.done)
	s.news.poke()
}

// export evaluates what the playbook exports, and keeps it for playbooks that import it. Whatever goes wrong fails the run.
func (s *Session) export() fact.RunExported {
	p := s.state.Plan()
	values, err := bind.Exports(p, s.results)
	if err == nil {
		err = exported.Check(values)
	}
	if err == nil && s.cfg.Exports != "" {
		// Before the record, so that a run that says it has exported something has.
		err = exported.Keep(s.cfg.Exports, exported.Last{
			Playbook: filepath.Join(p.Root, p.RootFile), Run: s.id, At: s.cfg.Now().UTC(), Values: values,
		})
	}
	if err != nil {
		return fact.RunExported{Error: err.Error()}
	}
	return fact.RunExported{Values: values}
}

// dropExports forgets the exports of a playbook when all that it had set up was removed, so that no other one imports them.
func (s *Session) dropExports(end events.RunOutcome) {
	p := s.state.Plan()
	prior := &p.Basis.O.Prior
	if s.cfg.Exports == "" || end != events.RunDone || s.state.Options().Check || !prior.Destroy || len(prior.Only) > 0 {
		return
	}
	if err := exported.Drop(s.cfg.Exports, filepath.Join(p.Root, p.RootFile)); err != nil {
		s.add(fact.Warned{Step: -1, Message: err.Error()})
	}
}

func (s *Session) handle(in input) {
	switch in := in.(type) {
	case order:
		in.By = s.confirmer(in.Command, s.atScreen(in.Actor))
		s.obey(in.Order)
	case report:
		if in.of != nil { // the step may have another number by now
			in.Step = in.of.step
		}
		s.finished(in)
	case grown:
		in.over = true
	case replan:
		in.answer <- s.edit(in.planned)
	case asking:
		s.ask(in)
	case wondering:
		s.explain(in)
	case lookedAround:
		s.warnOf(in.runs)
	}
}

// decide carries out the state's decisions as far as they go, and says when to ask it again at the latest. Attempts only
// become those that are starting, because their facts must be durable first.
func (s *Session) decide() (until time.Time) {
	for s.fatal == nil {
		// A new plan is taken in between two decisions, never in the middle of one.
		s.refresh()
		s.open()
		if s.planUnanswered() && !s.state.Schedules() {
			s.beginGrowth() // what was found is planned first
			return time.Time{}
		}
		switch d := s.state.Next(s.cfg.Now()).(type) {
		case state.Idle:
			s.beginGrowth() // with all that was found in this round
			return d.Until
		case state.Evaluate:
			s.evaluate(d.Step)
		case state.Start:
			s.prepare(d.Step, d.Attempt)
		case state.Expire:
			s.expire(d.Step)
		case state.Lapse:
			s.lapse(d.Scope)
		case state.Probe:
			s.probe(d.Step)
		case state.Schedule:
			due := s.cfg.Now().Add(s.backoff(d.Step, d.Attempt))
			s.add(fact.RetryScheduled{
				Step: d.Step, Attempt: d.Attempt, Due: due, Error: s.state.LastError(d.Step),
				Out: s.state.OutName(d.Step, d.Attempt),
			})
		case state.OpenGate:
			s.add(fact.GateOpened{Step: d.Step, Message: s.state.Plan().Steps[d.Step].Title()})
		case state.Unasked:
			s.endUnasked(d.Step)
		case state.Pause:
			s.add(d.RunPaused)
			s.warnOfPeople(d.RunPaused)
		case state.Export:
			s.add(s.export())
			// Durable before the next decision, which ends the run.
			return s.cfg.Now()
		case state.Finish:
			s.keepDurations()
			s.dropExports(d.Outcome)
			if steps := s.state.Unexplained(); len(steps) > 0 {
				s.add(fact.Warned{
					Step:    -1,
					Message: "internal error: not run, and nothing says why: " + s.state.Plan().After(steps) + "; please report this",
				})
			}
			s.warnUnmet()
			sum := s.state.Summary()
			// After the durations, as nothing may follow the last record.
			s.add(fact.RunFinished{Outcome: d.Outcome, Counts: fact.Counts{Done: sum.Executed, Changed: sum.Changed, Failed: sum.Failed}})
		case state.Stuck:
			s.fail(errors.New("internal error: the run is stuck; please report this\n" + s.state.Dump()))
		}
	}
	return time.Time{}
}

// Follow publishes the run's events in batches, read from the journal at the reader's own pace: a slow reader slows
// nothing and loses nothing. With lines, every line of output comes as an event of its own, read from the output
// files. The channel is closed after run.completed, or when ctx ends; the error function says then whether anything
// was wrong.
func (s *Session) Follow(ctx context.Context, lines bool) (<-chan []events.Record, func() error) {
	return s.reader(lines).start(ctx)
}

// FollowBlocks is Follow with lines, where those that a step prints one after the other come as one event: for those who write them down,
// and for whom there may be millions.
func (s *Session) FollowBlocks(ctx context.Context) (<-chan []events.Record, func() error) {
	f := s.reader(true)
	f.blocks = true
	return f.start(ctx)
}

func (s *Session) reader(lines bool) *follower {
	at := s.read()
	return &follower{
		dir: s.dir, run: s.id, lines: lines, version: s.cfg.Version, first: s.first, skip: s.skipped, durable: s.durable.Load,
		printed: s.news.printed.Load,
		listen:  func(bool) (<-chan struct{}, bool) { return s.news.wait(), isClosed(s.done) },
		planned: func(digest string) (planned, error) {
			p, ok := s.planned(digest)
			if !ok {
				return p, fmt.Errorf("the journal names a plan that is not here: %s", digest)
			}
			return p, nil
		},
		handedOver: func(digest string) { s.passed(at, digest) },
		left:       func() { s.leave(at) },
	}
}
