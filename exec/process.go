package exec

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// linger is how long an attempt waits for output after its process has ended. A process in the background that
// still holds the output — a daemon started with & — is left alone, but not waited for: what it prints later is
// lost, and a pipe without a reader ends most programs that print to it.
const linger = 500 * time.Millisecond

// process is a command to run in a process group of its own.
//
//	ctx ends ─▶ INT ─ grace/5 ─▶ TERM ─ grace ─▶ KILL        interrupted
//	            TERM ────────── grace ─────────▶ KILL        expired
//	now      ─▶ KILL
//
// When the leader of a stopped group is gone, the rest is killed: background children of sh ignore INT.
type process struct {
	argv   []string
	env    []string
	dir    string
	stdin  *string       // nil: /dev/null
	stdout io.Writer     // nil: /dev/null
	stderr io.Writer     // nil: /dev/null
	grace  time.Duration // required
	now    <-chan struct{}
	watch  func(Moment) // required
}

// notRun is the code of a process that was stopped before it began.
const notRun = -1

// exit is how a process ended.
type exit struct {
	code   int            // exit status, or 128 + the signal
	signal syscall.Signal // that killed it; 0: none
	stop   Stop           // why it was told to end; "": it was not
	held   bool           // a process in the background kept the output open
	err    error          // it could not be started
}

func (p *process) run(ctx context.Context) exit {
	if stop := stopped(ctx); stop != "" {
		return exit{stop: stop, code: notRun}
	}
	path, err := p.find()
	if err != nil {
		return exit{err: err}
	}
	pipes, err := p.open()
	if err != nil {
		return exit{err: err}
	}
	c, err := spawn(path, p.argv, &os.ProcAttr{Dir: p.dir, Env: p.env, Files: pipes.child[:], Sys: groupAttr()})
	pipes.closeChild()
	if err != nil {
		pipes.close()
		return exit{err: p.startError(path, err)}
	}
	p.watch(Spawned)
	pipes.start(p)
	e := exit{stop: p.await(ctx, c, pipes)}
	if e.stop != "" {
		c.signal(syscall.SIGKILL) // whoever is left of the group; the leader, not reaped yet, keeps its id from being reused
	}
	state, err := c.reap()
	p.watch(Reaped)
	if err != nil {
		e.err = err
	}
	e.held = pipes.finish()
	e.read(state)
	return e
}

// short is how long the end of the output is taken for the sign that a process has ended. Waiting for the process
// itself occupies a thread, which is a good part of what a step like true costs.
const short = 5 * time.Millisecond

// await waits for the leader's end and signals the group when it must stop.
func (p *process) await(ctx context.Context, c *child, ps *pipes) Stop {
	var stop Stop
	var next <-chan time.Time
	var ladder []syscall.Signal
	done, now, closed := ctx.Done(), p.now, ps.closed
	timer := time.NewTimer(short)
	defer timer.Stop()
	for {
		select {
		case <-c.exited:
			return stop
		case <-closed:
			closed = nil
			if c.gone() {
				return stop
			}
			c.watch()
		case <-timer.C:
			c.watch()
		case <-done:
			done = nil
			c.watch()
			if c.gone() {
				continue
			}
			stop = stopped(ctx)
			c.signal(firstSignal(stop))
			ladder = []syscall.Signal{syscall.SIGKILL}
			next = time.After(p.grace)
			if stop == Interrupt {
				ladder = []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}
				next = time.After(p.grace / 5)
			}
		case <-now:
			now, next = nil, nil
			c.watch()
			if stop == "" && !c.gone() {
				stop = Interrupt
			}
			done = nil
			c.signal(syscall.SIGKILL)
		case <-next:
			c.signal(ladder[0])
			next = nil
			if ladder = ladder[1:]; len(ladder) > 0 {
				next = time.After(p.grace - p.grace/5)
			}
		}
	}
}

func firstSignal(stop Stop) syscall.Signal {
	if stop == Expired {
		return syscall.SIGTERM
	}
	return syscall.SIGINT
}

func (e *exit) read(state *os.ProcessState) {
	if state == nil {
		return
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		e.signal = status.Signal()
		e.code = 128 + int(e.signal)
		return
	}
	e.code = state.ExitCode()
}

// child is a process that was started, the leader of its group.
type child struct {
	proc    *os.Process
	watched bool
	exited  chan struct{} // closed when it has ended, if it is watched
	state   *os.ProcessState
	err     error
}

// watch begins to wait for the end of the process.
func (c *child) watch() {
	if !c.watched {
		c.watched = true
		go c.await()
	}
}

// signal reaches the whole group. A group that is stopped is woken, since it could not obey.
func (c *child) signal(sig syscall.Signal) {
	_ = syscall.Kill(-c.proc.Pid, sig) // ESRCH: nobody is left
	if sig != syscall.SIGKILL {
		_ = syscall.Kill(-c.proc.Pid, syscall.SIGCONT)
	}
}

// null is /dev/null for every process.
var null = sync.OnceValues(func() (*os.File, error) { return os.OpenFile(os.DevNull, os.O_RDWR, 0) })

// pipes are the two ends of a process's three files.
type pipes struct {
	child  [3]*os.File
	parent [3]*os.File // nil: /dev/null
	reads  atomic.Int32
	closed chan struct{} // when all output has been read
	held   [3]bool
}

// open makes the files. Silent ends share one open /dev/null: opening files is what a short step costs most.
func (p *process) open() (*pipes, error) {
	devnull, err := null()
	if err != nil {
		return nil, err
	}
	ps := &pipes{child: [3]*os.File{devnull, devnull, devnull}, closed: make(chan struct{})}
	for i, wanted := range []bool{p.stdin != nil, p.stdout != nil, p.stderr != nil} {
		if !wanted {
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			ps.closeChild()
			ps.close()
			return nil, err
		}
		if i == 0 {
			ps.child[i], ps.parent[i] = r, w
		} else {
			ps.child[i], ps.parent[i] = w, r
		}
	}
	return ps, nil
}

func (ps *pipes) closeChild() {
	for i, f := range ps.child {
		if ps.parent[i] != nil {
			_ = f.Close() // the child has its own
		}
	}
}

func (ps *pipes) close() {
	for _, f := range ps.parent {
		if f != nil {
			_ = f.Close() // a pipe has nothing to flush
		}
	}
}

func (ps *pipes) start(p *process) {
	if ps.parent[0] != nil {
		go func() {
			_, _ = io.WriteString(ps.parent[0], *p.stdin) // a command need not read it: EPIPE
			_ = ps.parent[0].Close()
		}()
	}
	outputs := []io.Writer{1: p.stdout, 2: p.stderr}
	for i := range outputs {
		if ps.parent[i] != nil && i > 0 {
			ps.reads.Add(1)
		}
	}
	if ps.reads.Load() == 0 {
		close(ps.closed)
	}
	for i, to := range outputs {
		if ps.parent[i] == nil || i == 0 {
			continue
		}
		go func() {
			ps.held[i] = drain(ps.parent[i], to)
			if ps.reads.Add(-1) == 0 {
				close(ps.closed)
			}
		}()
	}
}

// finish waits for the output, for a while, and reports whether somebody still holds it.
func (ps *pipes) finish() bool {
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-ps.closed:
	case <-timer.C:
		for _, f := range ps.parent[1:] {
			if f != nil {
				_ = f.SetReadDeadline(time.Now()) // it cannot fail on a pipe that is open
			}
		}
		<-ps.closed
	}
	ps.close()
	return ps.held[1] || ps.held[2]
}

const readSize = 64 << 10

var buffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// drain copies a pipe until its end, or until its deadline, and reports whether it was the deadline. When the output
// cannot be stored it is read all the same: a full disk must not look like a broken pipe to the step.
func drain(pipe *os.File, to io.Writer) (held bool) {
	buf := buffers.Get().(*[readSize]byte)
	defer buffers.Put(buf)
	grown := false
	for {
		n, err := pipe.Read(buf[:])
		if n > 0 {
			_, _ = to.Write(buf[:n]) // the writer remembers its error
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return !sweep(pipe, to, buf[:])
		case err != nil:
			return false
		case n == len(buf) && !grown:
			grown = true
			growPipe(pipe)
		}
	}
}

// sweep takes what is left in a pipe whose process has ended, without waiting, and reports whether that was all
// there will ever be. It is bounded, since a process in the background may go on writing.
func sweep(pipe *os.File, to io.Writer, buf []byte) (ended bool) {
	_ = pipe.SetReadDeadline(time.Time{}) // it cannot fail on a pipe that is open
	raw, err := pipe.SyscallConn()
	if err != nil {
		return false
	}
	for left := maxPipe; left > 0; {
		var n int
		err := raw.Read(func(fd uintptr) bool {
			n, err = syscall.Read(int(fd), buf)
			return true
		})
		if err != nil || n < 0 {
			return false
		}
		if n == 0 {
			return true
		}
		_, _ = to.Write(buf[:n]) // the writer remembers its error
		left -= n
	}
	return false
}

// maxPipe is the most that a pipe may hold.
const maxPipe = 1 << 20
