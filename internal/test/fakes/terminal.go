package fakes

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/term"

	"moon/tui/tuitest"
)

// OpenPlaybook is a moon in a terminal that runs a playbook of its own, whose steps find the directory in $DIR.
func OpenPlaybook(t *testing.T, text string, args ...string) (c *Terminal, dir string) {
	t.Helper()
	dir = t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	if err := os.WriteFile(playbook, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return OpenTerminal(t, 80, 24, []string{"DIR=" + dir, "XDG_STATE_HOME=" + dir + "/state"}, append(args, playbook)...), dir
}

// CheckRestored checks that a terminal is as a new one is.
func (c *Terminal) CheckRestored() {
	c.T.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		c.T.Fatal(err)
	}
	defer func() { _, _ = master.Close(), slave.Close() }()
	want, err := term.GetState(int(slave.Fd()))
	if err != nil {
		c.T.Fatal(err)
	}
	got, err := term.GetState(int(c.Keys.(*os.File).Fd()))
	if err != nil {
		c.T.Fatal(err)
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		c.T.Errorf("the terminal was left as %+v, not %+v", got, want)
	}
	if left := c.Modes(); left != "" {
		c.T.Errorf("modes were left on: %s", left)
	}
}

// CheckSpoken checks that what was said can be read aloud: there is nothing in it that a terminal would act on but the bell,
// and nothing but ASCII where the playbook has nothing else.
func (c *Terminal) CheckSpoken() {
	c.T.Helper()
	said := c.Written()
	for i := range len(said) {
		b := said[i]
		if b < ' ' && b != '\n' && b != '\r' && b != '\a' || b > '~' {
			c.T.Errorf("%q was said in %q", b, said[max(i-40, 0):min(i+40, len(said))])
			return
		}
	}
}

// CheckClean checks that a terminal is as a new one, and that its keyboard is too.
func (c *Terminal) CheckClean() {
	c.T.Helper()
	c.CheckRestored()
	said := c.Written()
	if on, off := strings.Count(said, ansi.PushKittyKeyboard(1)), strings.Count(said, ansi.PopKittyKeyboard(1)); on != off || on == 0 {
		c.T.Errorf("the keyboard was set up %d times, and put back %d times", on, off)
	}
	if on, off := strings.LastIndex(said, ansi.SetModifyOtherKeys2), strings.LastIndex(said, ansi.ResetModifyOtherKeys); on > off {
		c.T.Error("the keyboard still reports other keys")
	}
	if i := strings.LastIndex(said, "\x1b[?1049l"); i >= 0 { // what follows is the report, on the main screen
		if rest := said[i:]; strings.LastIndex(rest, "\x1b[m") < strings.LastIndex(rest, "\x1b[3") {
			c.T.Errorf("a colour was left on: %q", rest)
		}
	}
}

// Child is the one process that the shell runs.
func (c *Terminal) Child() *os.Process {
	c.T.Helper()
	list, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", c.Process.Pid))
	if err != nil {
		c.T.Skip("children of a process are not listed here:", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(list)))
	if err != nil {
		c.T.Fatalf("children %q", list)
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		c.T.Fatal(err)
	}
	return process
}

// Alternate reports whether the terminal shows its other screen.
func (c *Terminal) Alternate() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.vt.IsAltScreen()
}

// LeaveShell ends the shell, and checks what is left.
func (c *Terminal) LeaveShell() {
	c.T.Helper()
	c.Press("q", "ready>")
	c.Press("stty -a\r", " icanon", " echo ")
	c.Press("exit\r")
	_, _ = c.End()
	if left := c.Modes(); left != "" && left != fmt.Sprint(ansi.ModeBracketedPaste) { // bash's own
		c.T.Errorf("modes were left on: %s", left)
	}
}

// Terminal is moon in a pseudo terminal, with an emulator that shows what a person would see.
type Terminal struct {
	T      *testing.T
	w      int
	Keys   io.Writer
	Ended  chan error
	Closed chan struct{} // closed when nothing more can be read

	Process *os.Process
	mu      sync.Mutex
	vt      *vt.Emulator
	on      map[ansi.Mode]bool // as far as anything was set or taken away
	said    bytes.Buffer       // all that was written
}

// OpenTerminal runs moon as its own process in a terminal of w × h cells, with a home of its own.
func OpenTerminal(t *testing.T, w, h int, env []string, args ...string) *Terminal {
	t.Helper()
	return OpenProgram(t, w, h, env, func(moon string) *exec.Cmd { return exec.Command(moon, args...) })
}

// OpenProgram runs a program that runs moon.
func OpenProgram(t *testing.T, w, h int, env []string, program func(moon string) *exec.Cmd) *Terminal {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	moon := filepath.Join(home, "moon")
	if err := os.Symlink(self, moon); err != nil { // under this name the test binary is moon
		t.Fatal(err)
	}
	cmd := program(moon)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home+"/state", "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=", "TZ=UTC")
	cmd.Env = append(cmd.Env, env...)
	if master, slave, err := pty.Open(); err != nil {
		t.Skip("no pseudo terminals here:", err)
	} else {
		_, _ = master.Close(), slave.Close()
	}
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)})
	if err != nil {
		t.Fatal(err)
	}
	c := &Terminal{T: t, w: w, Keys: master, Ended: make(chan error, 1), Closed: make(chan struct{}), Process: cmd.Process, vt: vt.NewEmulator(w, h), on: map[ansi.Mode]bool{}}
	c.vt.SetCallbacks(vt.Callbacks{EnableMode: func(m ansi.Mode) { c.on[m] = true }, DisableMode: func(m ansi.Mode) { c.on[m] = false }})
	go func() { _, _ = io.Copy(master, c.vt) }() // its answers to what the program asks
	go func() {
		defer close(c.Closed)
		_, _ = io.Copy(c, master)
	}()
	go func() {
		err := cmd.Wait()
		<-c.Closed
		c.Ended <- err
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = master.Close()
	})
	return c
}

// Write takes what the program wrote.
func (c *Terminal) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said.Write(p)
	return c.vt.Write(p)
}

// Written is everything that the program has written.
func (c *Terminal) Written() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.String()
}

// Hold lets the terminal read nothing until it is released.
func (c *Terminal) Hold() (release func()) {
	c.mu.Lock()
	return c.mu.Unlock
}

// Resize gives the terminal another size.
func (c *Terminal) Resize(w, h int) {
	c.T.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.vt.Resize(w, h)
	if err := pty.Setsize(c.Keys.(*os.File), &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		c.T.Fatal(err)
	}
}

// Modes are those in which the terminal is not as a new one.
func (c *Terminal) Modes() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []string
	for mode, on := range c.on {
		if on != (mode == ansi.ModeAutoWrap || mode == ansi.ModeTextCursorEnable) {
			left = append(left, fmt.Sprint(mode))
		}
	}
	return strings.Join(left, ", ")
}

// Screen is what a person sees.
func (c *Terminal) Screen() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.vt.String()
}

// Press types keys, and waits until all of the texts are on the screen at once.
func (c *Terminal) Press(keys string, texts ...string) {
	c.T.Helper()
	if _, err := io.WriteString(c.Keys, keys); err != nil {
		c.T.Fatal(err)
	}
	c.See(texts...)
}

// See waits until all of the texts are on the screen at once.
func (c *Terminal) See(texts ...string) {
	c.T.Helper()
	tuitest.AwaitTexts(c.T, Patience, c.Screen, texts...)
}

// SeeGone waits until a text is not on the screen any more.
func (c *Terminal) SeeGone(text string) {
	c.T.Helper()
	for end := time.Now().Add(Patience); strings.Contains(c.Screen(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			c.T.Fatalf("stays on the screen: %q\n%s", text, c.Screen())
		}
	}
}

// End waits for the end of moon, and gives its exit code and what is left in the terminal.
func (c *Terminal) End() (code int, left string) {
	c.T.Helper()
	select {
	case err := <-c.Ended:
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			code = exit.ExitCode()
		}
	case <-time.After(Patience):
		c.T.Fatalf("moon is still there\n%s", c.Screen())
	}
	c.mu.Lock()
	alternate := c.vt.IsAltScreen()
	c.mu.Unlock()
	if alternate {
		c.T.Error("the alternate screen stayed")
	}
	return code, c.Screen()
}

// SignalTwice sends two signals, apart: two that come at once are one.
func (c *Terminal) SignalTwice(sig syscall.Signal) {
	c.T.Helper()
	for range 2 {
		if err := c.Process.Signal(sig); err != nil {
			c.T.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// SeeBackground waits until the screen has a background.
func (c *Terminal) SeeBackground(want color.Color) {
	c.T.Helper()
	r, g, b, _ := want.RGBA()
	for end := time.Now().Add(Patience); ; time.Sleep(10 * time.Millisecond) {
		c.mu.Lock()
		cell := c.vt.CellAt(1, 1)
		c.mu.Unlock()
		if cell != nil && cell.Style.Bg != nil {
			if x, y, z, _ := cell.Style.Bg.RGBA(); x == r && y == g && z == b {
				return
			}
		}
		if time.Now().After(end) {
			c.T.Fatalf("the background never becomes %v, it is in %+v", want, cell)
		}
	}
}

// SetBackground gives the terminal another background.
func (c *Terminal) SetBackground(background color.Color) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.vt.SetBackgroundColor(background)
}

// ReportsColours tells whether the terminal has been asked to say when light and dark change.
func (c *Terminal) ReportsColours() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.on[ansi.ModeLightDark]
}
