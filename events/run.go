package events

import (
	"slices"
	"time"
)

// Phase is the state of a run as a person sees it.
type Phase uint8

// The phases. Review is the pause before anything ran; Ended is everything settled but still open for a retry.
const (
	Review Phase = iota
	Running
	Paused
	Ended
	Done
)

// StepState is where a step is between being planned and having ended.
type StepState uint8

// The states of a step. A step that has Settled has an Outcome.
const (
	Waiting StepState = iota
	Held              // ready, but something keeps it: a gate, a breakpoint, step mode
	Active            // an attempt runs
	Backoff           // waits for its next attempt
	Settled
)

// Step is what is known about one step of a run.
type Step struct {
	State     StepState
	Outcome   Outcome
	Approved  bool
	Confirmed bool     // approved although it asks to be confirmed
	By        []string // who has confirmed it, of those that it demands
	Missing   string   // who has still to confirm it
	Excluded  bool
	Break     bool
	BreakOn   string      // its condition, count or message, as a person writes it after a blank
	Stop      *Breakpoint // nil without one; shared by the steps of one command
	Ignored   bool
	Rescued   bool
	Drifted   bool // it has failed, and was not done: it would have done something else than was predicted
	Touched   bool // it has failed, and changed something nevertheless
	Open      bool // it has failed, and what becomes of it is not decided yet
	Kept      bool
	Marked    bool        // it was not run: a person has marked it as done
	Outdated  bool        // it ended well, and its definition changed since
	Hold      PauseReason // why it is Held
	Attempt   int         // the current or last attempt, from 1; 0 before the first
	RC        int
	HasRC     bool
	Cause     int       // of an omission: the step that led to it, or -1
	Started   time.Time // of the first attempt
	Since     time.Time // what its time counts from: its first attempt, or the last that a person asked for
	Ended     time.Time
	Due       time.Time // of the next attempt
	Name      string    // as rendered at the start; empty before
	Command   string    // what ran, on one line
	Error     string    // why it failed
	Reason    string    // why it was skipped or omitted
	Message   string    // of a print
	Diff      *Diff
	Drift     string   // how that differs from what was predicted
	Out       []string // prefixes of the output files, one per attempt
}

// Restorable reports whether a person has excluded the step and it was not skipped for that yet, so that it can be restored.
func (s *Step) Restorable() bool { return s.Excluded && (s.State != Settled || s.Outcome != Skipped) }

// Breakpoint is a breakpoint as it was set, and how often it has stopped the run.
type Breakpoint struct {
	Set  Break
	Hits int
}

// Counts are how many steps are in each final state. NotRun counts omitted steps and those not reached.
type Counts struct {
	OK, Changed, Skipped, Failed, Ignored, Rescued, Cancelled, Lost, Omitted int
	Running                                                                  int
	Outdated                                                                 int // among those that have ended
}

// Settled is how many steps have ended, one way or another.
func (c Counts) Settled() int {
	return c.OK + c.Changed + c.Skipped + c.Failed + c.Ignored + c.Rescued + c.Cancelled + c.Lost + c.Omitted
}

// Run is the state of a run, folded from its events and from nothing else. The zero value is a run of which
// nothing is known yet.
type Run struct {
	ID         string
	Playbook   string
	Check      bool
	Digest     string
	Generation int
	Phase      Phase
	Pause      RunPaused // the last pause; holds while Phase is Review, Paused or Ended
	PausedAt   int       // the step it pauses at, or -1
	Pointer    int       // the step the engine is at: started last, or paused at; -1 before the first
	Started    time.Time // of the run proper: the end of the review
	Ended      time.Time
	Steps      []Step
	Counts     Counts
	Variables  map[string]any // set during the run, latest value
	Result     RunCompleted   // valid when Phase is Done
	LastSeq    uint64
	Clock      Clock         // how its time was spent
	Timeout    time.Duration // how long it may take, instead of what the playbook says; 0: as that

	review bool // the review is not over
}

// Apply folds one event into the run. It never fails: an event about a step that does not exist is ignored, as a
// view must survive a stream it does not fully understand.
func (r *Run) Apply(rec Record) {
	r.LastSeq = rec.Seq
	r.Clock.See(rec)
	if rec.Run != "" {
		r.ID = rec.Run
	}
	switch e := rec.Event.(type) {
	case RunStarted:
		*r = Run{
			ID: r.ID, LastSeq: rec.Seq, Playbook: e.Playbook, Check: e.Check, Phase: Running, PausedAt: -1, Pointer: -1,
			Started: rec.Time, Variables: map[string]any{}, Clock: r.Clock,
		}
		if e.Review {
			r.Phase = Review
		}
	case PlanLoaded:
		r.Digest, r.Generation, r.Timeout = e.Digest, e.Generation, e.Timeout
		r.Steps, r.Counts = make([]Step, e.TotalSteps), Counts{}
		for i := range r.Steps {
			r.Steps[i].Cause = -1
		}
		r.Pointer = -1
	case RunPaused:
		r.Pause, r.PausedAt = e, rec.Step
		switch e.Reason {
		case PauseReview:
			r.Phase, r.review = Review, true
		case PauseEnd:
			r.Phase = Ended
		default:
			r.Phase = Paused
		}
		if rec.Step >= 0 {
			r.Pointer = rec.Step
		}
		if e.Reason == PauseBreakpoint && rec.Step >= 0 && rec.Step < len(r.Steps) && r.Steps[rec.Step].Stop != nil {
			r.Steps[rec.Step].Stop.Hits++
		}
	case RunResumed:
		r.resume(rec)
	case RunCompleted:
		r.Phase, r.Result, r.Ended = Done, e, rec.Time
	case CommandAccepted:
		r.command(e.Command)
	case VariableSet:
		if r.Variables == nil {
			r.Variables = map[string]any{}
		}
		r.Variables[e.Name] = e.Value
	case CommandRejected, Warning, Gap, StepOutput, StepProgress, Notified:
		// Shown as they pass; they change nothing that is.
	case PrintMessage, StepStarted, StepTried, StepRetrying, AttemptStarted, StepCompleted, StepSkipped, StepFailed, StepLost,
		StepCancelled,
		StepOmitted, GateOpened, GateResolved, StepConfirmed:
		if rec.Step >= 0 && rec.Step < len(r.Steps) {
			r.step(rec)
		}
	}
}

func (r *Run) resume(rec Record) {
	if r.Phase == Done {
		return
	}
	r.Phase = Running
	r.PausedAt = -1
	// The run starts when the review has ended.
	if r.review {
		r.review, r.Started = false, rec.Time
	}
	for i := range r.Steps {
		r.Steps[i].Open = false // a failure that waited for a decision was given up
		if r.Steps[i].State == Held && r.Steps[i].Hold != "" {
			r.Steps[i].State, r.Steps[i].Hold = Waiting, ""
		}
	}
}

func (r *Run) command(c Command) {
	switch c := c.(type) {
	case Approve:
		r.each(c.Range, func(s *Step) { s.Approved = true; s.Confirmed = s.Confirmed || c.Confirm })
	case Withdraw:
		r.each(c.Range, func(s *Step) { s.Approved, s.Confirmed, s.By = false, false, nil })
	case Exclude:
		r.each(c.Range, func(s *Step) { s.Excluded = true })
	case Include:
		r.each(c.Range, func(s *Step) { s.Excluded = false })
	case Break:
		var stop *Breakpoint
		if !c.Clear {
			stop = &Breakpoint{Set: c}
		}
		r.each(c.Range(), func(s *Step) { s.Break, s.BreakOn, s.Stop = !c.Clear, c.Clauses(), stop })
	case Advance:
		if c.Approve {
			r.each(c.Range, func(s *Step) { s.Approved = true })
		}
	case Keep:
		r.each(c.Range, func(s *Step) {
			r.count(s, -1)
			s.Outdated = false
			r.count(s, +1)
		})
	case Continue, Pause, Retry, Accept, Rerun, Skip, Mark, Set, Fix, Answer, Stop, Leave:
		// They act through the events that follow.
	}
}

func (r *Run) each(in Range, f func(*Step)) {
	for i := max(in.From, 0); i < min(in.To, len(r.Steps)); i++ {
		f(&r.Steps[i])
	}
}

func (r *Run) step(rec Record) {
	s := &r.Steps[rec.Step]
	// Taken out under the old state and put in under the new one, so that the counts never drift.
	r.count(s, -1)
	defer r.count(s, +1)
	s.Outdated, s.Open = s.Outdated && !ends(rec.Event), s.Open && !ends(rec.Event)
	s.Drifted, s.Marked = s.Drifted && !ends(rec.Event), s.Marked && !ends(rec.Event)
	switch e := rec.Event.(type) {
	case PrintMessage:
		s.Message = e.Message
	case StepConfirmed:
		s.Confirmed, s.By, s.Missing = e.Missing == "", e.By, e.Missing
	case StepStarted:
		s.State, s.Hold, s.Started, s.Since = Active, "", rec.Time, rec.Time
		s.Attempt, s.Name, s.Command = s.Attempt+1, e.Name, e.Command
		if e.Out != "" {
			s.Out = append(s.Out, e.Out)
		}
		r.Pointer = rec.Step
		if !e.Since.IsZero() {
			s.Started, s.Since = e.Since, e.Since
		}
	case StepTried:
		s.Attempt, s.Out = e.Attempts, slices.Clip(e.Out)
	case StepRetrying:
		if s.State == Settled || e.ByUser {
			r.reopen(rec.Step)
			s.Since = rec.Time
			// Waiting for the retry is not part of its time.
			if e.Due.After(rec.Time) {
				s.Since = e.Due
			}
		}
		s.State, s.Outcome, s.Due, s.Hold = Backoff, None, e.Due, ""
		if e.ByUser { // it starts in a pause too, as soon as a slot is free
			s.State = Active
		}
		s.Attempt = e.Attempt
		if s.Started.IsZero() { // it ran under an earlier plan only
			s.Started = rec.Time
		}
		if e.Out != "" {
			s.Out = append(s.Out, e.Out)
		}
		if e.Error != "" {
			s.Error = e.Error
		}
		s.Ignored, s.Rescued = false, false
	case AttemptStarted:
		s.State = Active
	case StepCompleted:
		s.Outcome, s.Error, s.Kept, s.Marked = OK, "", e.Kept && e.Ran == nil, e.Marked
		if e.Changed {
			s.Outcome = Changed
		}
		if e.Name != "" {
			s.Name = e.Name
		}
		if e.Kept && e.Out != "" {
			s.Out = append(s.Out, e.Out)
		}
		s.Diff, s.Drift, s.Outdated = e.Diff, e.Drift, e.Outdated
		s.setRC(e.Result)
		at := rec.Time
		if e.Marked && s.State == Settled && s.Attempt > 0 {
			at = s.Ended // it failed before: what a person took to do it by hand is none of its time
		}
		s.endAs(at, e.Ran)
	case StepSkipped:
		s.Outcome, s.Reason, s.Outdated = Skipped, string(e.Reason), e.Outdated
		if e.Detail != "" {
			s.Reason += ": " + e.Detail
		}
		at := rec.Time
		if s.State == Settled && s.Attempt > 0 {
			at = s.Ended // it failed and was given up: what a person took to think is none of its time
		}
		s.end(at)
	case StepFailed:
		s.Outcome, s.Error, s.Ignored, s.Rescued, s.Outdated, s.Open = Failed, e.Error, e.Ignored, e.Rescued, e.Outdated, e.Open
		s.Touched, _ = e.Result["changed"].(bool)
		s.Drifted = e.Drifted
		switch {
		case e.Unreachable:
			s.Outcome = Unreachable
		case e.Timeout:
			s.Outcome = Timeout
		}
		if e.RC != nil {
			s.RC, s.HasRC = *e.RC, true
		}
		s.endAs(rec.Time, e.Ran)
	case StepLost:
		s.Outcome, s.Error, s.Ignored, s.Rescued, s.Open = Lost, e.Error, e.Ignored, e.Rescued, e.Open
		s.end(rec.Time)
	case StepCancelled:
		s.Outcome = Cancelled
		s.end(rec.Time)
	case StepOmitted:
		s.Outcome, s.Reason, s.Cause = Omitted, e.Reason, e.Cause.Index()
		s.end(rec.Time)
	case GateOpened:
		// A step that has ended may still be asked about.
		if s.State != Settled {
			s.State = Held
		}
		s.Hold = e.Reason
	case GateResolved:
		if s.State == Held {
			s.State = Waiting
		}
		s.Hold = ""
	default:
		// Apply sends only the events of a step here.
	}
}

// ends reports whether an event says that a step begins anew or has ended, so that what was said of its result before is over.
func ends(e Event) bool {
	switch e.(type) { //nolint:gochecksumtype // the others say nothing of that
	case StepStarted, StepRetrying, StepCompleted, StepSkipped, StepFailed, StepLost, StepCancelled, StepOmitted:
		return true
	}
	return false
}

func (s *Step) setRC(result map[string]any) {
	switch rc := result["rc"].(type) {
	case int:
		s.RC, s.HasRC = rc, true
	case float64: // from a journal
		s.RC, s.HasRC = int(rc), true
	}
}

// endAs ends a step now, or as it has ended before.
func (s *Step) endAs(now time.Time, ran *Ran) {
	if ran == nil {
		s.end(now)
		return
	}
	s.Started, s.Since, s.Command, s.Message = ran.From, ran.From, ran.Command, ran.Message
	s.end(ran.To)
}

func (s *Step) end(at time.Time) {
	s.State, s.Ended, s.Hold = Settled, at, ""
	if s.Started.IsZero() {
		s.Started = at
	}
}

// Lasted is how long the step took, or has taken by now: all attempts that the run made by itself, with the time between them. What
// a person had tried again counts from there.
func (s *Step) Lasted(now time.Time) time.Duration {
	began := s.Began()
	if began.IsZero() {
		return 0
	}
	if s.State == Settled {
		now = s.Ended
	}
	return max(now.Sub(began), 0)
}

// Began is what the time of a step counts from; zero before its first attempt.
func (s *Step) Began() time.Time {
	switch {
	case s.Attempt == 0:
		return time.Time{}
	case s.Since.IsZero():
		return s.Started
	}
	return s.Since
}

// reopen takes back the omissions that a failed step led to, because it is tried again.
func (r *Run) reopen(step int) {
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Outcome == Omitted && s.Cause == step {
			r.count(s, -1)
			s.State, s.Outcome, s.Reason, s.Cause = Waiting, None, "", -1
		}
	}
}

func (r *Run) count(s *Step, d int) {
	c := &r.Counts
	if s.State == Active {
		c.Running += d
	}
	if s.State != Settled {
		return
	}
	// In addition to its outcome, so that the outcomes still add up to the number of steps.
	if s.Outdated {
		c.Outdated += d
	}
	switch s.Outcome {
	case None:
	case OK:
		c.OK += d
	case Changed:
		c.Changed += d
	case Skipped:
		c.Skipped += d
	case Failed, Timeout, Rejected, Unreachable:
		switch {
		case s.Ignored:
			c.Ignored += d
		case s.Rescued:
			c.Rescued += d
		default:
			c.Failed += d
		}
	case Cancelled:
		c.Cancelled += d
	case Lost:
		switch {
		case s.Ignored:
			c.Ignored += d
		case s.Rescued:
			c.Rescued += d
		default:
			c.Lost += d
		}
	case Omitted:
		c.Omitted += d
	}
}

// Summary is the RunCompleted of the counts so far. A lost step counts as failed.
func (r *Run) Summary() RunCompleted {
	c := r.Counts
	sum := RunCompleted{
		TotalSteps: len(r.Steps),
		Executed:   c.OK + c.Changed + c.Ignored,
		Changed:    c.Changed,
		Skipped:    c.Skipped,
		Failed:     c.Failed + c.Lost,
		Ignored:    c.Ignored,
		Rescued:    c.Rescued,
		Cancelled:  c.Cancelled,
		Outdated:   c.Outdated,
	}
	sum.NotRun = sum.TotalSteps - sum.Executed - sum.Skipped - sum.Failed - sum.Rescued - sum.Cancelled
	return sum
}
