package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// What a program may take that is asked for its output: an inventory, a password program, a plugin, a lookup.
const (
	AskTimeout = 30 * time.Second // where nothing else is said
	AskLimit   = 16 << 20         // bytes of output
	askErrors  = 4 << 10          // bytes of what it says on stderr
	askNotice  = 2 * time.Second  // after which it is said that moon waits for it
)

// Asker runs programs for what they print. None prints more than AskLimit, none takes longer than its time, and all that a program has
// started ends with it when it is ended, or when moon is. The zero value may be used.
type Asker struct {
	Timeout time.Duration                         // 0: AskTimeout
	Waiting func(what string, most time.Duration) // is told once of each that takes a while; may be nil

	mu    sync.Mutex
	over  bool // nothing is asked any more
	asked map[int]context.CancelCauseFunc
	last  int
}

// Interrupt ends what is asked just now, and all that would be asked later.
func (k *Asker) Interrupt() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	for _, end := range k.asked {
		end(Interrupt)
	}
}

// interruptible is a context that Interrupt ends.
func (k *Asker) interruptible(ctx context.Context) (within context.Context, done func()) {
	within, end := context.WithCancelCause(ctx)
	if k == nil {
		return within, func() { end(nil) }
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		end(Interrupt)
	}
	if k.asked == nil {
		k.asked = map[int]context.CancelCauseFunc{}
	}
	k.last++
	number := k.last
	k.asked[number] = end
	return within, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.asked, number)
		end(nil)
	}
}

// Within bounds the time in which something is asked. Who waits is told of it after a while.
func (k *Asker) Within(ctx context.Context, what string) (within context.Context, done func()) {
	most := k.most()
	ctx, released := k.interruptible(ctx)
	within, cancel := context.WithTimeoutCause(ctx, most, Expired)
	notice := func() bool { return true }
	if k != nil && k.Waiting != nil {
		notice = time.AfterFunc(min(askNotice, most/2), func() { k.Waiting(what, most) }).Stop
	}
	return within, func() { notice(); cancel(); released() }
}

func (k *Asker) most() time.Duration {
	if k == nil || k.Timeout <= 0 {
		return AskTimeout
	}
	return k.Timeout
}

// TooSlow words that a program took longer than it may.
func (k *Asker) TooSlow() string {
	return fmt.Sprintf("it took more than %s; --program-timeout gives it longer", k.most())
}

// errFlood is the end of a program that printed more than it may.
var errFlood = fmt.Errorf("it printed more than %d MB", AskLimit>>20)

// Run runs a program, such as an executable inventory, and returns what it prints. It has no terminal and nothing to read. The error
// has what it said on stderr.
func (k *Asker) Run(ctx context.Context, path string, args ...string) ([]byte, error) {
	within, done := k.Within(ctx, filepath.Base(path))
	defer done()
	dir, err := os.Getwd()
	if err != nil {
		return nil, errors.New(reason(err))
	}
	mark := newMark()
	out, said := &limited{left: AskLimit}, &tail{left: askErrors}
	p := &process{
		argv: append([]string{path}, args...), env: append(os.Environ(), attemptMark+"="+marked(os.Getenv(attemptMark), mark)), dir: dir, stdout: out, stderr: said,
		most: AskLimit, grace: defaultGrace, now: within.Done(), watch: func(Moment) {}, attempt: mark,
	}
	e := p.run(within)
	switch {
	case ctx.Err() != nil, e.stop != "" && stopped(within) != Expired:
		return nil, errors.New("it was interrupted")
	case e.flooded:
		return nil, errFlood
	case within.Err() != nil:
		return nil, said.with(k.TooSlow())
	case errors.Is(e.cause, syscall.ENOEXEC):
		return nil, errors.New("without #! in its first line it is no program")
	case errors.Is(e.cause, fs.ErrNotExist):
		return nil, errors.New("it, or the program it names after #!, does not exist")
	case e.err != nil:
		return nil, errors.New(describe(e.err))
	case e.code != 0:
		return nil, said.with(e.String())
	}
	return out.Bytes(), nil
}

// Person runs a program that may ask whoever sits at the terminal, such as one that prints a password, and returns what it prints. It
// has the terminal meanwhile, if moon has one. interrupted says that it was ended by what was typed there.
func (k *Asker) Person(ctx context.Context, path string, args ...string) (text []byte, interrupted bool, err error) {
	within, done := k.Within(ctx, filepath.Base(path))
	defer done()
	within, end := context.WithCancelCause(within)
	defer end(nil)
	defer context.AfterFunc(ending.ctx, func() { end(Interrupt) })()
	defer ending.begin()()
	mark := newMark()
	cmd := osexec.CommandContext(within, path, args...)
	cmd.Env = append(os.Environ(), attemptMark+"="+marked(os.Getenv(attemptMark), mark))
	out := &limited{left: AskLimit}
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	cmd.Stdout = writerFunc(func(p []byte) (int, error) {
		if len(p) > out.left {
			end(errFlood)
		}
		return out.Write(p)
	})
	cmd.WaitDelay = linger // what the program left behind may hold its output open
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		killMarked(mark, func(int) bool { return true })
		return err
	}
	if tty := ownTerminal(); tty != nil {
		err = inFront(cmd, tty)
	} else {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		err = cmd.Run()
	}
	var ended *osexec.ExitError
	switch cause := context.Cause(within); {
	case errors.Is(cause, errFlood):
		return nil, false, errFlood
	case ctx.Err() != nil, errors.Is(cause, Interrupt):
		return nil, true, errors.New("it was interrupted")
	case cause != nil:
		return nil, false, errors.New(k.TooSlow())
	case errors.As(err, &ended):
		return nil, typedAway(ended), errors.New(ended.Error())
	case err != nil && !errors.Is(err, osexec.ErrWaitDelay):
		return nil, false, errors.New(reason(err))
	}
	return out.Bytes(), false, nil
}

// typedAway reports whether a program was ended by ctrl+c or ctrl+\.
func typedAway(ended *osexec.ExitError) bool {
	status, ok := ended.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return false
	case status.Signaled():
		return status.Signal() == syscall.SIGINT || status.Signal() == syscall.SIGQUIT
	}
	return status.ExitStatus() == 128+int(syscall.SIGINT) || status.ExitStatus() == 128+int(syscall.SIGQUIT)
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// tail keeps the end of what is written.
type tail struct {
	left int
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	last := p[max(len(p)-t.left, 0):] // a flood costs no copy of all of it
	if over := len(t.text) + len(last) - t.left; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	t.text = append(t.text, last...)
	return len(p), nil
}

func (t *tail) with(message string) error {
	text := strings.TrimSpace(string(bytes.ToValidUTF8(t.text, nil)))
	if text == "" {
		return errors.New(message)
	}
	return fmt.Errorf("%s: %s", message, text)
}

// limited keeps the beginning of what is written to it.
type limited struct {
	text bytes.Buffer // not embedded: its ReadFrom would pass the limit
	left int
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.text.Write(p[:n])
	return len(p), nil
}

func (l *limited) Bytes() []byte  { return l.text.Bytes() }
func (l *limited) String() string { return l.text.String() }
