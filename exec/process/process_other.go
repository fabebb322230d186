//go:build !linux

package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// OnThread does something beside the caller.
func OnThread(do func()) { go do() }

// startProcess starts the process in a session of its own.
func (c *child) startProcess(e *ends) error {
	pid, _, err := syscall.StartProcess(c.path, c.Argv, &syscall.ProcAttr{
		Dir: c.Dir, Env: c.Env, Files: e.childFiles(),
		Sys: c.startSession(&syscall.SysProcAttr{}),
	})
	if err != nil {
		return &os.PathError{Op: "start", Path: c.path, Err: err}
	}
	c.pid, c.end = pid, endOf(pid)
	c.Watch(Spawned)
	return nil
}

// endOf makes a file that becomes readable when a process ends.
func endOf(pid int) int {
	queue, err := unix.Kqueue()
	if err != nil {
		return atEnd()
	}
	unix.CloseOnExec(queue)
	var end unix.Kevent_t
	unix.SetKevent(&end, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	end.Fflags = unix.NOTE_EXIT
	if _, err := unix.Kevent(queue, []unix.Kevent_t{end}, nil, nil); err != nil { // it has ended already
		_ = syscall.Close(queue)
		return atEnd()
	}
	return queue
}

// atEnd makes a file that is readable.
func atEnd() int {
	r, w, err := makePipe()
	if err != nil {
		return -1
	}
	_ = syscall.Close(w)
	return r
}

func (c *child) endFD() int32 { return int32(c.end) }

func (c *child) forgetProcess() {
	if c.end >= 0 {
		_ = syscall.Close(c.end)
	}
}

// hasEnded would ask whether a process has ended; here it cannot be known before it is reaped.
func hasEnded(int) bool { return false }

func makePipe() (r, w int, err error) {
	syscall.ForkLock.RLock()
	// Without the lock a fork between the pipe and the flag would inherit both ends.
	defer syscall.ForkLock.RUnlock()
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		return 0, 0, err
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return fds[0], fds[1], nil
}

func growPipe(int) {}

// flushTyped throws away what was typed at a terminal and not read.
func flushTyped(tty int) { _ = unix.IoctlSetPointerInt(tty, unix.TIOCFLUSH, 1) }

// Unfreeze has a terminal take output that was stopped, and throws away what it has not taken yet.
func Unfreeze(tty int) {
	_ = unix.IoctlSetInt(tty, unix.TIOCSTART, 0)
	_ = unix.IoctlSetPointerInt(tty, unix.TIOCFLUSH, 2)
}
