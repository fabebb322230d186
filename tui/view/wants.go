package view

import (
	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/keymap"
)

// What a part of the screen may want done that is not its own to do. It says so as a value; the model does it when the part has
// finished with its key, in the same update.
type (
	DoIntent     struct{ Do keymap.Intent }
	ClickIntent  struct{ Do keymap.Intent } // the same by the mouse, which decides nothing
	TypedCommand struct{ Name, Arg string } // in the palette
	StopRun      struct{ How events.StopHow }
	EditFile     struct {
		File string
		Line int
	}
	LendTo struct { // the terminal
		Program tea.ExecCommand
		Then    func(error) tea.Msg
	}
)

// Copied is a text to put on the clipboard, and what it is.
type Copied struct {
	Text, Words string
	Rest        string // what is left out of it
	Err         error
}

// Came brings what was found out away from the screen, and what to do with it.
type Came struct{ Then func(m *State) tea.Cmd }
