package exec

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// groupAttr puts a process in a group of its own and ties its life to moon's.
func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

type spawnRequest struct {
	path  string
	argv  []string
	attr  *os.ProcAttr
	reply chan<- spawnReply
}

type spawnReply struct {
	proc *os.Process
	err  error
}

// spawner starts processes on one thread that lives as long as moon: the kernel sends Pdeathsig when the *thread*
// that started a process ends, and the Go runtime ends threads as it likes (go #27505).
var spawner = sync.OnceValue(func() chan<- spawnRequest {
	requests := make(chan spawnRequest)
	go func() {
		runtime.LockOSThread()
		for r := range requests {
			proc, err := os.StartProcess(r.path, r.argv, r.attr)
			r.reply <- spawnReply{proc, err}
		}
	}()
	return requests
})

func spawn(path string, argv []string, attr *os.ProcAttr) (*child, error) {
	reply := make(chan spawnReply, 1)
	spawner() <- spawnRequest{path, argv, attr, reply}
	r := <-reply
	if r.err != nil {
		return nil, r.err
	}
	return &child{proc: r.proc, exited: make(chan struct{})}, nil
}

// await waits for the end of the process but leaves it to be reaped, so that its id, and with it the group's,
// cannot pass to a stranger before the group was killed.
func (c *child) await() {
	for {
		err := unix.Waitid(unix.P_PID, c.proc.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	close(c.exited)
}

// gone asks whether the process has ended.
func (c *child) gone() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, c.proc.Pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}

func (c *child) reap() (*os.ProcessState, error) {
	c.state, c.err = c.proc.Wait()
	return c.state, c.err
}

// growPipe makes room in a pipe that was found full, so that a flood needs fewer switches between its processes.
func growPipe(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, maxPipe) // refused over the user's quota: slower, not wrong
	})
}
