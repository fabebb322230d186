package tui

import (
	"context"
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"

	"moon/tui/terminal"
)

// ErrForced is returned when a person left by force before the run had ended.
var ErrForced = errors.New("left before the run had ended")

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
	options := []tea.ProgramOption{tea.WithoutSignalHandler(), tea.WithColorProfile(m.looks.Profile), tea.WithFilter(m.noteClosing)}
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
	// Before Bubble Tea changes anything, so that the settings which are kept are the user's own.
	defer terminal.Keep(keyboard)()
	p := tea.NewProgram(m, options...)
	stop := make(chan struct{})
	// The feed is read from the first moment, whether anything is drawn or not: the engine never waits for the TUI.
	go drainFeed(m.Store, o.Feed, p.Quit)
	go passFrames(m.Store.Poke, stop, func() { p.Send(frameMsg{}) })
	go terminal.PassAsides(o.Aside, stop, func(do func()) { p.Send(terminal.Aside{Do: do}) })
	go terminal.PassContinued(stop, func() { p.Send(terminal.Continued{}) })
	// Not tea.WithContext: a program that is cancelled that way does not wait for its reader of the keyboard.
	undo := context.AfterFunc(ctx, p.Quit)
	_, err := p.Run()
	undo()
	m.looks.StopWatching()
	m.Predicted.Halt()
	filing{m.State}.endWatch()
	close(stop)
	if o.KeepView != nil && m.crash == nil {
		o.KeepView(viewNow(m.State))
	}
	// A crash explains every other error that comes with it, so it is reported first; leaving by force and starting again are not
	// errors.
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
	case m.again != nil:
		return m.again
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
