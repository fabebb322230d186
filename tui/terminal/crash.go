package terminal

import (
	"fmt"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
)

// PanicError makes an error of a panic. Bubble Tea would catch it too, but then it does not wait for its reader of the
// keyboard before it closes what that one reads from.
func PanicError(r any) error {
	return fmt.Errorf("internal error in the TUI:  %v\n%s", r, debug.Stack())
}

// Broke is what a command says when it panicked.
type Broke struct{ Err error }

// GuardCommand makes a message of a panic in a command. Bubble Tea would catch it too, but print its trace across the screen
// and leave without waiting for its reader of the keyboard.
func GuardCommand(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = Broke{PanicError(r)}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = GuardCommand(batch[i])
			}
		}
		return msg
	}
}
