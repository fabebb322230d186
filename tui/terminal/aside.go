package terminal

import (
	"io"

	tea "charm.land/bubbletea/v2"
)

// The messages about the terminal.
type (
	// Aside asks for the terminal.
	Aside struct{ Do func() }
	// Returned says that the TUI is there again.
	Returned struct{ Err error }
)

// PassAsides passes on who asks for the terminal.
func PassAsides(asks <-chan func(), stop <-chan struct{}, send func(do func())) {
	for {
		select {
		case do := <-asks:
			send(do)
		case <-stop:
			return
		}
	}
}

// MakeRoom takes the screen away, does something, and shows the screen again. News are folded meanwhile, and drawn
// afterwards.
func MakeRoom(do func()) tea.Cmd {
	return takeTurns(guest{do}, func(err error) tea.Msg {
		do() // once is enough: this is for a screen that could not go away
		return Returned{err}
	})
}

// guest is what has the terminal meanwhile. It finds it by itself.
type guest struct{ do func() }

func (g guest) Run() error {
	g.do()
	return nil
}

func (guest) SetStdin(io.Reader)  {}
func (guest) SetStdout(io.Writer) {}
func (guest) SetStderr(io.Writer) {}
