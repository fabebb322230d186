package exec_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"moon/events"
	"moon/events/steplog"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/fault"
	"moon/exec/process"
	"moon/exec/spec"
)

// inTerminal is the helper that runs a shell step which has the terminal, of a moon that may die of it.
func inTerminal() {
	a, _ := spec.Lookup("shell")
	decoded, _ := a.Decode(exectest.Args{"cmd": os.Getenv("MOON_TEST_CMD")})
	w := steplog.NewWriter(os.Getenv("MOON_TEST_DIR"), "p", nil)
	local := exec.Local{Lend: func(use func()) { use() }, Watch: func(m process.Moment) {
		if string(m) == os.Getenv("MOON_TEST_PANIC") {
			panic("on purpose")
		}
	}}
	r := local.Run(context.Background(), &exec.Job{Action: "shell", Args: decoded, Cwd: "/", Output: w, Interactive: true, Notice: "a notice"})
	_ = w.Close()
	fmt.Printf("%s %s\n", r.Outcome, r.Error)
}

// onPTY runs the helper in a terminal and returns all that appeared there, and what the terminal was before and is after.
func onPTY(t *testing.T, dir, cmd, panics string) (said, before, after string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	defer func() { _, _ = master.Close(), slave.Close() }()
	state := func() string {
		s, err := term.GetState(int(slave.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%+v", s)
	}
	before = state()
	helper := osexec.CommandContext(t.Context(), self, "-test.run=^TestHelper$")
	helper.Env = append(os.Environ(), "MOON_TEST_HELPER=terminal", "MOON_TEST_DIR="+dir, "MOON_TEST_CMD="+cmd, "MOON_TEST_PANIC="+panics)
	helper.Stdin, helper.Stdout, helper.Stderr = slave, slave, slave
	helper.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	drained := make(chan struct{})
	go func() { defer close(drained); _, _ = io.Copy(&all, master) }()
	_ = helper.Wait() // it may die
	after = state()
	_ = slave.Close()
	<-drained
	return all.String(), before, after
}

func TestTerminal(t *testing.T) {
	const badly = "stty raw -echo; printf '\\033[?1049;1000h\\033[?25l\\033[>1u\\033=\\033[3'; printf '1mhello\\n'; kill -9 $$"
	tests := []struct {
		name, cmd, panics string
		says              string
		records           string
	}{
		{"well", "echo hello; test -t 0 && test -t 1 && test -t 2 && echo terminal", "", "a notice\r\nhello\r\nterminal\r\nchanged \r\n", "hello\nterminal\n"},
		{"leaves modes", badly, "", "hello\n\x1b[<u\x1b[?25h\x1b[?1000l\x1b[?1049l\x1b>\x1b[mfailed killed by SIGKILL\r\n", "hello\n"},
		{"moon panics", badly, "reaped", "panic: on purpose", ""},
		{"moon panics early", "echo hello; sleep 1", "spawned", "panic: on purpose", ""},
		{"not there", "exec /nowhere/program", "", "failed exit status 127", "not found"},
		{"carriage returns", "stty -onlcr; printf 'a\\r\\nb\\rc\\r\\r\\n\\r'", "", "a\r\nb\rc\r\r\n\r", "a\nb\rc\r\n\r"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			said, before, after := onPTY(t, dir, tt.cmd, tt.panics)
			if before != after {
				t.Errorf("the terminal was left as %s, not %s", after, before)
			}
			if !strings.Contains(said, tt.says) {
				t.Errorf("it said %q, want %q", said, tt.says)
			}
			if tt.cmd == badly && !strings.Contains(said, "\x1b[?1000l\x1b[?1049l\x1b>\x1b[m") {
				t.Errorf("it said %q, and the modes stay", said)
			}
			recorded, err := os.ReadFile(filepath.Join(dir, "p.out"))
			if tt.records != "" && (err != nil || !strings.Contains(string(recorded), tt.records)) {
				t.Errorf("recorded %q, want %q: %v", recorded, tt.records, err)
			}
		})
	}
}

// TestNoTerminal runs an interactive step where nobody has a terminal to lend, and where it turns out not to be one.
func TestNoTerminal(t *testing.T) {
	for name, lend := range map[string]func(func()){"nobody": nil, "not one": func(use func()) { use() }} {
		job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "touch ran"})
		job.Interactive = true
		stdin := os.Stdin
		null, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		os.Stdin = null
		r := exec.Local{Lend: lend}.Run(t.Context(), job)
		os.Stdin = stdin
		_ = null.Close()
		if r.Outcome != events.Failed || r.Class != fault.Fatal || !strings.HasPrefix(r.Error, "there is no terminal for an interactive step: ") {
			t.Errorf("%s: %+v", name, r)
		}
		if _, err := os.Stat(filepath.Join(job.Cwd, "ran")); err == nil {
			t.Errorf("%s: it ran", name)
		}
	}
}

// TestTerminalHint names `interactive` where a command failed for want of a terminal, and only there.
func TestTerminalHint(t *testing.T) {
	const hint = "exit status 1 (it wanted a terminal, which a step has only with `interactive: true`)"
	for says, want := range map[string]string{
		"sh: 1: cannot open /dev/tty: No such device or address":                              hint,
		"sudo: a terminal is required to read the password; either use the -S option to read": hint,
		"sudo: no tty present and no askpass program specified":                               hint,
		"fatal: could not read Username for 'https://example.org': No such device or address": hint,
		"the input device is not a TTY":                                                       hint,
		"open terminal failed: not a terminal":                                                hint,
		"su: must be run from a terminal":                                                     hint,
		"gpg: signing failed: Inappropriate ioctl for device":                                 hint,
		"Host key verification failed.":                                                       hint,
		"passwd: Authentication token manipulation error":                                     hint,
		"the terminal building is closed":                                                     "exit status 1",
		"no such file or directory":                                                           "exit status 1",
	} {
		for _, to := range []string{"", " >&2"} {
			job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "seq 5000; cat <<'E'" + to + "\n" + says + "\nE\nexit 1"})
			if r := (exec.Local{}).Run(t.Context(), job); r.Outcome != events.Failed || r.Error != want {
				t.Errorf("%q%s: %s %q, want %q", says, to, r.Outcome, r.Error, want)
			}
		}
		job := exectest.NewJob(t, "command", exectest.Args{"argv": []any{"echo", says}})
		if r := (exec.Local{}).Run(t.Context(), job); r.Outcome != events.Changed || r.Error != "" {
			t.Errorf("%q, and all is well: %+v", says, r)
		}
	}
}
