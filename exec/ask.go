package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	osexec "os/exec"
	"strings"
	"syscall"
	"time"
)

// What a program may take that is asked for its output.
const (
	askTimeout = 5 * time.Minute // inventories ask clouds
	askLimit   = 16 << 20        // bytes of output
	askErrors  = 4 << 10         // bytes of what it says on stderr
)

// Ask runs a program, such as an executable inventory, and returns what it prints. It has nobody to ask, and all of its group ends
// with the context or when its time is over. The error has what it said on stderr.
func Ask(ctx context.Context, path string, args ...string) ([]byte, error) {
	return ask(ctx, askTimeout, askLimit, path, args...)
}

func ask(ctx context.Context, timeout time.Duration, limit int, path string, args ...string) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := osexec.CommandContext(within, path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // what the program left behind may hold its output open
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out := limited{left: limit + 1}
	said := tail{left: askErrors}
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	var ended *osexec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("it was interrupted")
	case within.Err() != nil:
		return nil, said.with(fmt.Sprintf("it took more than %s", timeout))
	case errors.As(err, &ended):
		return nil, said.with(ended.Error())
	case errors.Is(err, syscall.ENOEXEC):
		return nil, errors.New("without #! in its first line it is no program")
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("it, or the program it names after #!, does not exist")
	case err != nil && !errors.Is(err, osexec.ErrWaitDelay):
		return nil, errors.New(reason(err))
	case out.Len() > limit:
		return nil, fmt.Errorf("it printed more than %d MB", limit>>20)
	}
	return out.Bytes(), nil
}

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
