package remote

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"moon/exec"
	"moon/exec/fault"
	"moon/exec/process"
)

// patience is how long an agent has to end a job that was to be killed. One that has not is given up with its connection.
const patience = 5 * time.Second

// conn is the near end of an open connection. Several jobs go over it at once.
type conn struct {
	out   *writer
	hang  func()        // ends the other end, and all that runs there
	words func() string // the last that was said beside the frames; nil: nobody listens
	gone  chan struct{}

	mu    sync.Mutex
	last  uint32
	jobs  map[uint32]*sent
	why   error // set before gone is closed
	stuck bool  // it was given up, because nothing was heard any more

	warning string // of how it was opened, for the first job; "": none
}

// sent is a job that is being carried out at the other end.
type sent struct {
	answering
	watch func(process.Moment)
	ended chan exec.Result
}

// errGone is the end of a connection that nobody wanted.
var errGone = errors.New("its agent has gone")

// errStuck is the end of a connection over which nothing was heard although something should have been.
var errStuck = errors.New("it does not answer any more")

// giveUp ends a connection whose agent was stopped, or whose host hangs.
func (l *conn) giveUp() {
	l.mu.Lock()
	l.stuck = true
	l.mu.Unlock()
	l.hang()
}

// newConn begins to read what an agent says, from the frame after its hello.
func newConn(in *bufio.Reader, out io.Writer, hang func()) *conn {
	l := &conn{out: &writer{w: out}, hang: hang, gone: make(chan struct{}), jobs: map[uint32]*sent{}}
	go func() {
		err := l.readFrames(in)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errGone
		}
		l.mu.Lock()
		if l.stuck {
			err = errStuck
		}
		l.mu.Unlock()
		l.why = err
		close(l.gone)
	}()
	return l
}

// takeWarning takes what is to be said of how the connection was opened, once; "" is nothing.
func (l *conn) takeWarning() (warning string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	warning, l.warning = l.warning, ""
	return warning
}

// isAlive reports whether the connection may take a job.
func (l *conn) isAlive() bool {
	select {
	case <-l.gone:
		return false
	default:
		return true
	}
}

// runJob has a job carried out. taken says that the other end may have begun with it, whatever came of it.
func (l *conn) runJob(ctx context.Context, as purpose, local exec.Local, job *exec.Job) (got exec.Result, taken bool, err error) {
	s := &sent{
		answering: answering{job: job, dry: as.dry, asked: make(chan ask, mostAsked), files: map[uint32]io.ReadCloser{}},
		watch:     local.Watch, ended: make(chan exec.Result, 1),
	}
	l.mu.Lock()
	l.last++
	number := l.last
	l.jobs[number] = s
	l.mu.Unlock()
	over := make(chan struct{})
	go s.answerAll(l.out, number, over)
	defer func() {
		close(over)
		l.mu.Lock()
		delete(l.jobs, number)
		l.mu.Unlock()
		s.closeAll()
	}()
	out := newOutbox()
	defer close(out.frames)
	out.frames <- func() error { return l.out.sendMessage(kindJob, number, newRequest(as, local.Grace, job)) }
	done, now := ctx.Done(), job.Now
	watch := &pulse{conn: l, local: local}
	defer watch.stopPulse()
	due, stop := dueAt(as, job)
	defer stop()
	for {
		select {
		case got = <-s.ended:
			return restoreTypes(got), true, nil
		case <-l.gone:
			// Both may be ready at once: an end that has arrived counts.
			select {
			case got = <-s.ended: // the last thing it said
				return restoreTypes(got), true, nil
			default:
				return got, true, l.why
			}
		case err := <-out.failed:
			return got, false, err
		case <-done:
			// Once only: the channel stays closed.
			done = nil
			out.frames <- func() error { return l.out.sendMessage(kindCancel, number, cancel{reasonOf(ctx)}) }
			watch.startPulse()
		case <-now:
			now = nil
			out.frames <- func() error { return l.out.writeRaw(kindNow, number, nil) }
			watch.last = time.After(patience)
		case <-due:
			watch.startPulse() // it should have ended it by now
		case <-watch.heard:
			watch.delayPulse()
		case <-watch.next:
			watch.startPulse()
		case <-watch.silent:
			l.giveUp()
		case <-watch.last:
			l.giveUp()
		}
	}
}

// outbox sends the frames of a job in their order, without keeping it: an agent that is stopped takes none.
type outbox struct {
	frames chan func() error
	failed chan error // that the job itself could not be sent
}

func newOutbox() *outbox {
	o := &outbox{make(chan func() error, 3), make(chan error, 1)} // the job, that it is to end, and at once
	go func() {
		first := true
		for send := range o.frames {
			if err := send(); err != nil && first { // of the others it is seen that the connection has gone
				o.failed <- err
			}
			first = false
		}
	}()
	return o
}

// dueAt is when the other end should have ended a job by its own timeout, which holds for each of its commands.
func dueAt(as purpose, job *exec.Job) (due <-chan time.Time, stop func()) {
	if job.Timeout <= 0 || as.what != "" {
		return nil, func() {}
	}
	commands := time.Duration(1)
	for _, guard := range []string{job.Unless, job.OnlyIf} {
		if guard != "" {
			commands++
		}
	}
	t := time.NewTimer(commands * job.Timeout)
	return t.C, func() { t.Stop() }
}

// pulse finds out whether an agent that should have ended a job is there at all: one that answers is left to do it.
//
//	start ─▶ heard ─ patience ─▶ start
//	   └────── patience ──────▶ silent
type pulse struct {
	conn   *conn
	local  exec.Local
	heard  chan struct{}
	silent <-chan time.Time
	next   <-chan time.Time
	last   <-chan time.Time // the time that is left to a job that was to be killed
	end    context.CancelFunc
}

func (p *pulse) startPulse() {
	p.next = nil
	if p.silent != nil {
		return // it is being asked
	}
	ctx, cancel := context.WithCancel(context.Background())
	heard := make(chan struct{}, 1)
	p.heard, p.end, p.silent = heard, cancel, time.After(patience)
	go func() {
		defer cancel()
		if _, _, err := p.conn.runJob(ctx, purpose{what: forPing}, p.local, &exec.Job{}); err == nil {
			heard <- struct{}{}
		}
	}()
}

// delayPulse waits a while before the agent is asked once more.
func (p *pulse) delayPulse() {
	p.heard, p.silent, p.next = nil, nil, time.After(patience)
}

func (p *pulse) stopPulse() {
	if p.end != nil {
		p.end()
	}
}

// reasonOf is why a job is to end, as package exec reads it.
func reasonOf(ctx context.Context) fault.Stop {
	if cause := context.Cause(ctx); errors.Is(cause, fault.Expired) || errors.Is(cause, context.DeadlineExceeded) {
		return fault.Expired
	}
	return fault.Interrupt
}

// readFrames takes what the agent says. It waits for nothing but the disk that output is stored on.
func (l *conn) readFrames(in *bufio.Reader) error {
	for {
		f, err := readFrame(in)
		if err != nil {
			return err
		}
		l.mu.Lock()
		s := l.jobs[f.job]
		l.mu.Unlock()
		if s == nil {
			continue // of a job that was given up
		}
		if err := l.takeFrame(s, f); err != nil {
			return err
		}
	}
}

func (l *conn) takeFrame(s *sent, f frame) error {
	switch f.kind {
	case kindStdout, kindStderr:
		if s.job.Output == nil {
			return nil
		}
		to := s.job.Output.Stdout()
		if f.kind == kindStderr {
			to = s.job.Output.Stderr()
		}
		_, _ = to.Write(f.body) // the writer remembers its error
	case kindMoment:
		if s.watch != nil {
			s.watch(process.Moment(f.body))
		}
	case kindAsk:
		var q ask
		if err := decodeMessage(f.body, &q); err != nil {
			return err
		}
		select {
		case s.asked <- q:
		default:
			return errFrame // nobody asks so much at once
		}
	case kindReply:
		var r exec.Result
		if err := decodeMessage(f.body, &r); err != nil {
			return err
		}
		select {
		case s.ended <- r:
		default:
			return errFrame // it has ended once
		}
	case kindHello, kindJob, kindCancel, kindNow, kindAnswer:
		return errFrame
	}
	return nil
}
