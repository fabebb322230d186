package tui

import (
	"io"

	tea "charm.land/bubbletea/v2"
)

// asideMsg asks for the terminal, returned says that the screen is there again.
type (
	asideMsg struct{ do func() }
	returned struct{ err error }
)

// passAsides passes on who asks for the terminal.
func passAsides(asks <-chan func(), stop <-chan struct{}, send func(do func())) {
	for {
		select {
		case do := <-asks:
			send(do)
		case <-stop:
			return
		}
	}
}

// makeRoom takes the screen away, does something, and shows the screen again. News are folded meanwhile, and drawn
// afterwards.
func makeRoom(do func()) tea.Cmd {
	return takeTurns(guest{do}, func(err error) tea.Msg {
		do() // once is enough: this is for a screen that could not go away
		return returned{err}
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
