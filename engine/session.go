package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"moon/engine/control"
	"moon/engine/graph"
	"moon/engine/journal"
	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/events/rundir"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/process"
	"moon/plan"
	"moon/plan/bind"
	"moon/plan/saved"
	"moon/secret"
)

// Runner does one attempt. exec has the real one and the dry run; tests have a fake.
type Runner interface {
	Run(ctx context.Context, job *exec.Job) exec.Result
}

// RoomError says that there is not enough space for the files of a run.
type RoomError = journal.RoomError

// Config is what a session is made from.
type Config struct {
	Plan    *plan.Plan     // required to start
	Graph   *graph.Graph   // required to start
	Runner  Runner         // required
	Dry     Runner         // required: for --check and check_mode
	Runs    string         // directory that holds the run directories; required to start
	Records string         // directory that remembers, across runs, what incremental steps were made from; required if there are any
	Options fact.Options   // Forks is required; without OnFailure it is Drain, or Host for plays
	First   []events.Order // commands that act before anything is decided; sent later, a run might already wait for them
	Version string
	Now     func() time.Time // nil: time.Now
	Disk    journal.Disk

	States    string // directory that remembers what runs of each playbook have made; "": none
	Durations string // directory that remembers, across runs, how long steps took; "": none
}

// Session is one run of a plan.
type Session struct {
	id      string
	dir     string
	cfg     Config
	owner   Owner
	lock    *flock.Flock
	journal *journal.Writer
	state   *state.State
	results *results
	texts   texts
	secrets *secret.Set
	began   time.Time
	first   planned // the plan of the first record
	current atomic.Pointer[plan.Plan]
	skipped uint64        // records of the processes before this one, which are not published again
	durable atomic.Uint64 // the last record that is certain to stay; none after it is published
	news    *news
	done    chan struct{}
	err     error

	mu     sync.Mutex // guards what follows
	inbox  []input
	wake   chan struct{}
	plans  map[string]planned
	closed bool

	control *control.Server // nil if there is none
	asked   map[string]control.Answer
	met     map[string]bool // other runs on the same target that were warned of
	answers []func()        // to be given when what they say is durable

	running  map[int]*attempt
	trustOf  *plan.Plan // whether it is trusted is known
	trusted  bool
	perhaps  map[int]bool // steps of a dry run whose condition only the run knows
	starting []int        // those of them that begin when their facts are durable
	stopped  events.StopHow
	trouble  error // why the run is being brought to its end while that can still be recorded
	fatal    error // why nothing can be recorded any more
	cause    uint64

	foretold map[string]*events.Foretold // what a person was shown before the run, by what names a step; guarded by mu

	ours  *ours // files that steps of this run have changed
	stale bool  // files have changed that steps read: the plan is to be made again once nothing runs

	unrecorded   []Made // not yet in the playbook's state
	unrecordable bool   // it was said that it cannot be written

	timing *stopwatch
	usual  Durations // of earlier runs
	lately Lasts     // of the last of them
}

type planned struct {
	plan  *plan.Plan
	graph *graph.Graph
}

// attempt is a step that runs.
type attempt struct {
	begin  func()
	cancel context.CancelCauseFunc
	now    chan struct{}
	nowing bool
}

// input is something that happens to the loop.
type input interface{ input() }

type (
	order  struct{ events.Order }
	report struct {
		fact.AttemptFinished
		out                string         // prefix of the output files
		registered, values map[string]any // whole, and also what is hidden from the journal
		err                error          // of the files beside it
	}
	replan struct {
		planned
		answer chan error
	}
)

func (order) input()  {}
func (report) input() {}
func (replan) input() {}
func (asking) input() {}

// Start makes the run directory and begins the run. With Options.Review it is paused until a command goes on.
func Start(cfg Config) (*Session, error) {
	if cfg.Options.OnFailure == "" {
		cfg.Options.OnFailure = fact.Drain
		if cfg.Plan.Plays {
			cfg.Options.OnFailure = fact.Host
		}
	}
	s := newSession(cfg)
	s.first = planned{cfg.Plan, cfg.Graph}
	s.plans[cfg.Plan.Digest] = s.first
	s.secrets = cfg.Plan.Secrets()
	s.state = state.New(cfg.Plan, cfg.Graph, s.observe)
	s.foresee(cfg.Plan)
	s.owner.Target = targetOf(cfg.Plan, cfg.Options)
	if err := s.makeDir(); err != nil {
		return nil, journal.OutOfRoom(cfg.Runs, err)
	}
	err := s.journal.Reserve(cfg.Runs)
	if err == nil {
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
	s.putFirst()
	s.listen()
	s.meet()
	go s.loop()
	return s, nil
}

func newSession(cfg Config) *Session {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Session{
		cfg: cfg, owner: self(), results: newResults(), news: newNews(), done: make(chan struct{}), wake: make(chan struct{}, 1),
		running: map[int]*attempt{}, perhaps: map[int]bool{}, asked: map[string]control.Answer{}, met: map[string]bool{},
		plans: map[string]planned{}, began: cfg.Now(),
		timing: newStopwatch(), ours: newOurs(), foretold: map[string]*events.Foretold{},
	}
	s.current.Store(cfg.Plan)
	return s
}

// putFirst queues the commands that come before everything else. The loop takes what is queued before it decides.
func (s *Session) putFirst() {
	for _, o := range s.cfg.First {
		s.put(order{o})
	}
}

// observe keeps the results that follow from the state alone: a skipped step has one, whatever it was skipped by. It also
// measures how long steps take.
func (s *Session) observe(step int, e events.Event) {
	at, mono := s.state.Time()
	s.timing.see(s.state.Plan(), step, e, mono, at, step >= 0 && s.dry(step))
	if done, ok := e.(events.StepCompleted); ok && step >= 0 {
		s.made(step, done)
	}
	switch e := e.(type) { //nolint:gochecksumtype // nothing is kept of the others
	case events.StepSkipped:
		s.results.decided(step, true)
		s.results.fail(step, false)
		if ps := &s.state.Plan().Steps[step]; (ps.Register != "" || ps.Keeps) && (!s.state.Plan().Plays || !s.excludes(step, e)) {
			r := plan.Result{Skipped: true, Plays: s.state.Plan().Plays}
			if e.Reason == events.SkipWhen {
				r.Condition = e.Detail
			}
			s.results.set(step, r.Registered(), nil, false)
		}
		s.results.miss(step, s.skippedBy(step, e))
	case events.StepCompleted:
		s.results.decided(step, false)
		s.results.fail(step, false)
	case events.StepOmitted:
		s.results.omit(step, s.state.Plan().NotReached())
	case events.StepCancelled:
		s.results.miss(step, plan.Absence{How: "was cancelled", Spreads: true})
	case events.StepFailed:
		s.results.fail(step, !e.Ignored && !e.Rescued)
		s.results.miss(step, plan.Absence{How: "failed"})
	case events.StepLost:
		s.results.fail(step, !e.Rescued)
		s.results.miss(step, plan.Absence{How: "was lost"})
	case events.StepRetrying:
		s.results.fail(step, false)
	}
}

// excludes reports whether a step was skipped because a person excludes it, and not one that has failed.
func (s *Session) excludes(step int, e events.StepSkipped) bool {
	return e.Reason == events.SkipTags || e.Reason == events.SkipUser && s.state.Attempt(step) == 0
}

// skippedBy says why a skipped step has given nothing. What a person leaves out takes along what needs it; a step whose own condition
// does not hold has a result that says so, and who asks it for more has made a mistake.
func (s *Session) skippedBy(step int, e events.StepSkipped) plan.Absence {
	switch {
	case e.Reason == events.SkipTags:
		return plan.Exclusion(plan.ByTags)
	case e.Reason == events.SkipUser && s.state.Attempt(step) > 0:
		return plan.Abandoned()
	case e.Reason == events.SkipUser:
		return plan.Exclusion(e.Detail)
	case e.Reason == events.SkipNeeds:
		return plan.Absence{How: "was skipped", Spreads: true}
	case e.Detail != "":
		return plan.Absence{How: fmt.Sprintf("was skipped (%s: %s)", e.Reason, e.Detail)}
	}
	return plan.Absence{How: fmt.Sprintf("was skipped (%s)", e.Reason)}
}

// makeDir makes the run's directory with its lock and journal, or nothing.
func (s *Session) makeDir() (err error) {
	var suffix [2]byte
	rand.Read(suffix[:])
	s.id = s.began.UTC().Format(idTime) + "-" + hex.EncodeToString(suffix[:])
	s.dir = rundir.Of(s.cfg.Runs, s.id)
	disk := s.cfg.Disk
	if err := disk.MkdirAll(s.cfg.Runs); err != nil {
		return fmt.Errorf("make the run directory: %w", err)
	}
	if err := disk.Mkdir(s.dir); err != nil {
		return fmt.Errorf("make the run directory: %w", err)
	}
	defer func() {
		if err != nil { // what is left would look like a run that had not begun when moon was killed
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
	}()
	if err := disk.Mkdir(s.OutDir()); err != nil {
		return fmt.Errorf("make the run directory: %w", err)
	}
	lock, err := lockRun(s.dir, s.owner)
	if err != nil {
		return err
	}
	s.lock = lock
	s.journal, err = disk.Create(rundir.Journal(s.dir)) // with it what else is in the directory is certain to stay
	if err == nil {
		err = disk.SyncDir(s.cfg.Runs)
	}
	if err != nil {
		return errors.Join(err, unlockRun(s.lock))
	}
	return nil
}

// ID is the run's name in the history.
func (s *Session) ID() string { return s.id }

// Dir is the run's directory.
func (s *Session) Dir() string { return s.dir }

func (s *Session) blobs() journal.Blobs {
	return s.cfg.Disk.BlobsBeside(rundir.Journal(s.dir))
}

// OutDir is where the output files of the steps are.
func (s *Session) OutDir() string { return rundir.Output(s.dir) }

// Send gives the run a command. It never blocks; a command after the end is dropped.
func (s *Session) Send(o events.Order) { s.put(order{o}) }

// Replan replaces the plan of a paused run by an edited one. It refuses while steps run.
func (s *Session) Replan(p *plan.Plan, g *graph.Graph) error {
	r := replan{planned{p, g}, make(chan error, 1)}
	s.mu.Lock()
	s.plans[p.Digest] = r.planned
	s.mu.Unlock()
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

// Exports are the values that the playbook exports, once the run is over.
func (s *Session) Exports() (map[string]any, error) {
	<-s.done
	return bind.Exports(s.state.Plan(), s.results)
}

// Discard removes the directory of a run in which nothing was ever started. It does nothing to any other run.
func (s *Session) Discard() error {
	<-s.done
	if s.skipped > 0 || s.state.Reviewed() && s.state.Begun() && s.state.AnyStarted() {
		return nil // also of one that was resumed, and had begun before
	}
	return os.RemoveAll(s.dir)
}

func (s *Session) put(in input) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.inbox = append(s.inbox, in)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return true
}

func (s *Session) take() []input {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.inbox
	s.inbox = nil
	return in
}

// add records a fact and folds it.
func (s *Session) add(f fact.Fact) {
	if s.fatal != nil {
		return
	}
	now := s.cfg.Now()
	r := fact.Record{Run: s.id, At: now, Mono: now.Sub(s.began), Cause: s.cause, Fact: s.redacted(f)}
	if err := s.journal.Append(&r); err != nil {
		s.fail(err)
		return
	}
	if err := s.state.Apply(r); err != nil {
		s.fail(fmt.Errorf("internal error: %w", err))
	}
	s.ours.see(s.state.Plan(), s.state.Options().Check, r)
}

// retire brings a run to its end that can still be recorded, but not for long, or not whole: what runs may end, and
// nothing else starts.
func (s *Session) retire(err error) {
	if s.trouble != nil || s.fatal != nil || s.state.Finished() {
		return
	}
	s.trouble = err
	s.add(fact.Warned{Step: -1, Message: fmt.Sprintf("the run stops: %s", err)})
	s.add(fact.Commanded{Order: events.Order{Actor: "moon", Command: events.Stop{How: events.StopDrain}}})
}

// fail ends the run because it cannot be recorded any more. What runs is stopped.
func (s *Session) fail(err error) {
	if s.fatal == nil {
		s.fatal = err
	}
	s.stopRunning(events.StopInterrupt)
}

// loop owns the state. Each round takes what has come in, decides what follows, makes both durable with one sync, and
// only then starts what was decided.
func (s *Session) loop() {
	defer s.close()
	defer func() {
		if broken := recover(); broken != nil { // as a panic it would print whatever it was about
			s.fatal = fmt.Errorf("internal error: %v; please report this\n%s", broken, debug.Stack())
		}
	}()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for _, in := range s.take() {
			s.handle(in)
		}
		until := s.decide()
		s.cause = 0
		s.sync()
		s.record()
		s.answer()
		s.launch()
		switch {
		case s.fatal != nil && len(s.running) == 0, s.fatal == nil && s.state.Finished():
			return
		case s.fatal == nil && s.trouble == nil && s.journal.Low() != nil:
			s.retire(s.journal.Low())
			continue
		}
		wait := time.Hour
		if !until.IsZero() {
			wait = max(until.Sub(s.cfg.Now()), 0)
		}
		timer.Reset(wait)
		select {
		case <-s.wake:
		case <-timer.C:
		}
	}
}

// launch starts what was decided, unless that could not be recorded.
func (s *Session) launch() {
	for _, step := range s.starting {
		if s.fatal == nil {
			s.running[step].begin()
		} else {
			delete(s.running, step)
		}
	}
	s.starting = s.starting[:0]
}

// sync makes what was recorded durable, and only then known.
func (s *Session) sync() {
	if s.fatal != nil || !s.journal.Pending() {
		return
	}
	if err := s.journal.Sync(); err != nil {
		s.fail(err)
		return
	}
	s.durable.Store(s.journal.Seq())
	s.news.poke()
}

func (s *Session) close() {
	s.mu.Lock()
	s.closed = true
	for _, in := range s.inbox {
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
	s.mu.Unlock()
	if s.control != nil {
		_ = s.control.Close() // a socket that is left behind is in nobody's way
	}
	process.EndRun(s.id)
	err := s.journal.Close()
	if s.fatal != nil {
		err = s.fatal // the file says the same again
	}
	s.err = errors.Join(err, s.trouble, unlockRun(s.lock))
	close(s.done)
	s.news.poke()
}

func (s *Session) handle(in input) {
	switch in := in.(type) {
	case order:
		s.obey(in.Order)
	case report:
		s.finished(in)
	case replan:
		in.answer <- s.edit(in.planned)
	case asking:
		s.ask(in)
	case wondering:
		s.explain(in)
	case found:
		s.warnOf(in.runs)
	}
}

// obey journals a command before it acts. It says why it is refused, or "".
func (s *Session) obey(o events.Order) string {
	if s.fatal != nil {
		if stop, ok := o.Command.(events.Stop); ok {
			s.stopRunning(stop.How)
		}
		return hasEnded
	}
	why := s.state.Refuse(o.Command)
	var next planned
	switch c := o.Command.(type) {
	case events.Set:
		if why == "" {
			next, why = s.again(s.state.Plan().With(c.Variable))
		}
	case events.Fix:
		if why == "" {
			next, why = s.again(s.state.Plan().WithOverrides(Overridden(s.state.Plan(), c)))
		}
		o.Command = withoutSecrets(c, next.plan)
	default:
	}
	if why != "" {
		s.add(fact.Refused{Order: o, Reason: why})
		return why
	}
	s.add(fact.Commanded{Order: o})
	fix, fixed := o.Command.(events.Fix)
	var before []int // that are outdated already
	if fix.Rerun {
		before = renumber(s.state.Outdated(events.Range{To: len(s.state.Plan().Steps)}), next.plan, s.state.Plan())
	}
	if next.plan != nil {
		if err := s.replace(next, fixed && saved.SameFiles(next.plan, s.state.Plan())); err != nil {
			return err.Error()
		}
	}
	if fixed && fix.Rerun {
		if why := s.rerunOutdated(o, before); why != "" {
			return why
		}
	}
	if fixed && fix.Retry != "" {
		return s.retryFixed(o, fix.Retry)
	}
	if a, ok := o.Command.(events.Answer); ok {
		s.add(fact.GateResolved{Step: a.Step, By: o.Actor, Reject: a.Reject})
	}
	s.stopRunning(s.state.Stopping())
	return ""
}

// again plans the playbook again with other values, or says why that cannot be. Nothing runs meanwhile, so nothing has to wait
// for it.
func (s *Session) again(o plan.Options) (planned, string) {
	o.Reads = s.ours.adopt(s.state.Plan())
	p, g, ds := Build(o)
	if p == nil {
		return planned{}, "with that the playbook cannot be planned: " + firstMistake(ds)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans[p.Digest] = planned{p, g}
	return s.plans[p.Digest], ""
}

// stopRunning brings what runs to an end, as hard as asked. Each way is gone through once.
func (s *Session) stopRunning(how events.StopHow) {
	if !state.Harder(how, s.stopped) {
		return
	}
	s.stopped = how
	for step, a := range s.running {
		s.stopAttempt(step, a)
	}
}

func (s *Session) stopAttempt(step int, a *attempt) {
	switch s.stopped {
	case events.StopInterrupt:
		s.add(fact.AttemptStopping{Step: step, Signal: "INT"})
		a.cancel(fault.Interrupt)
	case events.StopNow:
		s.add(fact.AttemptStopping{Step: step, Signal: "KILL"})
		if !a.nowing {
			a.nowing = true
			close(a.now)
		}
		a.cancel(fault.Interrupt)
	case events.StopDrain:
	}
}

func (s *Session) finished(r report) {
	delete(s.running, r.Step)
	r.Rescued = s.broken(r.AttemptFinished)
	s.learn(&r)
	s.results.set(r.Step, r.registered, r.values, r.Rescued)
	s.add(r.AttemptFinished)
	if r.Outcome == events.Skipped && r.Result["skipped"] == true { // its action says more of that than the state knows
		s.results.set(r.Step, r.registered, r.values, r.Rescued)
	}
	if r.err != nil {
		s.retire(fmt.Errorf("%s: %w", events.StepID(r.Step), r.err))
	}
	s.stopRunning(s.state.Stopping())
}

// broken reports whether a step has failed whose rescue is told so.
func (s *Session) broken(f fact.AttemptFinished) bool {
	return events.Bad.Has(f.Outcome) && !f.Ignored && s.state.HasRescue(f.Step)
}

// edit takes over the plan of an edited playbook, unless it is the one there is.
func (s *Session) edit(p planned) error {
	if err := s.replaceable(); err != nil || s.state.Plan().Digest == p.plan.Digest {
		return err
	}
	return s.replace(p, false)
}

func (s *Session) replaceable() error {
	switch {
	case len(s.running) > 0:
		return errors.New(state.StillRunning)
	case s.fatal != nil || s.state.Finished():
		return errors.New("the run has ended")
	}
	return nil
}

// replace swaps the plan of a run in which nothing runs. The other may have the same digest: with other values of a step with no_log,
// which it does not show. fixed says that a person has seen what the values lead to.
func (s *Session) replace(p planned, fixed bool) error {
	if err := s.replaceable(); err != nil {
		return err
	}
	if err := s.keep(p.plan); err != nil {
		s.fail(err)
		return err
	}
	now := s.cfg.Now()
	r := fact.Record{Run: s.id, At: now, Mono: now.Sub(s.began), Fact: fact.RunReplanned{
		Generation: s.state.Generation() + 1, Digest: p.plan.Digest, Total: len(p.plan.Steps), Fixed: fixed, Keeps: true,
	}}
	if err := s.journal.Append(&r); err != nil {
		s.fail(err)
		return err
	}
	s.results.move(state.Counterparts(p.plan, s.state.Plan(), true), p.plan)
	s.state.Replan(r, p.plan, p.graph)
	s.current.Store(p.plan)
	return nil
}

// decide carries out the state's decisions as far as they go, and says when to ask it again at the latest. Attempts only
// become those that are starting, because their facts must be durable first.
func (s *Session) decide() (until time.Time) {
	for s.fatal == nil {
		s.refresh()
		switch d := s.state.Next(s.cfg.Now()).(type) {
		case state.Idle:
			return d.Until
		case state.Evaluate:
			s.evaluate(d.Step)
		case state.Start:
			s.prepare(d.Step, d.Attempt)
		case state.Expire:
			s.expire(d.Step)
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
		case state.Pause:
			s.add(d.RunPaused)
		case state.Finish:
			s.keepDurations()
			if steps := s.state.Unexplained(); len(steps) > 0 {
				s.add(fact.Warned{
					Step:    -1,
					Message: "internal error: not run, and nothing says why: " + s.state.Plan().After(steps) + "; please report this",
				})
			}
			sum := s.state.Summary()
			s.add(fact.RunFinished{Outcome: d.Outcome, Counts: fact.Counts{Done: sum.Executed, Changed: sum.Changed, Failed: sum.Failed}})
		case state.Stuck:
			s.fail(errors.New("internal error: the run is stuck; please report this\n" + s.state.Dump()))
		}
	}
	return time.Time{}
}
