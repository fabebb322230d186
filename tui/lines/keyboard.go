package lines

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

	shown *unix.Termios // how the terminal was before what is typed was hidden; nil: it is not
	ours  func() bool   // whether moon has the terminal, and not the shell it was started from
}

// endOfInput is what ctrl-d at a terminal gives in place of a line; no line can have it.
const endOfInput = "\n"

// maxTyped is how long a line may be.
const maxTyped = 64 << 10

func newKeyboard(in *os.File) (*keyboard, error) {
	k := &keyboard{lines: make(chan string), fd: int(in.Fd()), done: make(chan struct{})}
	k.ours = func() bool {
		group, err := unix.IoctlGetInt(k.fd, unix.TIOCGPGRP)
		return err == nil && group == unix.Getpgrp()
	}
	if err := unix.Pipe(k.wake[:]); err != nil {
		return nil, err
	}
	unix.CloseOnExec(k.wake[0])
	unix.CloseOnExec(k.wake[1])
	go k.read()
	return k, nil
}

// close ends reading, and waits for it.
func (k *keyboard) close() {
	k.hide(false)
	close(k.done)
	k.nudge()
	k.turn.Lock()
	defer k.turn.Unlock()
	_, _ = unix.Close(k.wake[0]), unix.Close(k.wake[1])
	k.wake = [2]int{-1, -1}
}

func (k *keyboard) nudge() { _, _ = unix.Write(k.wake[1], []byte{0}) } // one byte fits

// lent does something while nothing is read.
func (k *keyboard) lent(do func()) {
	k.nudge()
	k.turn.Lock()
	defer k.turn.Unlock()
	_, _ = unix.Read(k.wake[0], make([]byte, 1))
	if k.shown != nil {
		k.hide(false)
		defer k.hide(true)
	}
	do()
}

// hide lets the terminal show nothing of what is typed, or shows it again. It may be asked again and again: a shell to which
// somebody went back meanwhile has made the terminal its own.
func (k *keyboard) hide(on bool) {
	if !on {
		if k.shown != nil {
			_ = unix.IoctlSetTermios(k.fd, setTermios, k.shown) // or it has gone
			k.shown = nil
		}
		return
	}
	now, err := unix.IoctlGetTermios(k.fd, getTermios)
	if err != nil || now.Lflag&unix.ECHO == 0 {
		return // no terminal, or one that shows nothing
	}
	if !k.ours() {
		return // moon is in the background, and would be stopped for it
	}
	silent := *now
	silent.Lflag = silent.Lflag&^unix.ECHO | unix.ECHONL
	if unix.IoctlSetTermios(k.fd, setTermios, &silent) == nil && k.shown == nil {
		k.shown = now
	}
}

var errWoken = errors.New("woken")

// read sends each line until the input ends. That of a terminal ends when it does so three times without a line: once is
// somebody's ctrl-d.
func (k *keyboard) read() {
	defer close(k.lines)
	var text []byte
	buf := make([]byte, 4<<10)
	for ends := 0; ; {
		n, err := k.next(buf)
		switch {
		case errors.Is(err, errWoken):
			if k.closed() {
				return
			}
			continue
		case err != nil:
			n, ends = 0, 2
		}
		text = append(text, buf[:n]...)
		for n > 0 {
			line, rest, whole := bytes.Cut(text, []byte{'\n'})
			if !whole {
				break
			}
			text, ends = bytes.Clone(rest), 0
			if !k.send(string(line)) {
				return
			}
		}
		if n > 0 && len(text) < maxTyped {
			continue
		}
		if len(text) > 0 {
			if !k.send(string(text)) {
				return
			}
			text = nil
		}
		if n > 0 {
			continue
		}
		if ends++; ends > 2 || !term.IsTerminal(k.fd) {
			return
		}
		if !k.send(endOfInput) {
			return
		}
	}
}

func (k *keyboard) closed() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

func (k *keyboard) send(line string) bool {
	select {
	case k.lines <- line:
		return true
	case <-k.done:
		return false
	}
}

// next reads what there is. A terminal has something to read when a line is whole.
func (k *keyboard) next(buf []byte) (int, error) {
	k.turn.Lock()
	defer k.turn.Unlock()
	if k.closed() {
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
