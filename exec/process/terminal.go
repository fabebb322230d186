package process

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"moon/exec/fault"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is the user's terminal while an interactive step has it. The step's program runs in a pseudo terminal, whose
// other end moon joins to the user's:
//
//	keyboard ─▶ type ─▶ pseudo terminal ─▶ program ─▶ pseudo terminal ─▶ drain ─┬▶ Write ─▶ screen
//	                                                                            └▶ output of the step
//
// So the program has a terminal of its own to set up as it likes, what it prints is recorded, and when it is gone the
// user's terminal is as it was, however it ended.
type terminal struct {
	fd     int // /dev/tty, which does not block
	before *term.State
	left   modes
	wake   [2]int // closing the second ends type
	typed  sync.WaitGroup
	sizes  chan os.Signal
	master int // of the pseudo terminal, to write to; -1: there is none yet
	gone   atomic.Bool
	once   sync.Once
}

// NoTerminal says why moon has no terminal that it could give to an interactive step; "" if it has one.
func NoTerminal() string {
	t, why := findTerminal()
	if why == "" {
		_ = syscall.Close(t) // nothing was done with it
	}
	return why
}

// findTerminal opens the user's terminal, if it is moon's to give away.
func findTerminal() (fd int, why string) {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return -1, "standard input is not a terminal"
	}
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, "no terminal controls moon"
	}
	// In the background reading from the terminal would stop moon itself.
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		_ = syscall.Close(fd)
		return -1, "moon runs in the background of its terminal (fg brings it to the front)"
	}
	return fd, ""
}

// BorrowTerminal takes the user's terminal. It must be given back.
func BorrowTerminal() (*terminal, error) {
	fd, why := findTerminal()
	if why != "" {
		return nil, fault.CommandError{Message: "there is no terminal for an interactive step: " + why, Class: fault.Fatal}
	}
	t := &terminal{fd: fd, sizes: make(chan os.Signal, 1), master: -1}
	var err error
	if t.wake[0], t.wake[1], err = makePipe(); err == nil {
		if t.before, err = term.MakeRaw(fd); err == nil {
			return t, nil
		}
		_, _ = syscall.Close(t.wake[0]), syscall.Close(t.wake[1])
	}
	_ = syscall.Close(fd)
	return nil, err
}

// GiveBack makes the terminal what it was. What was typed for the program is not for who comes next. It may be called by
// several goroutines, the first of which may be panicking; the terminal must not be used afterwards.
func (t *terminal) GiveBack() {
	t.once.Do(func() {
		// Closing the pipe wakes the goroutine that waits for keys.
		signal.Stop(t.sizes)
		_ = syscall.Close(t.wake[1])
		t.typed.Wait()
		t.Show([]byte(t.left.undoSequence()), time.Second)
		flushTyped(t.fd)
		_ = term.Restore(t.fd, t.before) // it fails where the terminal is gone
		_, _ = syscall.Close(t.wake[0]), syscall.Close(t.fd)
		if t.master >= 0 {
			_ = syscall.Close(t.master)
		}
	})
}

// makePseudo makes a pseudo terminal of the same size and passes on to it what is typed, and each new size. Its two ends are
// the caller's to close.
func (t *terminal) makePseudo() (master, slave int, err error) {
	m, s, err := pty.Open()
	if err != nil {
		return -1, -1, err
	}
	defer func() { _, _ = m.Close(), s.Close() }() // both live on under other numbers
	if master, err = unix.FcntlInt(m.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return -1, -1, err
	}
	if slave, err = unix.FcntlInt(s.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		_ = syscall.Close(master)
		return -1, -1, err
	}
	_ = syscall.SetNonblock(master, true)
	if t.master, err = unix.FcntlInt(m.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		_, _ = syscall.Close(master), syscall.Close(slave)
		return -1, -1, err
	}
	t.passSize()
	signal.Notify(t.sizes, unix.SIGWINCH, unix.SIGCONT)
	t.typed.Add(1)
	go t.passKeys()
	return master, slave, nil
}

func (t *terminal) passSize() {
	if size, err := unix.IoctlGetWinsize(t.fd, unix.TIOCGWINSZ); err == nil {
		_ = unix.IoctlSetWinsize(t.master, unix.TIOCSWINSZ, size) // tells the program with a SIGWINCH of its own
	}
}

// passKeys passes on what is typed until the terminal is given back. An interrupt is one more byte: it becomes a signal
// in the program's terminal, and only there.
func (t *terminal) passKeys() {
	defer func() {
		t.typed.Done()
		if r := recover(); r != nil {
			t.GiveBack() // before the trace of a panic is printed
			panic(r)
		}
	}()
	buf := make([]byte, 4<<10)
	for {
		if !t.waitUntil(t.fd, unix.POLLIN) {
			return
		}
		n, err := syscall.Read(t.fd, buf)
		switch {
		case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
			continue
		case err != nil || n <= 0: // it was hung up
			return
		}
		for typed := buf[:n]; len(typed) > 0; {
			n, err := syscall.Write(t.master, typed)
			if err == nil {
				typed = typed[n:]
				continue
			}
			if !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR) || !t.waitUntil(t.master, unix.POLLOUT) {
				return
			}
		}
	}
}

// waitUntil waits until a file is ready; false when the terminal is given back first. Meanwhile it passes on sizes, and
// takes the terminal again for a moon that was stopped and goes on.
func (t *terminal) waitUntil(fd int, what int16) bool {
	for {
		select {
		case sig := <-t.sizes:
			if sig == unix.SIGCONT {
				_, _ = term.MakeRaw(t.fd) // the shell has made it its own meanwhile
			}
			t.passSize()
		default:
		}
		fds := []unix.PollFd{{Fd: int32(fd), Events: what}, {Fd: int32(t.wake[0]), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, sizeTime)
		switch {
		case err == nil && fds[1].Revents != 0:
			return false
		case err == nil && n > 0:
			return true
		case err != nil && !errors.Is(err, syscall.EINTR):
			return false
		}
	}
}

// sizeTime is how long a new size may wait, in milliseconds.
const sizeTime = 50

// Write shows what the program prints.
func (t *terminal) Write(p []byte) (int, error) {
	t.left.readOutput(p)
	t.Show(p, -1)
	return len(p), nil
}

// giveUp says that nobody waits any longer for a terminal that takes nothing.
func (t *terminal) giveUp() { t.gone.Store(true) }

// Show writes to the screen; a terminal that takes nothing is waited for at most so long, if that is not negative.
func (t *terminal) Show(p []byte, wait time.Duration) {
	begun := time.Now()
	for len(p) > 0 {
		n, err := syscall.Write(t.fd, p)
		switch {
		case err == nil:
			p = p[n:]
			continue
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EAGAIN), t.gone.Load(), wait >= 0 && time.Since(begun) > wait:
			return // hung up, or stuck: the step has its output all the same
		}
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLOUT}}, sizeTime)
	}
}

// Unfolded records what came out of a pseudo terminal as the program wrote it: the terminal makes \r\n of each \n.
type Unfolded struct {
	To   io.Writer
	held bool // a \r that may belong to a \n
	buf  []byte
}

func (u *Unfolded) Write(p []byte) (int, error) {
	text := u.buf[:0]
	for _, b := range p {
		if u.held && b != '\n' {
			text = append(text, '\r')
		}
		if u.held = b == '\r'; !u.held {
			text = append(text, b)
		}
	}
	u.buf = text
	if len(text) == 0 {
		return len(p), nil
	}
	_, err := u.To.Write(text)
	return len(p), err
}

// End writes what was held back.
func (u *Unfolded) End() {
	if u.held {
		u.held = false
		_, _ = u.To.Write([]byte{'\r'}) // the writer remembers its error
	}
}
