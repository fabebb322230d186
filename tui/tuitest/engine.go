package tuitest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"moon/events"
	"moon/plan"
)

// Engine is an engine for tests and for looking at: it runs steps one after the other, does what commands say, and
// each of its ticks starts or ends one step. It decides as the real one does, as far as a front end can see.
type Engine struct {
	P     *plan.Plan
	Dir   string // for what steps print
	Check bool   // the run is dry
	// Strict refuses commands that make no sense now, and begins what is tried again with the command itself, so that nothing is sent
	// without an answer.
	Strict  bool
	Refuse  func(c events.Command) string // more to Refuse, because of this; may be nil
	Replan  func(c events.Fix) *plan.Plan // the plan with other values; nil: they change nothing
	Failure string                        // what a failed step says
	Run     events.Run
	Emit    func([]events.Record)
	Clock   time.Time
	seq     uint64

	going   bool
	only    events.Range // of an Advance
	bounded bool
	stepped int // steps started since the advance, for step
	step    bool
	Active  int
	Passed  int // a breakpoint that is being run over
	stop    bool
	Retries []int

	Takes  func(i int) time.Duration
	Fails  map[string]int // by name: how many attempts fail
	Print  func(f *Engine, i, attempt int) (prefix string)
	Result func(i int, e *events.StepCompleted)
	Sent   []events.Command // also those that were refused
	Names  map[int]string   // what steps are called once they run, where that is not known before
}

// Start is when runs begin.
var Start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// NewEngine is an engine that has not begun, for a plan.
func NewEngine(p *plan.Plan) *Engine {
	return &Engine{
		P: p, Clock: Start, Active: -1, Passed: -1, Fails: map[string]int{}, Failure: "the command exited with status 1",
		Takes: func(i int) time.Duration { return time.Duration(i%5) * 700 * time.Millisecond },
		Emit:  func([]events.Record) {},
	}
}

// Say lets something happen, to a step or, with -1, to the run.
func (f *Engine) Say(step int, e events.Event) {
	f.seq++
	rec := events.Record{Seq: f.seq, Run: "7f3a", Time: f.Clock, Step: step, Event: e}
	f.Run.Apply(rec)
	f.Emit([]events.Record{rec})
}

// Begin starts the run, which is reviewed first.
func (f *Engine) Begin() {
	f.Say(-1, events.RunStarted{TotalSteps: len(f.P.Steps), Playbook: f.P.RootFile, Check: f.Check, Forks: 1, Review: true})
	f.Say(-1, events.PlanLoaded{TotalSteps: len(f.P.Steps), Digest: f.P.Digest})
	f.Say(-1, events.RunPaused{Reason: events.PauseReview})
}

func (f *Engine) pause(step int, why events.PauseReason) {
	f.going = false
	f.Say(step, events.RunPaused{Reason: why})
}

// Send is Take of a command without an actor.
func (f *Engine) Send(c events.Command) { f.Take(events.Order{Command: c}) }

// Take obeys an order, and answers it.
func (f *Engine) Take(o events.Order) {
	c := o.Command
	f.Sent = append(f.Sent, c)
	switch why := f.whyRefused(c); {
	case why != "" && f.Strict:
		f.Say(-1, events.CommandRejected{Order: o, Reason: why})
		return
	case f.Run.Phase == events.Done:
		return
	}
	f.Say(-1, events.CommandAccepted{Order: o})
	switch c := c.(type) {
	case events.Continue:
		if onFailure := f.Run.Phase == events.Paused && f.Run.Pause.Reason == events.PauseFailure; onFailure &&
			f.Run.Steps[f.Run.PausedAt].Outcome == events.Failed {
			f.endFailed(f.Run.PausedAt)
			return
		}
		f.start(events.Range{}, false, false)
	case events.Advance:
		f.start(c.Range, c.Verb != "step", c.Verb == "step")
	case events.Pause:
		// A step that runs is not cut off: the pause comes when it has ended.
		if f.Active < 0 {
			f.pause(-1, events.PauseUser)
		} else {
			f.bounded, f.only, f.stop = true, events.Range{}, true
		}
	case events.Retry:
		for i := c.From; i < c.To; i++ {
			if f.retryable(i) {
				f.Retries = append(f.Retries, i)
			}
		}
		if len(f.Retries) > 0 {
			f.going = true
			switch {
			case c.Continue:
				f.Say(-1, events.RunResumed{})
			case f.Run.Pause.Reason == events.PauseEnd:
				f.Say(f.Retries[0], events.RunPaused{Reason: events.PauseFailure})
			}
		}
		if f.Strict {
			f.Tick()
		}
	case events.Fix:
		if f.Replan != nil {
			f.adoptPlan(f.Replan(c))
		}
	case events.Skip:
		f.Say(c.Step, events.StepSkipped{Reason: events.SkipUser})
		f.start(events.Range{}, false, false)
	case events.Stop:
		f.omit("stopped", -1)
		f.Complete(events.RunStopped)
	case events.Leave:
		f.Complete(events.RunFailed)
	default:
	}
}

// retryable reports whether a step can be tried again. One whose plan was replaced since then is held where it failed.
func (f *Engine) retryable(i int) bool {
	if s := f.Run.Steps[i]; s.State == events.Settled {
		return s.Outcome == events.Failed
	}
	return f.Run.Phase == events.Paused && f.Run.Pause.Reason == events.PauseFailure && f.Run.PausedAt == i
}

// whyRefused says why the real engine would Refuse a command, or "".
func (f *Engine) whyRefused(c events.Command) string {
	if f.Refuse != nil {
		if why := f.Refuse(c); why != "" {
			return why
		}
	}
	switch c := c.(type) {
	case events.Pause:
		if f.Run.Phase != events.Running {
			return "the run is paused already"
		}
	case events.Retry:
		for i := c.From; i < c.To; i++ {
			if f.retryable(i) {
				return ""
			}
		}
		return "there is nothing to retry here"
	default:
	}
	if f.Run.Phase == events.Done {
		return "the run has ended"
	}
	return ""
}

// adoptPlan continues with another plan, as the engine does: what has run is kept, and so is the pause.
func (f *Engine) adoptPlan(p *plan.Plan) {
	before, pause, at := slices.Clone(f.Run.Steps), f.Run.Pause, f.Run.PausedAt
	f.P = p
	f.Say(-1, events.PlanLoaded{TotalSteps: len(p.Steps), Digest: p.Digest, Generation: f.Run.Generation + 1})
	for i, s := range before {
		if s.Attempt > 0 {
			f.Say(i, events.StepTried{Attempts: s.Attempt, Out: s.Out})
		}
		if s.State == events.Settled && s.Outcome != events.Failed {
			f.Say(i, events.StepCompleted{Kept: true})
		}
		if s.Approved {
			f.Say(-1, events.CommandAccepted{Order: events.Order{Command: events.Approve{Range: events.Range{From: i, To: i + 1}}}})
		}
	}
	f.Say(at, pause)
}

func (f *Engine) start(only events.Range, bounded, step bool) {
	f.only, f.bounded, f.step, f.stepped, f.going, f.stop = only, bounded, step, 0, true, false
	f.Passed = f.Run.PausedAt
	f.Say(-1, events.RunResumed{})
}

func (f *Engine) endFailed(cause int) {
	f.omit("a step before it failed", cause)
	f.pause(-1, events.PauseEnd)
}

func (f *Engine) omit(why string, cause int) {
	for i := range f.Run.Steps {
		if s := f.Run.Steps[i]; s.State != events.Settled {
			f.Say(i, events.StepOmitted{Name: f.P.Steps[i].Name, Reason: why, Cause: events.RefTo(cause)})
		}
	}
}

// Complete ends the run.
func (f *Engine) Complete(how events.RunOutcome) {
	f.going = false
	sum := f.Run.Summary()
	sum.Outcome, sum.Success, sum.Duration = how, how == events.RunDone, f.Clock.Sub(Start)
	f.Say(-1, sum)
}

// Tick does one thing, and reports whether there was one.
func (f *Engine) Tick() bool {
	switch {
	case f.Active >= 0:
		f.end(f.Active)
		return true
	case !f.going:
		return false
	case len(f.Retries) > 0:
		i := f.Retries[0]
		f.Retries = f.Retries[1:]
		n := f.Run.Steps[i].Attempt + 1
		out := ""
		if f.Print != nil {
			out = f.Print(f, i, n)
		}
		f.Say(i, events.StepRetrying{Attempt: n, ByUser: true, Due: f.Clock, Out: out})
		f.Active = i
		return true
	}
	i := slices.IndexFunc(f.Run.Steps, func(s events.Step) bool { return s.State != events.Settled })
	if i < 0 {
		f.finish()
		return true
	}
	f.next(i)
	return true
}

func (f *Engine) finish() {
	if f.Run.Counts.Failed > 0 {
		f.pause(-1, events.PauseEnd)
		return
	}
	f.Complete(events.RunDone)
}

func (f *Engine) next(i int) {
	s, p := &f.Run.Steps[i], &f.P.Steps[i]
	switch {
	case p.Excluded:
		f.Say(i, events.StepSkipped{Name: p.Name, Reason: events.SkipTags})
	case s.Excluded:
		f.Say(i, events.StepSkipped{Name: p.Name, Reason: events.SkipUser})
	case p.Name == "restore the backup":
		f.Say(i, events.StepSkipped{Name: p.Name, Reason: events.SkipWhen, Detail: "nothing failed"})
	case f.stop:
		f.pause(-1, events.PauseUser)
	case f.step && f.stepped > 0, f.bounded && !f.only.Has(i):
		f.pause(i, events.PauseStep)
	case p.Confirm != "" && !s.Confirmed:
		f.pause(i, events.PauseConfirm)
	case !s.Approved && !f.step:
		f.pause(i, events.PauseUndecided)
	case s.Break && f.Passed != i:
		f.pause(i, events.PauseBreakpoint)
	default:
		f.stepped++
		out := ""
		if f.Print != nil {
			out = f.Print(f, i, s.Attempt+1)
		}
		f.Say(i, events.StepStarted{Name: cmp.Or(f.Names[i], p.Name), Action: p.Action, Command: p.Summary, Out: out})
		f.Active = i
	}
}

func (f *Engine) end(i int) {
	p := &f.P.Steps[i]
	f.Clock = f.Clock.Add(f.Takes(i))
	f.Active = -1
	if f.Fails[p.Name] > 0 {
		f.Fails[p.Name]--
		rc := 1
		f.Say(i, events.StepFailed{Name: cmp.Or(f.Names[i], p.Name), Error: f.Failure, RC: &rc, Open: true})
		if len(f.Retries) == 0 && f.Run.Phase == events.Paused {
			f.going = false
		} else if len(f.Retries) == 0 {
			f.pause(i, events.PauseFailure)
		}
		return
	}
	e := events.StepCompleted{Name: cmp.Or(f.Names[i], p.Name), Changed: i%3 == 1, Result: map[string]any{"rc": 0}}
	if f.Result != nil {
		f.Result(i, &e)
	}
	f.Say(i, e)
	if p.Register != "" {
		f.Say(i, events.VariableSet{Name: p.Register, Value: map[string]any{"stdout": "go1.25.3", "rc": 0}})
	}
	if f.Run.Phase == events.Paused && len(f.Retries) == 0 {
		f.going = false // a retry keeps the pause
	}
}

// Settle runs until nothing moves by itself.
func (f *Engine) Settle() {
	for f.Tick() {
	}
}

// Until runs until the step is active.
func (f *Engine) Until(name string) {
	for f.Tick() {
		if f.Active >= 0 && f.P.Steps[f.Active].Name == name {
			return
		}
	}
	panic(fmt.Sprintf("%s never ran", name))
}
