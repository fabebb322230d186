package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"moon/exec/fault"
)

// ShellPath is the shell of commands and conditions.
const ShellPath = "/bin/sh"

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
	Waiting func(what string, most time.Duration) // is notified once of each that takes a while; may be nil

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
		end(fault.Interrupt)
	}
}

// interruptibleContext is a context that Interrupt ends.
func (k *Asker) interruptibleContext(ctx context.Context) (within context.Context, done func()) {
	within, end := context.WithCancelCause(ctx)
	if k == nil {
		return within, func() { end(nil) }
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	// What is asked after an interrupt ends at once.
	if k.over {
		end(fault.Interrupt)
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

// Within bounds the time in which something is asked. Who waits is notified after a while.
func (k *Asker) Within(ctx context.Context, what string) (within context.Context, done func()) {
	most := k.mostPatience()
	ctx, released := k.interruptibleContext(ctx)
	within, cancel := context.WithTimeoutCause(ctx, most, fault.Expired)
	notice := func() bool { return true }
	if k != nil && k.Waiting != nil {
		// At half of the time at the latest, so that a short limit is announced before it ends.
		notice = time.AfterFunc(min(askNotice, most/2), func() { k.Waiting(what, most) }).Stop
	}
	return within, func() { notice(); cancel(); released() }
}

func (k *Asker) mostPatience() time.Duration {
	if k == nil || k.Timeout <= 0 {
		return AskTimeout
	}
	return k.Timeout
}

// TooSlow words that a program took longer than it may.
func (k *Asker) TooSlow() string {
	return fmt.Sprintf("it took more than %s; --program-timeout gives it longer", k.mostPatience())
}

// ErrFlood is the end of a program that printed more than it may.
var ErrFlood = fmt.Errorf("it printed more than %d MB", AskLimit>>20)

// Run runs a program, such as an executable inventory, and returns what it prints. It has no terminal and nothing to read. The error
// has what it said on stderr.
func (k *Asker) Run(ctx context.Context, path string, args ...string) ([]byte, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, errors.New(fault.Reason(err))
	}
	return k.runIn(ctx, dir, append([]string{path}, args...))
}

// runIn is Run for a program that starts in a directory.
func (k *Asker) runIn(ctx context.Context, dir string, argv []string) ([]byte, error) {
	within, done := k.Within(ctx, filepath.Base(argv[0]))
	defer done()
	mark := NewMark()
	out, said := &Limited{Left: AskLimit}, &tail{left: askErrors}
	p := &Command{
		Argv: argv, Env: markedEnv(dir, mark), Dir: dir, Stdout: out, Stderr: said,
		// The end of the context kills at once: an inventory has no work of its own that it could clean up.
		Most: AskLimit, Grace: DefaultGrace, Now: within.Done(), Watch: func(Moment) {}, Attempt: mark,
	}
	e := p.Run(within)
	switch {
	case ctx.Err() != nil, e.Stop != "" && fault.Stopped(within) != fault.Expired:
		return nil, errors.New("it was interrupted")
	case e.Flooded:
		return nil, ErrFlood
	case within.Err() != nil:
		return nil, said.wrapMessage(k.TooSlow())
	case errors.Is(e.cause, syscall.ENOEXEC):
		return nil, errors.New("without #! in its first line it is not a program")
	case errors.Is(e.cause, fs.ErrNotExist):
		return nil, errors.New("it, or the program it names after #!, does not exist")
	case e.Err != nil:
		return nil, errors.New(fault.Describe(e.Err))
	case e.Code != 0:
		return nil, said.wrapMessage(e.String())
	}
	return out.Bytes(), nil
}

// Pipe runs a command of lookup('pipe') in a directory, and returns what it prints.
func (k *Asker) Pipe(command, dir string) (string, error) {
	text, err := k.Run(context.Background(), ShellPath, "-c", `cd -- "$0" && eval "$1"`, dir, command)
	return string(text), err
}

// Words runs a program in a directory, and returns what it prints.
func (k *Asker) Words(argv []string, dir string) (string, error) {
	text, err := k.runIn(context.Background(), dir, argv)
	return string(text), err
}

// Output runs a program that belongs to no step, and waits for its end: what asks a plugin about itself. It returns the words
// of how it ended, "" for well.
func (k *Asker) Output(ctx context.Context, argv []string, dir, stdin string, stdout, stderr io.Writer) string {
	ctx, done := k.Within(ctx, filepath.Base(argv[0]))
	defer done()
	mark := NewMark()
	p := &Command{
		Argv: argv, Env: markedEnv(dir, mark), Dir: dir, Stdin: &stdin, Stdout: stdout, Stderr: stderr, Most: AskLimit,
		Grace: DefaultGrace / 5, Watch: func(Moment) {}, Attempt: mark,
	}
	e := p.Run(ctx)
	switch {
	case e.Err != nil:
		return fault.Describe(e.Err)
	case e.Flooded:
		return ErrFlood.Error()
	case e.Stop == fault.Expired:
		return k.TooSlow()
	case e.Stop != "":
		return string(e.Stop)
	case e.Code != 0:
		return e.String()
	}
	return ""
}

// markedEnv is moon's own environment for a program that belongs to no step and starts in a directory.
func markedEnv(dir, mark string) []string {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "PWD=") || strings.HasPrefix(entry, MarkVariable+"=")
	})
	return append(env, MarkVariable+"="+NestMark(os.Getenv(MarkVariable), mark), "PWD="+dir)
}

// Person runs a program that may ask whoever sits at the terminal, such as one that prints a password, and returns what it prints. It
// has the terminal meanwhile, if moon has one. interrupted says that it was ended by what was typed there.
func (k *Asker) Person(ctx context.Context, path string, args ...string) (text []byte, interrupted bool, err error) {
	within, done := k.Within(ctx, filepath.Base(path))
	defer done()
	within, end := context.WithCancelCause(within)
	defer end(nil)
	defer context.AfterFunc(ending.ctx, func() { end(fault.Interrupt) })()
	defer ending.beginProcess()()
	mark := NewMark()
	cmd := osexec.CommandContext(within, path, args...)
	cmd.Env = append(os.Environ(), MarkVariable+"="+NestMark(os.Getenv(MarkVariable), mark))
	out := &Limited{Left: AskLimit}
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	cmd.Stdout = writerFunc(func(p []byte) (int, error) {
		// Ended from within: the program has printed more than fits, and would wait for a reader.
		if len(p) > out.Left {
			end(ErrFlood)
		}
		return out.Write(p)
	})
	cmd.WaitDelay = drainTimeout // what the program left behind may hold its output open
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		// The group first, then what has left it, found by its mark.
		killMarked(mark, func(int) bool { return true })
		return err
	}
	if tty := OwnTerminal(); tty != nil {
		err = InFront(cmd, tty)
	} else {
		// Without a terminal it gets a session of its own, so that it cannot ask on one that is not moon's to lend.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		err = cmd.Run()
	}
	var ended *osexec.ExitError
	switch cause := context.Cause(within); {
	case errors.Is(cause, ErrFlood):
		return nil, false, ErrFlood
	case ctx.Err() != nil, errors.Is(cause, fault.Interrupt):
		return nil, true, errors.New("it was interrupted")
	case cause != nil:
		return nil, false, errors.New(k.TooSlow())
	case errors.As(err, &ended):
		return nil, typedAway(ended), errors.New(ended.Error())
	case err != nil && !errors.Is(err, osexec.ErrWaitDelay):
		return nil, false, errors.New(fault.Reason(err))
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
	// A shell that is interrupted exits with 128 and the number of the signal.
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

func (t *tail) wrapMessage(message string) error {
	text := strings.TrimSpace(string(bytes.ToValidUTF8(t.text, nil)))
	if text == "" {
		return errors.New(message)
	}
	return fmt.Errorf("%s: %s", message, text)
}

// Limited keeps the beginning of what is written to it.
type Limited struct {
	text bytes.Buffer // not embedded: its ReadFrom would pass the limit
	Left int
}

// Write implements io.Writer.
func (l *Limited) Write(p []byte) (int, error) {
	n := min(len(p), l.Left)
	l.Left -= n
	l.text.Write(p[:n])
	return len(p), nil
}

// Bytes returns what was kept.
func (l *Limited) Bytes() []byte  { return l.text.Bytes() }
func (l *Limited) String() string { return l.text.String() }
