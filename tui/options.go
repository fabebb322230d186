package tui

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/tui/keymap"
	"moon/tui/status"
	"moon/tui/view"
)

// Options is what the screen needs from outside.
type Options struct {
	Plan *plan.Plan // required
	// Others are the files that have changed since the plans that a resumed run had before.
	Others status.OtherFiles
	Feed   <-chan []events.Record // required; drained at once, until it is closed
	Send   func(events.Order)     // required; must not block. The order has an ID, by which its answer in the feed is known, and no actor

	// Replay is how a recorded run ended, in a word. Its whole feed is taken in before the screen opens; nothing can be asked
	// of such a run, and the screen stays until it is left. Send is then not needed. "": the run is live.
	Replay string

	// Attached says that another process has the run: to leave the screen leaves the run alone.
	Attached bool

	// PlanFor finds the plan that a PlanLoaded event names. Without it, or where it knows none, the old plan stays.
	PlanFor func(digest string) *plan.Plan
	// Forecast says how long a plan may take, or nil. Without it the screen says nothing of the time that is left.
	Forecast func(digest string) *events.Forecast
	// Why says of steps of a plan what keeps them from beginning. It may wait for the engine, and is called in the background.
	// Without it the screen does not say it.
	Why func(digest string, steps []int) []events.Wait
	// Saved is the directory of the run, as a person reads it; "" says nothing of it.
	Saved string
	// Bind gives a step with the values that the run has by now; an error says what is wrong with it. Predict says what the step would do
	// that comes next, with those values; nil if that cannot be known. Both may take long and are called away from the screen; nil: they
	// are not there.
	Bind    func(p *plan.Plan, step int) (plan.Step, error)
	Predict func(ctx context.Context, p *plan.Plan, step int) *events.Prediction
	// PredictAll finds out what the steps of a plan would do, but for those that are excluded, and reports each, until the
	// context ends. It is called in the background, while the plan is reviewed. Without it nothing is predicted.
	PredictAll func(ctx context.Context, p *plan.Plan, left func(step int) bool, tell func(*events.Prediction))
	// Reload plans again after an edit. On success the feed brings the new plan; the errors of a list are shown.
	Reload func() (diag.List, error)
	// Preview plans with other values, from the plan that is shown, and changes nothing; or it says why that cannot be. It is called
	// in the background. Without it values cannot be changed.
	Preview func(p *plan.Plan, values events.Fix) (next *plan.Plan, why string)
	// Keys are what keys mean; nil: the usual ones.
	Keys *keymap.Keys
	// View is how the screen was left when this playbook was last looked at, or nil. KeepView is given how it is left now.
	View     *View
	KeepView func(View)
	Notice   string // what to say when the screen opens, or ""
	// Eval evaluates an expression for people, with the values a step would find now. It is called in the background. A value
	// that waits for steps is a *plan.Missing. Without it nothing can be watched.
	Eval func(p *plan.Plan, step int, expression string) (string, error)
	// CheckBreak finds mistakes in the condition and the message of a breakpoint; ParseBreak reads one as --break does, and is
	// called in the background.
	CheckBreak func(p *plan.Plan, condition, message string) error
	ParseBreak func(p *plan.Plan, text string) (list []events.Command, why string)
	// Editor is the program that opens a file, given by its absolute path, at a line.
	Editor func(file string, line int) ExecCommand
	// Shell is a shell where a step runs. It may say that there can be none.
	Shell func(p *plan.Plan, step int) (ExecCommand, error)
	// Await waits until files have changed that the playbook is made from; broken says that it has a mistake. Examine says what that means
	// for a run that is over. Without them nothing is watched.
	Await   func(ctx context.Context, p *plan.Plan, broken bool) (changed []string, err error)
	Examine func(p *plan.Plan, changed []string) (Examined, error)
	// Clipboard puts a text on the clipboard by programs of this machine, and names those that took it. The terminal is
	// asked to as well, unless one of them was tmux, which asks its terminal itself. Without it only the terminal is.
	Clipboard func(text string) (by []string)
	// Aside is what needs the terminal for itself: the screen makes room, calls it, perhaps again when it has
	// returned, and comes back. Without it nothing does.
	Aside <-chan func()
	// OutDir is the directory of the files that events.Step.Out names.
	OutDir func() string

	Theme      string // "" is the default
	LightTheme string // on a light background; "" is Theme
	ThemeDir   string
	Glyphs     string // "unicode", "ascii" or "auto", also ""
	NoColor    bool
	Profile    *colorprofile.Profile // nil: found out
	Now        func() time.Time      // nil: time.Now
	Input      io.Reader             // nil: the terminal
	Output     io.Writer             // nil: the terminal
	Mouse      bool                  // on from the start
	Watching   bool                  // the files of the playbook are watched from the start
	Again      bool                  // another run may be asked for when this one is over
	Mode       string                // what to say beside the playbook's name, such as "check"
	Banner     string                // marks what the run is about as production: it always shows, and what destroys asks for a name
	Warnings   []string              // what to say first

	// Notices have the terminal notify a person who is looking elsewhere when the run waits or ends; Notify does it in another way.
	Notices bool
	Notify  func(text string) // may take its time; nil: there is none
}

// ExecCommand is a program that takes the terminal over while it runs, such as an editor.
type ExecCommand = tea.ExecCommand

// Examined is what a change of files means for a run that is over.
type Examined = view.Examined

// AgainError is returned when a person asked for another run after this one was over (Options.Again).
type AgainError struct {
	Steps    []string // the paths of those that are to run again, with what they need; none: all
	Edited   bool     // the run is to be continued with the playbook as it is now
	Watching bool     // and its files are still watched
}

func (*AgainError) Error() string { return "run it again" }
