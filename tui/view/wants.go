package view

import (
	tea "charm.land/bubbletea/v2"
)

// Copied is a text to put on the clipboard, and what it is.
type Copied struct {
	Text, Words string
	Rest        string // what is left out of it
	Err         error
}

// Came brings what was found out away from the screen, and what to do with it.
type Came struct{ Then func(m *State) tea.Cmd }
