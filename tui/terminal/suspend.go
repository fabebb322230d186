package terminal

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// errNoShell is said where moon could not be stopped: in a terminal that was opened for it alone.
var errNoShell = errors.New("there is no shell to go back to; moon was not suspended")

// Nap is moon while it is stopped, and remembers that it was.
type Nap struct {
	napped bool // moon was stopped, and the terminal taken anew since
}

// Suspend gives the terminal back and stops moon until a shell lets it go on, as ctrl+z does with any program. Bubble
// Tea's own way waits for good if nothing stops: without a shell to go back to the system ignores the request.
func (n *Nap) Suspend() tea.Cmd {
	return takeTurns(sleep{n}, func(err error) tea.Msg { return Returned{err} })
}

// WakeUp takes the terminal anew: the program that had it meanwhile left it as it likes it, and no row is what it was. After a nap
// that has been done.
func (n *Nap) WakeUp() tea.Cmd {
	if n.napped {
		n.napped = false
		return nil
	}
	return takeTurns(guest{func() {}}, func(err error) tea.Msg { return Returned{err} })
}

// sleep is the program that has the terminal while moon is stopped: none.
type sleep struct{ *Nap }

func (sleep) SetStdin(io.Reader)  {}
func (sleep) SetStdout(io.Writer) {}
func (sleep) SetStderr(io.Writer) {}

// napTime is how long to wait for being stopped. It goes by while moon is stopped too.
const napTime = 300 * time.Millisecond

// Run stops moon, in the goroutine of the program, which owns the model.
func (n sleep) Run() error {
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	defer signal.Stop(again)
	asked := time.Now()
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil { // the whole group, as a terminal does it
		return err
	}
	select {
	case <-again:
		n.napped = true
	case <-time.After(napTime):
		// Either nothing stopped, or moon has just gone on and has not heard of it yet.
		if time.Since(asked) < 2*napTime {
			return errNoShell
		}
	}
	return nil
}

// Continued says that moon goes on after it was stopped, by ctrl+z or behind its back (kill -STOP).
type Continued struct{}

// PassContinued passes on that moon was stopped.
func PassContinued(stop <-chan struct{}, send func()) {
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
