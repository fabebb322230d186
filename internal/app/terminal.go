package app

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"moon/exec/process"
)

// terminal is the terminal of this process. One at a time has it: the screen, the text of a run, or an interactive step.
type terminal struct {
	writing sync.Mutex // held by who prints to it, line by line, and by a step as long as it has it

	mu     sync.Mutex
	screen *aside      // nil: there is none
	undo   string      // what a screen is ended with if it cannot do so itself
	before *term.State // how it was set up when moon began; nil: it is none
}

// aside is a screen that goes away while something else has the terminal.
type aside struct {
	asks   chan func()
	closed chan struct{}
}

// lend gives the terminal to an interactive step.
func (t *terminal) lend(use func()) {
	t.mu.Lock()
	screen := t.screen
	t.mu.Unlock()
	done := make(chan struct{})
	lent := sync.OnceFunc(func() {
		defer close(done)
		t.writing.Lock()
		defer t.writing.Unlock()
		use()
	})
	if screen == nil {
		lent()
		return
	}
	// The TUI makes room and runs it, or closes meanwhile.
	select {
	case screen.asks <- lent:
	case <-screen.closed:
	}
	select {
	case <-done:
	case <-screen.closed: // perhaps before it heard
		lent()
	}
}

// Show gives the terminal to a screen until it is closed.
func (t *terminal) Show() (asks <-chan func(), closed func()) {
	screen := &aside{make(chan func()), make(chan struct{})}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.screen = screen
	return screen.asks, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.screen = nil
		close(screen.closed)
	}
}

// shown reports whether a screen has the terminal.
func (t *terminal) shown() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen != nil
}

// writer writes to a terminal while nobody else has it. What is no terminal stays as it is.
func (t *terminal) writer(w io.Writer) io.Writer {
	if !IsTerminal(w) {
		return w
	}
	return inTurn{t, w}
}

type inTurn struct {
	t *terminal
	w io.Writer
}

func (w inTurn) Write(p []byte) (int, error) {
	w.t.writing.Lock()
	defer w.t.writing.Unlock()
	return w.w.Write(p)
}

// Remember notes how the terminal is set up, for restore.
func (t *terminal) Remember() {
	if before, err := term.GetState(int(os.Stdin.Fd())); err == nil {
		t.mu.Lock()
		t.before = before
		t.mu.Unlock()
	}
}

// restore sets the terminal up as it was, for a process that ends without any further ado. A terminal that takes nothing is not waited for.
func (t *terminal) restore() {
	t.mu.Lock()
	before, screen := t.before, t.screen != nil
	t.mu.Unlock()
	if screen {
		if fd, err := unix.Open("/dev/tty", unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err == nil {
			process.Unfreeze(fd)
			// A write that was stuck has the terminal until it has gone through.
			for until := time.Now().Add(lastWords); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
				if _, err := unix.Write(fd, []byte(t.undo)); err == nil {
					break
				}
			}
			_ = unix.Close(fd)
		}
	}
	if before != nil {
		signal.Ignore(syscall.SIGTTOU)               // a moon in the background would be stopped for it
		_ = term.Restore(int(os.Stdin.Fd()), before) // it fails where the terminal is gone
	}
}

// IsTerminal reports whether text for people goes to a terminal in the end.
func IsTerminal(w io.Writer) bool {
	f := FileOf(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}
