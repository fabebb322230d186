package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"moon/exec/fault"

	"golang.org/x/sys/unix"
)

// drainTimeout is how long an attempt waits for output after its process has ended. A process in the background that
// still holds the output — a daemon started with & — is left alone, but not waited for: what it prints later is
// lost, and a pipe without a reader ends most programs that print to it.
const drainTimeout = 500 * time.Millisecond

// DefaultGrace is how long a process has to end after the first signal.
const DefaultGrace = 5 * time.Second

// Moment is one in the life of a process.
type Moment string

// A process was started; it has ended and was reaped.
const (
	Spawned Moment = "spawned"
	Reaped  Moment = "reaped"
)

// Command is a command to run in a session, and so in a process group, of its own. It has no controlling terminal: what opened
// moon's would paint over the TUI, or be stopped for reading it, unseen.
//
//	ctx ends ─▶ INT ─ grace/5 ─▶ TERM ─ grace ─▶ KILL        interrupted
//	            TERM ────────── grace ─────────▶ KILL        expired
//	now      ─▶ KILL
//
// When the leader of a stopped group is gone, the rest is killed: background children of sh ignore INT.
type Command struct {
	Argv    []string
	Env     []string
	Dir     string
	Stdin   *string        // nil: /dev/null
	Input   *io.PipeReader // what is written to its standard input while it lives, instead of stdin; nil: nothing
	Script  *string        // what can be read from /dev/fd/3; nil: there is no such file
	Stdout  io.Writer      // nil: /dev/null
	Stderr  io.Writer      // nil: /dev/null
	Grace   time.Duration  // required
	Now     <-chan struct{}
	Watch   func(Moment) // required
	RunID   string       // the run and the attempt that it belongs to; "" where nobody wants to know
	Attempt string
	Most    int       // bytes that it may print to standard output, or it is killed; 0: any number
	Owner   *Owner    // the loop whose thread this is; nil: the process is waited for on a thread of its own
	said    *tail     // the end of its output, to find out why it failed; nil: it is not looked at
	Tty     *terminal // the user's, for a process that gets a terminal and no pipes; nil: pipes, and no terminal at all
}

// NotRun is the code of a process that was stopped before it began.
const NotRun = -1

// Exit is how a process ended.
type Exit struct {
	Code    int            // exit status, or 128 + the signal
	Signal  syscall.Signal // that killed it; 0: none
	Stop    fault.Stop     // why it was asked to end; "": it was not
	Held    bool           // a process in the background kept the output open
	Others  []orphan       // what kept it open, or had left the group of a process that was stopped, and was killed too
	Err     error          // it could not be started
	cause   error          // what the system said to that
	Flooded bool           // it printed more than it may, and was killed for that
}

// Run starts the process and returns when it and its descendants have ended. Stopping the context stops them.
func (p *Command) Run(ctx context.Context) Exit {
	if stop := fault.Stopped(ctx); stop != "" {
		return Exit{Stop: stop, Code: NotRun}
	}
	defer ending.beginProcess()()
	path, err := p.Find()
	if err != nil {
		return Exit{Err: err}
	}
	c := &child{Command: p, path: path, started: make(chan struct{}), done: make(chan struct{})}
	if p.Owner != nil {
		return p.runOwned(ctx, c)
	}
	OnThread(c.runToEnd)
	c.exit.Stop = p.awaitEnd(ctx, c)
	return c.exit
}

// awaitEnd waits for the end and signals the group when it must stop.
func (p *Command) awaitEnd(ctx context.Context, c *child) fault.Stop {
	s := newStopping(ctx, c)
	for {
		var next <-chan time.Time
		if !s.due.IsZero() {
			next = time.After(time.Until(s.due))
		}
		select {
		case <-c.done:
			return s.why
		case <-s.ended:
		case <-s.now:
		case <-s.over:
		case <-next:
		}
		s.obey()
	}
}

// stopping is how a process is asked to end, a signal after the other, by whoever waits for it.
type stopping struct {
	of               *child
	ctx              context.Context
	ended, now, over <-chan struct{}  // ask for it; nil: was heard
	ladder           []syscall.Signal // the signals that follow
	due              time.Time        // of the first of them; zero: there is none
	why              fault.Stop       // "": it was not asked
}

func newStopping(ctx context.Context, c *child) *stopping {
	return &stopping{of: c, ctx: ctx, ended: ctx.Done(), now: c.Now, over: ending.ctx.Done()}
}

// obey sends the signal that it is time for, and reports whether there was a reason to look.
func (s *stopping) obey() bool {
	switch p := s.of.Command; {
	case isClosed(s.over):
		s.over = nil
		s.kill(fault.Interrupt)
	// From here on there is no more grace.
	case isClosed(s.now):
		s.kill(p.whyKilled(s.ctx))
	case isClosed(s.ended):
		s.ended = nil
		why := fault.Stopped(s.ctx)
		// It has ended by itself, so there is nothing to stop.
		if !s.of.signalGroup(firstSignal(why)) {
			return true
		}
		// An interrupt leaves a fifth of the grace before SIGTERM and the rest before SIGKILL; any other stop has SIGKILL next, after
		// all of it.
		s.why = why
		s.ladder = []syscall.Signal{syscall.SIGKILL}
		s.due = time.Now().Add(p.Grace)
		if why == fault.Interrupt {
			s.ladder = []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}
			s.due = time.Now().Add(p.Grace / 5)
		}
	case !s.due.IsZero() && !time.Now().Before(s.due):
		s.of.signalGroup(s.ladder[0])
		s.due = time.Time{}
		if s.ladder = s.ladder[1:]; len(s.ladder) > 0 {
			s.due = time.Now().Add(p.Grace - p.Grace/5)
		}
	default:
		return false
	}
	return true
}

// kill ends the process without grace; but for the end of moon itself nothing else is heard any more.
func (s *stopping) kill(why fault.Stop) {
	s.now, s.ended, s.due = nil, nil, time.Time{}
	if s.of.signalGroup(syscall.SIGKILL) && s.why == "" {
		s.why = why
	}
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// whyKilled says why a process was killed that was to end at once.
func (p *Command) whyKilled(ctx context.Context) fault.Stop {
	if stop := fault.Stopped(ctx); stop != "" {
		return stop
	}
	return fault.Interrupt
}

func firstSignal(stop fault.Stop) syscall.Signal {
	if stop == fault.Expired {
		return syscall.SIGTERM
	}
	return syscall.SIGINT
}

func (e *Exit) readStatus(status syscall.WaitStatus) {
	if status.Signaled() {
		e.Signal = status.Signal()
		e.Code = 128 + int(e.Signal)
		return
	}
	e.Code = status.ExitStatus()
}

// child is a process from its start to its end, the leader of its group. It is started, read from and reaped on one
// thread, by calls that block: being woken through the scheduler several times is a good part of what a step like true
// costs.
type child struct {
	*Command
	path    string
	started chan struct{} // closed when it has been started, or could not be
	done    chan struct{} // closed when it has ended, and exit is known
	exit    Exit

	unread error // why its output could not be read to its end

	confined *cgroup // nil: it is not

	end int // a file that becomes readable when it ends; -1: there is none

	printed int // bytes so far, to standard output

	asked *stopping // with an owner, how it is asked to end; nil otherwise
	turn  time.Time // when the owner has something to do again; zero: when its bell rings

	mu      sync.Mutex
	pid     int  // 0: it was not started, or has been reaped; written by its thread, which may read it as it likes
	stopped bool // it was asked to end
}

// runToEnd is the whole life of the process.
func (c *child) runToEnd() {
	defer close(c.done)
	if c.Tty != nil {
		defer c.Tty.GiveBack() // also before the trace of a panic is printed
	}
	ends, err := c.openEnds()
	if err == nil {
		err = c.startProcess(ends)
		// Our copies of its ends are closed, or the output would never end.
		ends.closeChild()
		if err != nil {
			ends.closeAll()
			c.exit.cause = err
			err = c.startError(c.path, err)
		}
	}
	close(c.started)
	if err != nil {
		c.exit.Err = err
		return
	}
	switch {
	case c.Input != nil:
		go pourInput(ends.stdin, c.Input)
	case ends.stdin != nil:
		go feedInput(ends.stdin, *c.Stdin)
	}
	if ends.script != nil {
		go feedInput(ends.script, *c.Script)
	}
	if c.exit.Held = c.drainOutput(ends); c.exit.Held {
		c.exit.Others = c.listLeft()
	}
	if c.unread != nil { // what it printed is not known to be whole
		c.exit.Err = fmt.Errorf("read its output: %w", c.unread)
	}
	ends.closeAll()
	c.releaseGroup()
}

// startSession puts the process into a session of its own, which has a terminal only if one was given to it.
func (c *child) startSession(sys *syscall.SysProcAttr) *syscall.SysProcAttr {
	sys.Setsid = true
	if c.Tty != nil {
		sys.Setctty, sys.Ctty = true, 0
	}
	return sys
}

// feedInput writes what a process shall read. It ends when the file is closed, even if nobody reads.
func feedInput(f *os.File, text string) {
	_, _ = io.WriteString(f, text) // a command need not read it: EPIPE
	_ = f.Close()
}

// pourInput writes what comes. Whoever writes to the other end is notified when no one reads any more.
func pourInput(f *os.File, from *io.PipeReader) {
	_, err := io.Copy(f, from)
	_ = from.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	_ = f.Close() // or it was closed with the process
}

// signalGroup sends a signal to the whole group, unless the leader has ended; it reports that. A group that is stopped is
// woken, since it could not obey.
func (c *child) signalGroup(sig syscall.Signal) (sent bool) {
	<-c.started
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid == 0 || hasEnded(c.pid) {
		return false
	}
	c.stopped = true
	for _, group := range c.listGroups() {
		_ = syscall.Kill(-group, sig) // ESRCH: nobody is left
		if sig != syscall.SIGKILL {
			// A stopped process receives no signal but SIGKILL until it continues.
			_ = syscall.Kill(-group, syscall.SIGCONT)
		}
	}
	if sig == syscall.SIGKILL && c.Tty != nil {
		c.Tty.giveUp()
	}
	return true
}

// listGroups returns the groups to be signalled: the process's own and, where it is a shell with jobs, that of the job which has its
// terminal.
func (c *child) listGroups() []int {
	if c.Tty != nil {
		if job, err := unix.IoctlGetInt(c.Tty.master, unix.TIOCGPGRP); err == nil && job > 1 && job != c.pid {
			return []int{c.pid, job}
		}
	}
	return []int{c.pid}
}

// reapLeader takes note of the end of the leader. Before, what is left of a group that was asked to end is killed: as long as
// the leader is not reaped, its id, and with it the group's, cannot pass to a stranger.
func (c *child) reapLeader() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		for _, group := range c.listGroups() {
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
		c.exit.Others = c.killEscaped()
	}
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(c.pid, &status, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		c.exit.Err = err
		break
	}
	c.pid = 0
	c.exit.readStatus(status)
	c.Watch(Reaped)
}

// null is /dev/null for every process.
var null = sync.OnceValues(func() (*os.File, error) { return os.OpenFile(os.DevNull, os.O_RDWR, 0) })

// ends are the two ends of a process's three files. Silent ones share one open /dev/null.
type ends struct {
	child [3]int
	given []int    // of child: those that it alone is to have
	stdin *os.File // moon's; nil: /dev/null

	script      *os.File // moon's; nil: there is none
	childScript int
	reads       [2]int // moon's, of stdout and stderr; -1: /dev/null, or at its end
}

func (p *Command) openEnds() (*ends, error) {
	if p.Tty != nil {
		master, slave, err := p.Tty.makePseudo()
		if err != nil {
			return nil, err
		}
		return &ends{child: [3]int{slave, slave, slave}, given: []int{slave}, reads: [2]int{master, -1}}, nil
	}
	devnull, err := null()
	if err != nil {
		return nil, err
	}
	silent := int(devnull.Fd())
	e := &ends{child: [3]int{silent, silent, silent}, reads: [2]int{-1, -1}}
	if p.Script != nil {
		r, w, err := makePipe()
		if err != nil {
			return nil, err
		}
		// Non-blocking, so that closing it ends a write to a process that reads nothing.
		_ = syscall.SetNonblock(w, true)
		e.childScript, e.script = r, os.NewFile(uintptr(w), "script")
	}
	for i, wanted := range []bool{p.Stdin != nil || p.Input != nil, p.Stdout != nil, p.Stderr != nil} {
		if !wanted {
			continue
		}
		r, w, err := makePipe()
		if err != nil {
			e.closeChild()
			e.closeAll()
			return nil, err
		}
		if i > 0 {
			e.child[i], e.reads[i-1] = w, r
		} else {
			_ = syscall.SetNonblock(w, true) // so that closing it ends a write
			e.child[i], e.stdin = r, os.NewFile(uintptr(w), "stdin")
		}
		e.given = append(e.given, e.child[i])
	}
	return e, nil
}

// closeChild closes what the child has its own of.
func (e *ends) closeChild() {
	if e.script != nil {
		_ = syscall.Close(e.childScript)
	}
	for _, fd := range e.given {
		_ = syscall.Close(fd)
	}
}

func (e *ends) closeAll() {
	if e.stdin != nil {
		_ = e.stdin.Close() // or it was closed when all was written
	}
	if e.script != nil {
		_ = e.script.Close()
	}
	for i := range e.reads {
		e.closeRead(i)
	}
}

func (e *ends) closeRead(i int) {
	if e.reads[i] >= 0 {
		_ = syscall.Close(e.reads[i]) // a pipe has nothing to flush
		e.reads[i] = -1
	}
}

// childFiles are the child's, in their order.
func (e *ends) childFiles() []uintptr {
	files := []uintptr{uintptr(e.child[0]), uintptr(e.child[1]), uintptr(e.child[2])}
	if e.script != nil {
		files = append(files, uintptr(e.childScript))
	}
	return files
}

func (e *ends) isOpen() bool { return e.reads[0] >= 0 || e.reads[1] >= 0 }

const readSize = 64 << 10

var buffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// drainOutput reads the output until its end and waits for that of the process, and reports whether somebody still held the
// output when the process had ended a while ago. When the output cannot be stored it is read all the same: a full disk
// must not look like a broken pipe to the step.
func (c *child) drainOutput(e *ends) (held bool) {
	buf := buffers.Get().(*[readSize]byte)
	defer buffers.Put(buf)
	defer c.forgetProcess()
	var deadline time.Time // once it has ended
	for e.isOpen() || deadline.IsZero() {
		wait := time.Duration(-1)
		if !deadline.IsZero() {
			if wait = time.Until(deadline); wait <= 0 {
				return c.sweepPipes(e, buf[:])
			}
		}
		ready, ended, rung := c.pollOutput(e, c.untilTurn(wait))
		for i, now := range ready {
			if now {
				c.readPiece(e, i, buf[:])
			}
		}
		if ended {
			c.reapLeader()
			// From here on only others can hold the output.
			deadline = time.Now().Add(drainTimeout)
		}
		if c.Owner != nil {
			c.serveOwner(rung)
		}
	}
	return false
}

// readPiece takes a piece of the output, and closes it at its end.
func (c *child) readPiece(e *ends, i int, buf []byte) int {
	n, err := syscall.Read(e.reads[i], buf)
	switch {
	case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EAGAIN):
		return 0
	case err != nil || n <= 0: // EIO: nobody has the pseudo terminal any more
		if err != nil && c.Tty == nil {
			c.unread = err
		}
		e.closeRead(i)
		return 0
	}
	_, _ = [...]io.Writer{c.Stdout, c.Stderr}[i].Write(buf[:n]) // the writer remembers its error
	if i > 0 {
		return n
	}
	if c.printed += n; c.Most > 0 && c.printed > c.Most && !c.exit.Flooded {
		c.exit.Flooded = true
		c.signalGroup(syscall.SIGKILL)
	}
	// A full read shows that the writer is faster than we are.
	if n == len(buf) {
		growPipe(e.reads[i])
	}
	return n
}

// sweepPipes takes what is left in the pipes of a process that has ended, without waiting, and reports whether somebody else
// holds them. It is bounded, since a process in the background may go on writing.
func (c *child) sweepPipes(e *ends, buf []byte) (held bool) {
	for left := 2 * maxPipe; left > 0 && e.isOpen(); {
		ready, _, _ := c.pollOutput(e, 0)
		if !ready[0] && !ready[1] {
			break
		}
		for i, now := range ready {
			if now {
				left -= c.readPiece(e, i, buf)
			}
		}
	}
	return e.isOpen()
}

// maxPipe is the most that a pipe may hold.
const maxPipe = 1 << 20

// pollOutput waits until there is output to read, the process has ended, or its owner is wanted; at most for a while, if that is not
// negative.
func (c *child) pollOutput(e *ends, wait time.Duration) (ready [2]bool, ended, rung bool) {
	fds := [4]unix.PollFd{
		{Fd: int32(e.reads[0]), Events: unix.POLLIN},
		{Fd: int32(e.reads[1]), Events: unix.POLLIN},
		{Fd: -1, Events: unix.POLLIN},
		{Fd: -1, Events: unix.POLLIN},
	}
	if c.Owner != nil {
		fds[3].Fd = int32(c.Owner.Bell.r)
	}
	timeout := -1
	if wait >= 0 {
		// Rounded up: a timeout of 0 would spin until the deadline.
		timeout = int((wait + time.Millisecond - 1) / time.Millisecond)
	}
	if c.pid != 0 {
		fds[2].Fd = c.endFD()
		if fds[2].Fd < 0 && timeout != 0 {
			timeout = int(tick / time.Millisecond) // nothing says when it ends
		}
	}
	if _, err := unix.Poll(fds[:], timeout); err != nil {
		return ready, false, false // EINTR
	}
	ended = fds[2].Revents != 0 || c.pid != 0 && fds[2].Fd < 0 && hasEnded(c.pid)
	return [2]bool{fds[0].Revents != 0, fds[1].Revents != 0}, ended, fds[3].Revents != 0
}

// tick is how often it is looked whether a process has ended where the system does not say so.
const tick = 5 * time.Millisecond
