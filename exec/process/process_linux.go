package process

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// threads are goroutines that are locked to a thread each and live as long as moon: the kernel sends Pdeathsig when the
// *thread* that started a process ends, and the Go runtime ends threads as it likes (go #27505).
var threads struct {
	mu   sync.Mutex
	idle []chan func()
}

// OnThread has such a goroutine do something, next to the caller. There are as many as were ever needed at once.
func OnThread(do func()) {
	threads.mu.Lock()
	if n := len(threads.idle); n > 0 {
		work := threads.idle[n-1]
		threads.idle = threads.idle[:n-1]
		threads.mu.Unlock()
		work <- do
		return
	}
	threads.mu.Unlock()
	go func() {
		runtime.LockOSThread()
		work := make(chan func())
		for {
			do()
			threads.mu.Lock()
			threads.idle = append(threads.idle, work)
			threads.mu.Unlock()
			do = <-work
		}
	}()
}

// startProcess starts the process in a session of its own, with its life tied to moon's.
func (c *child) startProcess(e *ends) error {
	c.end = -1
	// The kernel sends Pdeathsig when the thread that forked ends, so the thread must live as long as moon.
	sys := c.startSession(&syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, PidFD: &c.end})
	c.enterGroup(sys)
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: e.childFiles(), Sys: sys}
	pid, _, err := syscall.StartProcess(c.path, c.Argv, attr)
	// EIO may be that of reading how the start went: the program has then run, and must not run again.
	if err != nil && !errors.Is(err, syscall.EIO) && c.leaveGroup(sys) {
		// Whether that is what the kernel refused is known only now: the error may also be about the program.
		if pid, _, err = syscall.StartProcess(c.path, c.Argv, attr); err == nil {
			cgroupsOf(c.RunID).markUnusable()
		}
	}
	if err != nil {
		return &os.PathError{Op: "start", Path: c.path, Err: err}
	}
	c.pid = pid
	c.Watch(Spawned)
	return nil
}

// endFD becomes readable when the process ends; below 0 if the kernel cannot say so.
func (c *child) endFD() int32 { return int32(c.end) }

func (c *child) forgetProcess() {
	if c.end >= 0 {
		_ = syscall.Close(c.end)
	}
}

// hasEnded asks whether a process has ended, and leaves it to be reaped.
func hasEnded(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}

func makePipe() (r, w int, err error) {
	var fds [2]int
	err = unix.Pipe2(fds[:], unix.O_CLOEXEC)
	return fds[0], fds[1], err
}

// growPipe makes room in a pipe that was found full, so that a flood needs fewer switches between its processes.
func growPipe(fd int) {
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, maxPipe) // refused over the user's quota: slower, not wrong
}

// flushTyped throws away what was typed at a terminal and not read.
func flushTyped(tty int) { _ = unix.IoctlSetInt(tty, unix.TCFLSH, unix.TCIFLUSH) }

// Unfreeze has a terminal take output that was stopped, and throws away what it has not taken yet.
func Unfreeze(tty int) {
	_ = unix.IoctlSetInt(tty, unix.TCXONC, unix.TCOON)
	_ = unix.IoctlSetInt(tty, unix.TCFLSH, unix.TCOFLUSH)
}
