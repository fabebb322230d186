package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// emulator is moon in a pseudo terminal, with an emulator that shows what a person would see.
type emulator struct {
	t     *testing.T
	w     int
	keys  io.Writer
	ended chan error
	mute  chan struct{} // closed when nothing more can be read

	process *os.Process
	mu      sync.Mutex
	vt      *vt.Emulator
	on      map[ansi.Mode]bool // as far as anything was set or taken away
	said    bytes.Buffer       // all that was written
}

// open runs moon as its own process in a terminal of w × h cells, with a home of its own.
func open(t *testing.T, w, h int, env []string, args ...string) *emulator {
	t.Helper()
	return openWith(t, w, h, env, func(moon string) *exec.Cmd { return exec.Command(moon, args...) })
}

// openWith runs a program that runs moon.
func openWith(t *testing.T, w, h int, env []string, program func(moon string) *exec.Cmd) *emulator {
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
	c := &emulator{t: t, w: w, keys: master, ended: make(chan error, 1), mute: make(chan struct{}), process: cmd.Process, vt: vt.NewEmulator(w, h), on: map[ansi.Mode]bool{}}
	c.vt.SetCallbacks(vt.Callbacks{EnableMode: func(m ansi.Mode) { c.on[m] = true }, DisableMode: func(m ansi.Mode) { c.on[m] = false }})
	go func() { _, _ = io.Copy(master, c.vt) }() // its answers to what the program asks
	go func() {
		defer close(c.mute)
		_, _ = io.Copy(c, master)
	}()
	go func() {
		err := cmd.Wait()
		<-c.mute
		c.ended <- err
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = master.Close()
	})
	return c
}

// Write takes what the program wrote.
func (c *emulator) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said.Write(p)
	return c.vt.Write(p)
}

// resize gives the terminal another size.
func (c *emulator) resize(w, h int) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.vt.Resize(w, h)
	if err := pty.Setsize(c.keys.(*os.File), &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		c.t.Fatal(err)
	}
}

// modes are those in which the terminal is not as a new one.
func (c *emulator) modes() string {
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

func (c *emulator) screen() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.vt.String()
}

// press types keys, and waits until all of the texts are on the screen at once.
func (c *emulator) press(keys string, texts ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.keys, keys); err != nil {
		c.t.Fatal(err)
	}
	c.see(texts...)
}

func (c *emulator) see(texts ...string) {
	c.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		screen, missing := c.screen(), ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		switch {
		case missing == "":
			return
		case time.Now().After(end):
			c.t.Fatalf("never on the screen: %q\n%s", missing, screen)
		}
	}
}

// gone waits until a text is not on the screen any more.
func (c *emulator) gone(text string) {
	c.t.Helper()
	for end := time.Now().Add(patience); strings.Contains(c.screen(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("stays on the screen: %q\n%s", text, c.screen())
		}
	}
}

// end waits for the end of moon, and gives its exit code and what is left in the terminal.
func (c *emulator) end() (code int, left string) {
	c.t.Helper()
	select {
	case err := <-c.ended:
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			code = exit.ExitCode()
		}
	case <-time.After(patience):
		c.t.Fatalf("moon is still there\n%s", c.screen())
	}
	c.mu.Lock()
	alternate := c.vt.IsAltScreen()
	c.mu.Unlock()
	if alternate {
		c.t.Error("the alternate screen stayed")
	}
	return code, c.screen()
}

// TestDevbox is the README's first command: review, approve, run, confirm, done, and the report afterwards.
func TestDevbox(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 20}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			target := filepath.Join(t.TempDir(), "home")
			c := open(t, size[0], size[1], nil, "tui", "testdata/playbooks/devbox/playbook.yml", "-e", "target="+target)
			c.see("REVIEW", "1 needs attention", "create the home directory")
			c.press("A", "◆ ├   create the home directory")
			c.press("c", "PAUSED", "remove the downloads")
			if _, err := os.Stat(filepath.Join(target, "bin/moon-hello")); err != nil {
				t.Error(err)
			}
			c.press("a", "continue")
			c.press("c", "DONE")
			c.press("q")
			code, left := c.end()
			if code != 0 || !strings.Contains(left, "DONE") || !strings.Contains(left, "changed") {
				t.Errorf("exit %d, left in the terminal:\n%s", code, left)
			}
			if _, err := os.Stat(filepath.Join(target, ".cache/moon-demo")); !os.IsNotExist(err) {
				t.Errorf("the confirmed step did not run: %v", err)
			}
		})
	}
}

// TestSelection leaves steps out of the screen's run, and out of what plan shows in a narrow terminal.
func TestSelection(t *testing.T) {
	dir := t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	text := "- name: first\n  shell: touch first\n- name: second\n  shell: touch second\n- name: third\n  shell: touch third " + strings.Repeat("and ", 20) + "\n"
	if err := os.WriteFile(playbook, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, 80, 24, nil, "tui", playbook, "--only", "second")
	c.see("REVIEW", "⊘", "first")
	c.press("Ac", "DONE")
	c.press("q")
	if code, left := c.end(); code != 0 || !strings.Contains(left, "2 excluded") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	for name, want := range map[string]bool{"first": false, "second": true, "third": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s exists: %t", name, err == nil)
		}
	}
	c = open(t, 60, 24, nil, "plan", playbook, "--start-at", "second")
	if code, left := c.end(); code != 0 || !strings.Contains(left, "shell: touch third and …  playbook.yml:5\n") || strings.Contains(left, "first") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// TestFixAndRetry is failure, fix in the editor, retry, continue.
func TestFixAndRetry(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/playbooks/broken/playbook.yml")
	if err != nil {
		t.Fatal(err)
	}
	playbook := filepath.Join(dir, "playbook.yml")
	if err := os.WriteFile(playbook, text, 0o600); err != nil {
		t.Fatal(err)
	}
	editor := filepath.Join(dir, "nvim") // known to take +LINE
	script := "#!/bin/sh\necho \"$@\" > " + dir + "/opened\nfor f; do :; done\nsed -i 's/kat/cat/' \"$f\"\n"
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil { // it is run
		t.Fatal(err)
	}
	c := open(t, 100, 30, []string{"EDITOR=" + editor, "VISUAL="}, "tui", playbook, "-e", "dir="+dir+"/numbers.d")
	c.see("REVIEW", "5 steps")
	c.press("Ac", "PAUSED", "kat", "retry")
	c.press("E", "cat numbers")
	opened, err := os.ReadFile(filepath.Join(dir, "opened"))
	if err != nil || !strings.Contains(string(opened), "+20") || !strings.Contains(string(opened), playbook) {
		t.Errorf("the editor was called with %q, %v", opened, err)
	}
	c.press("r", "~ ├   add them up", "nothing is running")
	c.press("c", "DONE")
	c.press("f", "✓ ├   say it")
	c.press("q")
	if code, left := c.end(); code != 0 || !strings.Contains(left, "DONE") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// TestInterruptScreen leaves while a step runs: ctrl+c asks, and the second one does it.
func TestInterruptScreen(t *testing.T) {
	playbook := filepath.Join(t.TempDir(), "playbook.yml")
	if err := os.WriteFile(playbook, []byte("- name: long\n  shell: echo begun; sleep 600\n- shell: echo after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, 80, 24, nil, "tui", playbook)
	c.see("REVIEW")
	c.press("Ac", "RUNNING", "begun")
	c.press("\x03", "Quit with 1 step running?")
	c.press("\x03")
	if code, left := c.end(); code != 130 || !strings.Contains(left, "INTERRUPTED") || !strings.Contains(left, "1 not run") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// TestSignalAfterTheEnd closes a screen on which a finished run is being read.
func TestSignalAfterTheEnd(t *testing.T) {
	playbook := filepath.Join(t.TempDir(), "playbook.yml")
	if err := os.WriteFile(playbook, []byte("- shell: echo done\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, 80, 24, nil, "tui", playbook)
	c.see("REVIEW")
	c.press("Ac", "DONE")
	if err := c.process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if code, left := c.end(); code != 0 || !strings.Contains(left, "DONE") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// TestUsualTime runs a playbook twice in a terminal: the second time it is known how long it takes.
func TestUsualTime(t *testing.T) {
	dir := t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	if err := os.WriteFile(playbook, []byte("- name: long\n  shell: until test -e "+dir+"/go || ! test -d "+dir+"; do sleep 0.02; done\n- name: short\n  shell: \"true\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	state := []string{"XDG_STATE_HOME=" + dir + "/state"}
	release := func() {
		if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	release()
	c := open(t, 80, 24, state, "run", playbook)
	if code, left := c.end(); code != 0 || strings.Contains(left, "as last time") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	files, err := filepath.Glob(dir + "/state/moon/durations/*.json")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	// As if it had taken three minutes.
	text = regexp.MustCompile(`"([^"]*/long)":\d+`).ReplaceAll(text, []byte(`"$1":180000000`))
	if err := os.WriteFile(files[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir + "/go"); err != nil {
		t.Fatal(err)
	}
	c = open(t, 80, 24, state, "tui", playbook)
	c.see("REVIEW")
	c.press("Ac", "RUNNING", "about 3m left")
	release()
	c.see("DONE")
	c.press("q")
	if code, left := c.end(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c = open(t, 80, 24, state, "run", playbook)
	if code, left := c.end(); code != 0 || !strings.Contains(left, "2 steps  about 2m, as last time") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	// It is for people: not for a file, and not for a pipe.
	c = open(t, 80, 24, state, "run", playbook, "-o", "text:"+dir+"/log")
	if code, left := c.end(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	logged, err := os.ReadFile(dir + "/log")
	if err != nil || strings.Contains(string(logged), "as last time") {
		t.Errorf("%v\n%s", err, logged)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, dir+"/moon"); err != nil {
		t.Fatal(err)
	}
	piped := exec.Command(dir+"/moon", "run", playbook)
	piped.Env = append(os.Environ(), state...)
	if out, err := piped.Output(); err != nil || strings.Contains(string(out), "as last time") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestShowOnScreen looks at a run that is over: at its steps, at what each attempt of one has printed, and at what it
// says to who wants to go on with it.
func TestShowOnScreen(t *testing.T) {
	dir := t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	text := "- name: say it\n  shell: echo once\n- name: flaky\n  shell: echo x >> " + dir + "/tries; echo try $(wc -l < " + dir + "/tries); exit 3\n  retries: 1\n  retry_delay: 0\n- name: never\n  shell: echo after\n"
	if err := os.WriteFile(playbook, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	state := []string{"XDG_STATE_HOME=" + dir + "/state"}
	c := open(t, 100, 30, state, "run", playbook)
	if code, left := c.end(); code != 1 {
		t.Fatalf("exit %d, left in the terminal:\n%s", code, left)
	}
	if err := os.Remove(playbook); err != nil { // the run keeps what it was planned from
		t.Fatal(err)
	}
	journals, err := filepath.Glob(dir + "/state/moon/runs/*/journal.jsonl")
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	before, err := os.ReadFile(journals[0])
	if err != nil {
		t.Fatal(err)
	}
	c = open(t, 100, 30, state, "show", "--tui")
	c.see("recorded", "FAILED", "✗ └   flaky", "rc 3")
	c.press("jj2", "try 2")
	c.press("\t[", "try 1")
	for _, key := range []string{"c", "r", "A", "s", "p", "E"} {
		c.press(key, "this run is over")
		c.press("\x1b[B") // any other key takes the message away
		c.gone("this run is over")
	}
	c.press("q")
	if code, left := c.end(); code != 0 || strings.TrimSpace(left) != "" {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if after, err := os.ReadFile(journals[0]); err != nil || string(after) != string(before) {
		t.Errorf("the journal was changed: %v", err)
	}
	c = open(t, 100, 30, state, "show", "--tui")
	c.see("FAILED")
	if err := c.process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if code, left := c.end(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// TestShowLiveOnScreen names the command that follows a run which is not over.
func TestShowLiveOnScreen(t *testing.T) {
	dir := t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	if err := os.WriteFile(playbook, []byte("- shell: echo begun; sleep 600\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	state := []string{"XDG_STATE_HOME=" + dir + "/state"}
	run := open(t, 100, 30, state, "run", playbook)
	run.see("| begun")
	c := open(t, 100, 30, state, "show", "--tui")
	if code, left := c.end(); code != 2 || !strings.Contains(left, "is live; moon attach") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	run.press("\x03")
	if code, left := run.end(); code != 130 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// TestWaitsOnScreen looks at what runs, and at why another step does not yet.
func TestWaitsOnScreen(t *testing.T) {
	dir := t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	text := "- name: long\n  shell: until test -e " + dir + "/go || ! test -d " + dir + "; do sleep 0.02; done\n- name: next\n  shell: \"true\"\n"
	if err := os.WriteFile(playbook, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, 120, 40, nil, "tui", playbook)
	c.see("REVIEW", "2 steps")
	c.press("Ac", "RUNNING", "── Running now ──", "   long")
	c.press("j1", "waiting   for step-0001 «long», which has been")
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.see("DONE", "Saved     ~/state/moon/runs/")
	c.press("q")
	if code, left := c.end(); code != 0 || !strings.Contains(left, "Output   ~/state/moon/runs/") || strings.Contains(left, "Resume") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}
