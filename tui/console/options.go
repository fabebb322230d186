package console

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/tui/fix"
	"moon/tui/status"
)

// Actor is who sends the commands. By it console knows which of the answers in the feed are to its own.
const Actor = "lines"

// Program takes the terminal over while it runs, such as an editor.
type Program = fix.Program

// Options is what lines needs from outside.
type Options struct {
	Plan *plan.Plan // required
	// Others are the files that have changed since the plans that a resumed run had before.
	Others status.OtherFiles
	Feed   <-chan []events.Record // required; drained until it is closed
	Send   func(events.Order)     // required; must not block; the order has no actor yet, which is Actor
	In     *os.File               // required
	Out    io.Writer              // required

	// Person says that somebody types at a terminal: there is a prompt, and what is typed acts at once. Without it lines are
	// a script: each waits until the run has come to rest, and is repeated in what is said.
	Person bool
	// Terminal is what the bell and programs write to, past everything that cleans Out. nil: they have Out, and nothing rings.
	Terminal io.Writer
	Width    func() int // of the terminal; nil, or 0: lines are as long as they are

	// PlanFor finds the plan that a PlanLoaded event names. Without it, or where it knows none, the old plan stays.
	PlanFor func(digest string) *plan.Plan
	// Forecast says how long a plan may take, or nil.
	Forecast func(digest string) *events.Forecast
	// PredictAll finds out what the steps of a plan would do, but for those that are left out, and tells of each, until the
	// context ends. It is called in the background, while the plan is reviewed.
	PredictAll func(ctx context.Context, p *plan.Plan, left func(step int) bool, tell func(*events.Prediction))
	// Reload plans again after an edit. On success the feed brings the plan with the digest; the errors of a list are said.
	Reload func() (digest string, diagnostics diag.List, err error)
	// Preview plans with other values, and changes nothing; or it says why that cannot be. Without it values cannot be changed.
	Preview func(p *plan.Plan, values events.Fix) (next *plan.Plan, why string)
	// Why says of steps of a plan what keeps them from beginning. Without it lines say what they can see themselves.
	Why func(digest string, steps []int) []events.Wait
	// Bind gives a step with the values that the run has by now, Predict what the step would do that comes next, nil if that cannot be
	// known; nil: the plan says what is known.
	Bind    func(p *plan.Plan, step int) (plan.Step, error)
	Predict func(ctx context.Context, p *plan.Plan, step int) *events.Prediction
	// Eval evaluates an expression, with the values a step would find now. Without it nothing can be watched.
	Eval status.Eval
	// Redact takes secrets out of what is said. nil: nothing is.
	Redact func(text string) string
	// Editor is the program that opens a file, given by its absolute path, at a line.
	Editor func(file string, line int) Program
	// Shell is a shell where a step runs. It may say that there can be none.
	Shell func(p *plan.Plan, step int) (Program, error)
	// Aside is what needs the terminal for itself. Meanwhile nothing is read or said.
	Aside <-chan func()
	// Interrupts are the times that somebody pressed ctrl-c.
	Interrupts <-chan os.Signal
	// OutDir is the directory of the files that events.Step.Out names.
	OutDir func() string

	Follow bool             // say what steps print
	Mode   string           // what to say beside the playbook's name, such as "dry run"
	Now    func() time.Time // nil: time.Now
	Ticks  <-chan time.Time // nil: one a second, for a person
}

// ErrForced is returned when a person left by force before the run had ended.
var ErrForced = errors.New("left before the run had ended")
