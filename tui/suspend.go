package tui

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// suspendMoon gives the terminal back and stops moon until a shell lets it go on, as ctrl+z does with any program. Bubble
// Tea's own way waits for good where nothing stops: without a shell to go back to the system ignores the request.
func (m *model) suspendMoon() tea.Cmd {
	return takeTurns(nap{m}, func(err error) tea.Msg { return returned{err} })
}

// errNoShell is said where moon could not be stopped: in a terminal that was opened for it alone.
var errNoShell = errors.New("there is no shell to go back to; moon was not suspended")

// nap is moon while it is stopped.
type nap struct{ m *model }

func (nap) SetStdin(io.Reader)  {}
func (nap) SetStdout(io.Writer) {}
func (nap) SetStderr(io.Writer) {}

// napTime is how long to wait for being stopped. It goes by while moon is stopped too.
const napTime = 300 * time.Millisecond

// Run stops moon, in the goroutine of the program, which owns the model.
func (n nap) Run() error {
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	defer signal.Stop(again)
	asked := time.Now()
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil { // the whole group, as a terminal does it
		return err
	}
	select {
	case <-again:
		n.m.napped = true
	case <-time.After(napTime):
		// Either nothing stopped, or moon has just gone on and has not heard of it yet.
		if time.Since(asked) < 2*napTime {
			return errNoShell
		}
	}
	return nil
}

// continuedMsg says that moon goes on after it was stopped, by ctrl+z or behind its back (kill -STOP).
type continuedMsg struct{}

// passContinued passes on that moon was stopped.
func passContinued(stop <-chan struct{}, send func()) {
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	defer signal.Stop(again)
	for {
		select {
		case <-again:
			send()
		case <-stop:
			return
		}
	}
}

// wakeUp takes the terminal anew: whoever had it meanwhile left it as they like it, and no row is what it was. After a nap
// that has been done.
func (m *model) wakeUp() tea.Cmd {
	if m.napped {
		m.napped = false
		return nil
	}
	return takeTurns(guest{func() {}}, func(err error) tea.Msg { return returned{err} })
}
