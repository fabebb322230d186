package tui

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"moon/events"
	"moon/internal/diag"
	"moon/plan"
	"moon/tui/feed"
	"moon/tui/keymap"
)

// ExecCommand is a program that takes the terminal over while it runs, such as an editor.
type ExecCommand = tea.ExecCommand

// Options is what the screen needs from outside.
type Options struct {
	Plan *plan.Plan // required
	// Earlier are the plans that a resumed run had before, oldest first: files that have changed since are named.
	Earlier []*plan.Plan
	Feed    <-chan []events.Record // required; drained at once, until it is closed
	Send    func(events.Order)     // required; must not block. The order has an ID, by which its answer in the feed is known, and no actor

	// Replay is how a recorded run ended, in a word. Its whole feed is taken in before the screen opens; nothing can be asked
	// of such a run, and the screen stays until it is left. Send is then not needed. "": the run is live.
	Replay string

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
	Predict func(ctx context.Context, p *plan.Plan, step int) *events.Foretold
	// Foretell finds out what the steps of a plan would do, but for those that are left out, and tells of each, until the
	// context ends. It is called in the background, while the plan is reviewed. Without it nothing is predicted.
	Foretell func(ctx context.Context, p *plan.Plan, left func(step int) bool, tell func(*events.Foretold))
	// Reload plans again after an edit. On success the feed brings the new plan; the errors of a list are shown.
	Reload func() (diag.List, error)
	// Preview plans with other values, from the plan that is shown, and changes nothing; or it says why that cannot be. It is called
	// in the background. Without it values cannot be changed.
	Preview func(p *plan.Plan, values events.Fix) (next *plan.Plan, why string)
	// Keys are what keys mean; nil: the usual ones.
	Keys *keymap.Keys
	// View is how the screen was left when this playbook was last looked at, or nil. KeepView is told how it is left now.
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
	Again      bool                  // another run may be asked for when this one is over
	Mode       string                // what to say beside the playbook's name, such as "check"
	Banner     string                // marks what the run is about as production: it always shows, and what destroys asks for a name
	Warnings   []string              // what to say first
}

// ErrForced is returned when a person left by force before the run had ended.
var ErrForced = errors.New("left before the run had ended")

// ErrAgain is returned when a person asked for another run after this one was over (Options.Again).
var ErrAgain = errors.New("run it again")

// Run shows the screen until the person has left and the run has ended, and restores the terminal. A cancelled ctx
// ends the screen at once, with the context's error; signals are the caller's business. The feed is drained to its
// end in any case.
func Run(ctx context.Context, o Options) error {
	return newModel(o, os.Getenv).showScreen(ctx)
}

// showScreen is the life of the screen.
func (m *model) showScreen(ctx context.Context) error {
	o := m.o
	if m.IsRecorded() {
		if err := m.takeRecorded(); err != nil {
			return err
		}
	}
	options := []tea.ProgramOption{tea.WithoutSignalHandler(), tea.WithColorProfile(m.profile), tea.WithFilter(m.noteClosing)}
	if o.Input != nil {
		options = append(options, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		options = append(options, tea.WithOutput(o.Output))
	}
	keyboard := o.Input
	if keyboard == nil {
		keyboard = os.Stdin
	}
	defer keepTerminal(keyboard)()
	p := tea.NewProgram(m, options...)
	stop := make(chan struct{})
	go drainFeed(m.Store, o.Feed, p.Quit)
	go passFrames(m.Store.Poke, stop, func() { p.Send(frameMsg{}) })
	go passAsides(o.Aside, stop, func(do func()) { p.Send(asideMsg{do}) })
	go passContinued(stop, func() { p.Send(continuedMsg{}) })
	// Not tea.WithContext: a program that is cancelled that way does not wait for its reader of the keyboard.
	undo := context.AfterFunc(ctx, p.Quit)
	_, err := p.Run()
	undo()
	m.stopWatching()
	m.Predicted.Halt()
	close(stop)
	if o.KeepView != nil && m.crash == nil {
		o.KeepView(replanning{m.State}.viewNow())
	}
	broken := m.Store.Failure()
	switch {
	case m.crash != nil:
		return m.crash
	case broken != nil:
		return broken
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case m.forced:
		return ErrForced
	case m.again:
		return ErrAgain
	}
	return nil
}

// noteClosing notes that the screen is about to go. Its last frame is empty: terminals without a screen of their own for programs,
// such as GNU screen as it comes, would keep a torn picture above the report.
func (m *model) noteClosing(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.QuitMsg); ok {
		m.closed, m.stale = true, true
	}
	return msg
}

// drainFeed folds the feed to its end. A panic on the way must not end the process while the terminal belongs to the
// screen, nor keep the engine waiting for somebody to read.
func drainFeed(s *feed.Store, feed <-chan []events.Record, failed func()) {
	defer func() {
		if r := recover(); r != nil {
			s.End(panicError(r))
			failed()
			for range feed { // only read
			}
		}
	}()
	s.Drain(feed)
}

// broke is what a command says when it panicked.
type broke struct{ err error }

// guardCommand makes a message of a panic in a command. Bubble Tea would catch it too, but print its trace across the screen
// and leave without waiting for its reader of the keyboard.
func guardCommand(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = broke{panicError(r)}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = guardCommand(batch[i])
			}
		}
		return msg
	}
}

// frameTime is the shortest time between two frames that the feed asks for.
const frameTime = 33 * time.Millisecond

// passFrames passes pokes on: the first at once, the others at most once in a frameTime.
func passFrames(poke <-chan struct{}, stop <-chan struct{}, send func()) {
	for {
		select {
		case <-stop:
			return
		case <-poke:
			send()
		}
		select {
		case <-stop:
			return
		case <-time.After(frameTime):
		}
	}
}
