package console

import (
	"bytes"
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// keyboard reads lines. The terminal stays as it is: it echoes, and its own keys edit the line, so that whatever helps a
// person to type does. While something else has the terminal nothing is read, or it would lose what is typed for it.
type keyboard struct {
	lines chan string
	fd    int
	wake  [2]int     // writing to the second ends waiting for input
	turn  sync.Mutex // held while reading, and by whoever lends the terminal
	done  chan struct{}
	drop  chan chan struct{} // asks the reader to hide what is typed, and to drop what it has read; it closes what it gets
	ended chan struct{}      // closed when it reads no more
	text  []byte             // read, and not yet sent: only the reader's

	shown *unix.Termios // how the terminal was before what is typed was hidden; nil: it is not
	ours  func() bool   // whether moon has the terminal, and not the shell it was started from
}

// endOfInput is what ctrl-d at a terminal gives in place of a line; no line can have it.
const endOfInput = "\n"

// maxTyped is how long a line may be.
const maxTyped = 64 << 10

func newKeyboard(in *os.File) (*keyboard, error) {
	k := &keyboard{
		lines: make(chan string), fd: int(in.Fd()), done: make(chan struct{}), drop: make(chan chan struct{}),
		ended: make(chan struct{}),
	}
	k.ours = func() bool {
		group, err := unix.IoctlGetInt(k.fd, unix.TIOCGPGRP)
		return err == nil && group == unix.Getpgrp()
	}
	// A read that waits cannot be broken off, but poll can wait for the terminal and for this at once.
	if err := unix.Pipe(k.wake[:]); err != nil {
		return nil, err
	}
	// Programs that get the terminal must not inherit it.
	unix.CloseOnExec(k.wake[0])
	unix.CloseOnExec(k.wake[1])
	go k.readLines()
	return k, nil
}

// closeKeyboard ends reading, and waits for it.
func (k *keyboard) closeKeyboard() {
	k.hideTyped(false)
	// Before the reader is woken, which looks at it when it wakes.
	close(k.done)
	k.wakeReader()
	// The reader polls with this held: a pipe closed under it could be another file by then.
	k.turn.Lock()
	defer k.turn.Unlock()
	_, _ = unix.Close(k.wake[0]), unix.Close(k.wake[1])
	k.wake = [2]int{-1, -1}
}

func (k *keyboard) wakeReader() { _, _ = unix.Write(k.wake[1], []byte{0}) } // one byte fits

// lendTerminal does something while nothing is read.
func (k *keyboard) lendTerminal(do func()) {
	k.wakeReader()
	// The byte stays in the pipe until the turn is taken, so a reader that gets it first is woken again.
	k.turn.Lock()
	defer k.turn.Unlock()
	_, _ = unix.Read(k.wake[0], make([]byte, 1))
	if k.shown != nil {
		k.hideTyped(false)
		// Before the turn is given back: nothing is read with the echo on.
		defer k.turnEchoOff()
	}
	do()
}

// hideTyped lets the terminal show nothing of what is typed, or shows it again. It may be asked again and again: a shell to which
// the user went back meanwhile has made the terminal its own. Whatever was typed before it is hidden is dropped: the terminal has
// shown it, so it is not the secret that is asked for now, and half a line of it would become a part of the secret.
func (k *keyboard) hideTyped(on bool) {
	if !on {
		if k.shown != nil {
			_ = unix.IoctlSetTermios(k.fd, setTermios, k.shown) // or it has gone
			k.shown = nil
		}
		return
	}
	if _, shown := k.terminalShows(); !shown {
		return
	}
	// The reader may have a line already, or wait for one: it alone knows.
	k.wakeReader()
	dropped := make(chan struct{})
	select {
	case k.drop <- dropped:
		<-dropped
	case <-k.ended:
		k.turnEchoOff()
	}
}

// terminalShows reports whether the input is a terminal that moon has and that shows what is typed, and how it is set up.
func (k *keyboard) terminalShows() (now *unix.Termios, shown bool) {
	now, err := unix.IoctlGetTermios(k.fd, getTermios)
	return now, err == nil && now.Lflag&unix.ECHO != 0 && k.ours() // in the background moon would be stopped for changing it
}

// turnEchoOff turns the echo off, and drops what the terminal has of what was typed before.
func (k *keyboard) turnEchoOff() {
	now, shown := k.terminalShows()
	if !shown {
		return
	}
	silent := *now
	// With ECHONL the newline still shows, so that what is said next begins on a line of its own.
	silent.Lflag = silent.Lflag&^unix.ECHO | unix.ECHONL
	if unix.IoctlSetTermios(k.fd, hideTermios, &silent) == nil && k.shown == nil {
		k.shown = now
	}
}

// forgetRead drops what was read, for hide, which has nudged.
func (k *keyboard) forgetRead(dropped chan<- struct{}) {
	_, _ = unix.Read(k.wake[0], make([]byte, 1))
	k.text = nil
	k.turnEchoOff()
	close(dropped)
}

var errWoken = errors.New("woken")

// readLines sends each line until the input ends. That of a terminal ends when it does so three times without a line: once is
// somebody's ctrl-d.
func (k *keyboard) readLines() {
	defer close(k.lines)
	defer close(k.ended)
	buf := make([]byte, 4<<10)
	for ends := 0; ; {
		n, err := k.readNext(buf)
		switch {
		case errors.Is(err, errWoken):
			if k.isClosed() {
				return
			}
			select {
			case dropped := <-k.drop:
				k.forgetRead(dropped)
			default:
			}
			continue
		case err != nil:
			// An error will not go away: with this count it is the last round.
			n, ends = 0, 2
		}
		// Only whole lines are sent. What is left waits for more, unless the input has ended or the line is too long: then it is one.
		k.text = append(k.text, buf[:n]...)
		for n > 0 {
			line, rest, whole := bytes.Cut(k.text, []byte{'\n'})
			if !whole {
				break
			}
			k.text, ends = bytes.Clone(rest), 0
			if !k.sendLine(string(line)) {
				return
			}
		}
		if n > 0 && len(k.text) < maxTyped {
			continue
		}
		if len(k.text) > 0 {
			if !k.sendLine(string(k.text)) {
				return
			}
			k.text = nil
		}
		if n > 0 {
			continue
		}
		if ends++; ends > 2 || !term.IsTerminal(k.fd) {
			return
		}
		if !k.sendLine(endOfInput) {
			return
		}
	}
}

func (k *keyboard) isClosed() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

// sendLine hands a line over, unless it is to be dropped meanwhile. False: the keyboard is closed.
func (k *keyboard) sendLine(line string) bool {
	select {
	case k.lines <- line:
		return true
	case dropped := <-k.drop:
		// The line was typed while it showed, so it is not the secret that is asked for.
		k.forgetRead(dropped)
		return true
	case <-k.done:
		return false
	}
}

// readNext reads what there is. A terminal has something to read when a line is whole.
func (k *keyboard) readNext(buf []byte) (int, error) {
	k.turn.Lock()
	defer k.turn.Unlock()
	// With the turn taken, as closing ends with that and closes the pipe.
	if k.isClosed() {
		return 0, errWoken
	}
	for {
		fds := []unix.PollFd{{Fd: int32(k.fd), Events: unix.POLLIN}, {Fd: int32(k.wake[0]), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return 0, err
		}
		// Before the input, which may be typed for the program that wants the terminal.
		if fds[1].Revents != 0 {
			return 0, errWoken
		}
		n, err := unix.Read(k.fd, buf)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		return max(n, 0), err
	}
}
