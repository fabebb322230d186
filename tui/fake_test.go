package tui

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"moon/events"
	"moon/plan"
	"moon/plan/eval/value"
)

func unknown(steps ...int) any { return value.Unknown{Steps: steps} }

// fake is an engine for tests and for looking at: it runs steps one after the other, does what commands say, and
// each of its ticks starts or ends one step. It decides as TUI.md says, as far as the screen can tell.
type fake struct {
	p     *plan.Plan
	dir   string // for what steps print
	check bool   // the run is dry
	run   events.Run
	emit  func([]events.Record)
	clock time.Time
	seq   uint64

	going   bool
	only    events.Range // of an Advance
	bounded bool
	stepped int // steps started since the advance, for step
	step    bool
	active  int
	passed  int // a breakpoint that is being run over
	stop    bool
	retries []int

	takes  func(i int) time.Duration
	fails  map[string]int // by name: how many attempts fail
	print  func(f *fake, i, attempt int) (prefix string)
	result func(i int, e *events.StepCompleted)
	sent   []events.Command
	names  map[int]string // what steps are called once they run, where that is not known before
}

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newFake(p *plan.Plan) *fake {
	return &fake{
		p: p, clock: t0, active: -1, passed: -1, fails: map[string]int{},
		takes: func(i int) time.Duration { return time.Duration(i%5) * 700 * time.Millisecond },
		emit:  func([]events.Record) {},
	}
}

func (f *fake) say(step int, e events.Event) {
	f.seq++
	rec := events.Record{Seq: f.seq, Run: "7f3a", Time: f.clock, Step: step, Event: e}
	f.run.Apply(rec)
	f.emit([]events.Record{rec})
}

func (f *fake) begin() {
	f.say(-1, events.RunStarted{TotalSteps: len(f.p.Steps), Playbook: f.p.RootFile, Check: f.check, Forks: 1, Review: true})
	f.say(-1, events.PlanLoaded{TotalSteps: len(f.p.Steps), Digest: f.p.Digest})
	f.say(-1, events.RunPaused{Reason: events.PauseReview})
}

func (f *fake) pause(step int, why events.PauseReason) {
	f.going = false
	f.say(step, events.RunPaused{Reason: why})
}

func (f *fake) send(c events.Command) { f.take(events.Order{Command: c}) }

// take obeys an order, and answers it.
func (f *fake) take(o events.Order) {
	c := o.Command
	f.sent = append(f.sent, c)
	if f.run.Phase == events.Done {
		return
	}
	f.say(-1, events.CommandAccepted{Order: o})
	switch c := c.(type) {
	case events.Continue:
		if f.run.Phase == events.Paused && f.run.Pause.Reason == events.PauseFailure && f.run.Steps[f.run.PausedAt].Outcome == events.Failed {
			f.giveUp(f.run.PausedAt)
			return
		}
		f.start(events.Range{}, false, false)
	case events.Advance:
		f.start(c.Range, c.Verb != "step", c.Verb == "step")
	case events.Pause:
		if f.active < 0 {
			f.pause(-1, events.PauseUser)
		} else {
			f.bounded, f.only, f.stop = true, events.Range{}, true
		}
	case events.Retry:
		for i := c.From; i < c.To; i++ {
			if s := f.run.Steps[i]; s.State == events.Settled && s.Outcome == events.Failed {
				f.retries = append(f.retries, i)
			}
		}
		if len(f.retries) > 0 {
			f.going = true
			if f.run.Pause.Reason == events.PauseEnd {
				f.say(f.retries[0], events.RunPaused{Reason: events.PauseFailure})
			}
		}
	case events.Skip:
		f.say(c.Step, events.StepSkipped{Reason: events.SkipUser})
		f.start(events.Range{}, false, false)
	case events.Stop:
		f.omit("stopped", -1)
		f.complete(events.RunStopped)
	case events.Leave:
		f.complete(events.RunFailed)
	default:
	}
}

func (f *fake) start(only events.Range, bounded, step bool) {
	f.only, f.bounded, f.step, f.stepped, f.going, f.stop = only, bounded, step, 0, true, false
	f.passed = f.run.PausedAt
	f.say(-1, events.RunResumed{})
}

func (f *fake) giveUp(cause int) {
	f.omit("a step before it failed", cause)
	f.pause(-1, events.PauseEnd)
}

func (f *fake) omit(why string, cause int) {
	for i := range f.run.Steps {
		if s := f.run.Steps[i]; s.State != events.Settled {
			f.say(i, events.StepOmitted{Name: f.p.Steps[i].Name, Reason: why, Cause: events.RefTo(cause)})
		}
	}
}

func (f *fake) complete(how events.RunOutcome) {
	sum := f.run.Summary()
	sum.Outcome, sum.Success = how, how == events.RunDone
	f.say(-1, sum)
}

// tick does one thing, and reports whether there was one.
func (f *fake) tick() bool {
	switch {
	case f.active >= 0:
		f.end(f.active)
		return true
	case !f.going:
		return false
	case len(f.retries) > 0:
		i := f.retries[0]
		f.retries = f.retries[1:]
		n := f.run.Steps[i].Attempt + 1
		out := ""
		if f.print != nil {
			out = f.print(f, i, n)
		}
		f.say(i, events.StepRetrying{Attempt: n, ByUser: true, Due: f.clock, Out: out})
		f.active = i
		return true
	}
	i := slices.IndexFunc(f.run.Steps, func(s events.Step) bool { return s.State != events.Settled })
	if i < 0 {
		f.finish()
		return true
	}
	f.next(i)
	return true
}

func (f *fake) finish() {
	if f.run.Counts.Failed > 0 {
		f.pause(-1, events.PauseEnd)
		return
	}
	f.going = false
	f.complete(events.RunDone)
}

func (f *fake) next(i int) {
	s, p := &f.run.Steps[i], &f.p.Steps[i]
	switch {
	case p.Excluded:
		f.say(i, events.StepSkipped{Name: p.Name, Reason: events.SkipTags})
	case s.Excluded:
		f.say(i, events.StepSkipped{Name: p.Name, Reason: events.SkipUser})
	case p.Name == "restore the backup":
		f.say(i, events.StepSkipped{Name: p.Name, Reason: events.SkipWhen, Detail: "nothing failed"})
	case f.stop:
		f.pause(-1, events.PauseUser)
	case f.step && f.stepped > 0, f.bounded && !f.only.Has(i):
		f.pause(i, events.PauseStep)
	case p.Confirm != "" && !s.Confirmed:
		f.pause(i, events.PauseConfirm)
	case !s.Approved && !f.step:
		f.pause(i, events.PauseUndecided)
	case s.Break && f.passed != i:
		f.pause(i, events.PauseBreakpoint)
	default:
		f.stepped++
		out := ""
		if f.print != nil {
			out = f.print(f, i, s.Attempt+1)
		}
		f.say(i, events.StepStarted{Name: cmp.Or(f.names[i], p.Name), Action: p.Action, Command: p.Summary, Out: out})
		f.active = i
	}
}

func (f *fake) end(i int) {
	p := &f.p.Steps[i]
	f.clock = f.clock.Add(f.takes(i))
	f.active = -1
	if f.fails[p.Name] > 0 {
		f.fails[p.Name]--
		rc := 1
		f.say(i, events.StepFailed{Name: cmp.Or(f.names[i], p.Name), Error: "the command exited with status 1", RC: &rc, Open: true})
		if len(f.retries) == 0 && f.run.Phase == events.Paused {
			f.going = false
		} else if len(f.retries) == 0 {
			f.pause(i, events.PauseFailure)
		}
		return
	}
	e := events.StepCompleted{Name: cmp.Or(f.names[i], p.Name), Changed: i%3 == 1, Result: map[string]any{"rc": 0}}
	if f.result != nil {
		f.result(i, &e)
	}
	f.say(i, e)
	if p.Register != "" {
		f.say(i, events.VariableSet{Name: p.Register, Value: map[string]any{"stdout": "go1.25.3", "rc": 0}})
	}
	if f.run.Phase == events.Paused && len(f.retries) == 0 {
		f.going = false // a retry leaves the pause as it is
	}
}

// settle runs until nothing goes on by itself.
func (f *fake) settle() {
	for f.tick() {
	}
}

// until runs until the step is active.
func (f *fake) until(name string) {
	for f.tick() {
		if f.active >= 0 && f.p.Steps[f.active].Name == name {
			return
		}
	}
	panic(fmt.Sprintf("%s never ran", name))
}
