package known

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/tui/debugger"
	"moon/tui/feed"
	"moon/tui/status"
	"moon/tui/tree"
)

// Options is what there is to know of a run before its first event.
type Options struct {
	Plan     *plan.Plan        // required
	Others   status.OtherFiles // than those of the plans that a resumed run had before
	Recorded bool              // the run is over: nothing can be asked of it
	Forecast func(digest string) *events.Forecast
	Now      func() time.Time // nil: time.Now
	Engine   Engine
}

// Engine is who runs the run: what it is asked, and sent. All but Send may be nil, and may take long: they are called away from the
// screen.
type Engine struct {
	Send       func(events.Order)
	Why        func(digest string, steps []int) []events.Wait
	Bind       debugger.Bind
	Predict    func(ctx context.Context, p *plan.Plan, step int) *events.Prediction
	PredictAll func(ctx context.Context, p *plan.Plan, left func(step int) bool, tell func(*events.Prediction))
}

// Run is the run as far as it is known, and what follows from that: what runs next, what waits for what, what would be skipped,
// how often a breakpoint has stopped. It sends commands. It knows no cursor and no screen. It belongs to the goroutine of the TUI,
// but for the store and the predictions, which have locks.
type Run struct {
	Engine    Engine
	Store     *feed.Store
	Plan      *plan.Plan
	Real      int // steps of it that a dry run executes
	Tree      *tree.Tree
	Shot      feed.Shot                 // as of the last look
	Breaks    map[int]events.Breakpoint // by step
	Predicted debugger.Predictions
	Countdown feed.Countdown
	Timeline  feed.Timeline
	Others    status.OtherFiles
	Waits     map[int]events.Wait // by step, why it has not begun, as of the last answer
	Failing   int                 // the step that counts as failed while the run is paused on it, or -1

	recorded bool
	forecast func(digest string) *events.Forecast
	Now      func() time.Time
	places   []status.Stop // the breakpoints as they were set; nil: to be found
	bound    boundSteps
	waiting  waiting
	lacking  lacking
	prefix   string // of the IDs of this screen's commands: a journal may hold those of others
	sent     int    // commands
}

// New is a run of which nothing has been heard yet.
func New(o Options) *Run {
	m := &Run{
		Engine: o.Engine, Store: feed.NewStore(), recorded: o.Recorded, forecast: o.Forecast, Now: o.Now,
		Breaks: map[int]events.Breakpoint{}, Failing: -1, prefix: "tui-" + rand.Text()[:8],
	}
	if m.Now == nil {
		m.Now = time.Now
	}
	m.Shot.Awaits = m.Store.Awaits() // the first frame is drawn, and keys come, before the first look at the run
	m.SetPlan(o.Plan)
	m.Others = o.Others
	return m
}

// SetPlan takes a plan, of which nothing is known yet. What was found out about the plan before it is dropped.
func (m *Run) SetPlan(p *plan.Plan) {
	m.Plan, m.Tree, m.Real = p, tree.Grow(p), p.DefyDryRun()
	m.Countdown = feed.Countdown{}
	if m.forecast != nil {
		m.Countdown = feed.NewCountdown(m.forecast(p.Digest))
	}
	m.Timeline, m.Waits = feed.NewTimeline(m.Tree, &m.Timeline), nil
	m.waiting, m.lacking = waiting{}, lacking{Lacking: debugger.NewLacking(p)}
	m.Predicted.Halt()
	m.Predicted.Renumber(p)
}

// Answer is what was found out in the background, as a message; take brings it in.
type Answer struct{ take func() (news string) }

// Take brings in what was found out, and returns what there is to say of it.
func (m *Run) Take(a Answer) (news string) { return a.take() }

// Position is where the run stands.
func (m *Run) Position() debugger.Position {
	// The faces are not copied, so a position is good until the next look and no longer.
	return debugger.Position{
		Plan: m.Plan, Steps: debugger.States(m.Tree.Faces),
		Phase: m.Shot.Phase, Pause: m.Shot.Pause.Reason, PausedAt: m.Shot.PausedAt, Pointer: m.Shot.Pointer,
	}
}

// IsRecorded reports whether this is a run that is over and was recorded.
func (m *Run) IsRecorded() bool { return m.recorded }

// Send sends a command to the run. Until it is answered, what depends on the run waits.
func (m *Run) Send(c events.Command) { SendFor(m, m.Plan.Digest, c) }

// SendFor sends a command whose steps are those of the plan with a digest: a box may have been opened before the plan grew.
func SendFor(m *Run, digest string, c events.Command) {
	m.sent++
	id := fmt.Sprintf("%s-%d", m.prefix, m.sent)
	// Before it is sent: the feed may have its answer before sending returns.
	m.Store.Await(id)
	m.Shot.Awaits = true
	m.Engine.Send(events.Order{ID: id, Command: c, Plan: digest})
}

// ClockNow is the time to count with: it stands still while nothing runs, so that nothing has to be drawn.
func (m *Run) ClockNow() time.Time {
	if m.IsMoving() || m.Shot.Last.IsZero() {
		return m.Now()
	}
	return m.Shot.Last
}

// StepDuration is how long a step took, or takes so far.
func (m *Run) StepDuration(of *events.Step) time.Duration { return of.Lasted(m.ClockNow()) }

// IsMoving reports whether there is something to watch.
func (m *Run) IsMoving() bool {
	return m.Shot.Phase != events.Done && (m.Shot.Phase == events.Running || m.Shot.Counts.Running > 0)
}

// CountProgress returns how many steps have ended, of how many, as the first row of the tree has it.
func (m *Run) CountProgress() (done, total int) {
	t := m.Tree.Tally(0)
	return t.Done(), t.Total()
}

// TitleOn is StepTitle with the host of the step, where there are several.
func (m *Run) TitleOn(s *plan.Step) string { return m.onHost(tree.StepTitle(s), s) }

func (m *Run) onHost(title string, s *plan.Step) string {
	if !m.Tree.Over {
		return title
	}
	return title + " on " + status.On(s)
}

// StepTitle is how a step of the plan is called, as far as it is known by now, with its host where there are several.
func (m *Run) StepTitle(step int) string {
	return m.onHost(m.Tree.Title(int(m.Tree.StepNode[step])), &m.Plan.Steps[step])
}

// OriginOf is where a node comes from.
func (m *Run) OriginOf(n int) (diag.Origin, bool) {
	var o diag.Origin
	if i := m.Tree.Step(n); i >= 0 {
		o = m.Plan.Steps[i].Origin
	} else if s := m.Tree.Scope(n); s != nil {
		o = s.Origin
	}
	if o.File == "" {
		o = diag.Origin{File: m.Plan.RootFile, Line: max(o.Line, 1)}
	}
	return o, o.File != ""
}
