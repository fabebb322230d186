package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"moon/internal/assault"
)

// clean checks that a terminal is as a new one, and that its keyboard is too.
func (c *emulator) clean() {
	c.t.Helper()
	c.restored()
	c.mu.Lock()
	said := c.said.String()
	c.mu.Unlock()
	if on, off := strings.Count(said, ansi.PushKittyKeyboard(1)), strings.Count(said, ansi.PopKittyKeyboard(1)); on != off || on == 0 {
		c.t.Errorf("the keyboard was set up %d times, and put back %d times", on, off)
	}
	if on, off := strings.LastIndex(said, ansi.SetModifyOtherKeys2), strings.LastIndex(said, ansi.ResetModifyOtherKeys); on > off {
		c.t.Error("the keyboard still reports other keys")
	}
	if i := strings.LastIndex(said, "\x1b[?1049l"); i >= 0 { // what follows is the report, on the main screen
		if rest := said[i:]; strings.LastIndex(rest, "\x1b[m") < strings.LastIndex(rest, "\x1b[3") {
			c.t.Errorf("a colour was left on: %q", rest)
		}
	}
}

// TestEveryEnd leaves the screen in every way there is, in each phase.
func TestEveryEnd(t *testing.T) {
	const (
		quick    = "- name: quick\n  shell: echo well\n"
		long     = "- name: long\n  shell: echo begun; sleep 600\n- shell: echo after\n"
		short    = "- name: short\n  shell: echo begun; until test -e $DIR/go || ! test -d $DIR; do sleep 0.02; done\n- shell: echo after\n"
		stubborn = "- name: stubborn\n  shell: trap '' INT TERM HUP; echo begun; sleep 600 & wait; sleep 600\n"
		failing  = "- name: failing\n  shell: exit 3\n- shell: echo after\n"
	)
	run := func(c *emulator) { c.see("REVIEW"); c.press("Ac", "RUNNING", "begun") }
	signal := func(sig syscall.Signal) func(*emulator, string) {
		return func(c *emulator, _ string) {
			if err := c.process.Signal(sig); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name, text string
		to         func(c *emulator)
		end        func(c *emulator, dir string)
		code       int
	}{
		{"q in review", quick, func(c *emulator) { c.see("REVIEW") }, func(c *emulator, _ string) { c.press("q") }, 3},
		{"ctrl+c in review", quick, func(c *emulator) { c.see("REVIEW") }, func(c *emulator, _ string) { c.press("\x03") }, 3},
		{"q when done", quick, func(c *emulator) { c.see("REVIEW"); c.press("Ac", "DONE") }, func(c *emulator, _ string) { c.press("q") }, 0},
		{"q after a failure", failing, func(c *emulator) { c.see("REVIEW"); c.press("Ac", "PAUSED on failure") }, func(c *emulator, _ string) { c.press("q", "Quit"); c.press("k") }, -1},
		{"q while a step runs", long, run, func(c *emulator, _ string) { c.press("q", "Quit with"); c.press("k") }, -1},
		{"ctrl+c twice", long, run, func(c *emulator, _ string) { c.press("\x03", "Quit with"); c.press("\x03") }, 130},
		{"ctrl+c thrice", stubborn, run, func(c *emulator, _ string) {
			c.press("\x03", "Quit with")
			c.press("\x03")
			c.press("\x03")
			c.press("\x03")
		}, 130},
		{"SIGINT", long, run, signal(syscall.SIGINT), 130},
		{"SIGTERM", long, run, signal(syscall.SIGTERM), 130},
		{"SIGTERM in review", quick, func(c *emulator) { c.see("REVIEW") }, signal(syscall.SIGTERM), -1},
		{"SIGTERM with a box open", long, func(c *emulator) { run(c); c.press("?", "esc closes") }, signal(syscall.SIGTERM), 130},
		{"SIGTERM twice", stubborn, run, func(c *emulator, dir string) {
			signal(syscall.SIGTERM)(c, dir)
			c.see("begun")
			signal(syscall.SIGTERM)(c, dir)
		}, 130},
		{"SIGQUIT", long, run, signal(syscall.SIGQUIT), 130},
		{"SIGQUIT in review", quick, func(c *emulator) { c.see("REVIEW") }, signal(syscall.SIGQUIT), -1},
		{"SIGQUIT while paused", failing, func(c *emulator) { c.see("REVIEW"); c.press("Ac", "PAUSED on failure") }, signal(syscall.SIGQUIT), -1},
		{"SIGQUIT when done", quick, func(c *emulator) { c.see("REVIEW"); c.press("Ac", "DONE") }, signal(syscall.SIGQUIT), 0},
		{"SIGINT when done", quick, func(c *emulator) { c.see("REVIEW"); c.press("Ac", "DONE") }, signal(syscall.SIGINT), 0},
		{"SIGHUP", short, run, func(c *emulator, dir string) {
			signal(syscall.SIGHUP)(c, dir)
			if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
				c.t.Fatal(err)
			}
		}, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
			c, dir := asking(t, tt.text, "tui")
			tt.to(c)
			tt.end(c, dir)
			if code, left := c.end(); tt.code >= 0 && code != tt.code || strings.Contains(left, "goroutine ") {
				t.Errorf("exit %d, left in the terminal:\n%s", code, left)
			}
			c.clean()
		})
	}
}

// TestTerminalGoes takes the terminal away: what runs may end, nothing more begins, and moon ends too.
func TestTerminalGoes(t *testing.T) {
	assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
	c, dir := asking(t, "- shell: echo begun; until test -e $DIR/go || ! test -d $DIR; do sleep 0.02; done; touch $DIR/ended\n- shell: touch $DIR/after\n", "tui")
	c.see("REVIEW")
	c.press("Ac", "RUNNING", "begun")
	if err := c.keys.(*os.File).Close(); err != nil {
		t.Fatal(err)
	}
	<-c.mute // it is closed when it is read no more
	told(t, dir, `"how":"drain"`)
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.ended:
	case <-time.After(patience):
		t.Fatal("moon is still there")
	}
	if _, err := os.Stat(dir + "/ended"); err != nil {
		t.Error("what ran was not let end")
	}
	if _, err := os.Stat(dir + "/after"); err == nil {
		t.Error("the run went on")
	}
}

// told waits until a run's journal holds a text.
func told(t *testing.T, dir, text string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		files, err := filepath.Glob(dir + "/state/moon/runs/*/journal.jsonl")
		if err != nil || len(files) != 1 {
			t.Fatalf("%d journals: %v", len(files), err)
		}
		if journal, err := os.ReadFile(files[0]); err != nil {
			t.Fatal(err)
		} else if strings.Contains(string(journal), text) {
			return
		} else if time.Now().After(end) {
			t.Fatalf("%q is not in\n%s", text, journal)
		}
	}
}

// inShell runs moon by hand in an interactive shell, as people do.
func inShell(t *testing.T, text string) (c *emulator, dir string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "playbook.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var moon string
	c = openWith(t, 80, 24, []string{"DIR=" + dir, "XDG_STATE_HOME=" + dir + "/state", "PS1=ready> ", "HISTFILE="}, func(name string) *exec.Cmd {
		moon = name
		return exec.Command(bash, "--norc", "--noprofile", "-i")
	})
	c.see("ready>")
	c.press(moon+" tui "+dir+"/playbook.yml\r", "REVIEW")
	return c, dir
}

// child is the one process that the shell runs.
func (c *emulator) child() *os.Process {
	c.t.Helper()
	list, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", c.process.Pid))
	if err != nil {
		c.t.Skip("children of a process are not listed here:", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(list)))
	if err != nil {
		c.t.Fatalf("children %q", list)
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		c.t.Fatal(err)
	}
	return process
}

// alternate reports whether the terminal shows its other screen.
func (c *emulator) alternate() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.vt.IsAltScreen()
}

// leaveShell ends the shell, and checks what is left.
func (c *emulator) leaveShell() {
	c.t.Helper()
	c.press("q", "ready>")
	c.press("stty -a\r", " icanon", " echo ")
	c.press("exit\r")
	_, _ = c.end()
	if left := c.modes(); left != "" && left != fmt.Sprint(ansi.ModeBracketedPaste) { // bash's own
		c.t.Errorf("modes were left on: %s", left)
	}
}

// TestSuspend goes to the shell by ctrl+z and comes back, twice, while a step goes on.
func TestSuspend(t *testing.T) {
	assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
	c, dir := inShell(t, "- name: long\n  shell: echo begun; until test -e $DIR/go || ! test -d $DIR; do sleep 0.02; done\n")
	c.press("Ac", "RUNNING", "begun")
	for range 2 {
		c.press("\x1a", "Stopped", "ready>")
		if c.alternate() {
			t.Fatal("the alternate screen stayed")
		}
		c.press("stty -a; echo that\\'s it\r", " icanon", " echo ", "that's it")
		c.press("fg\r", "RUNNING", "begun", "long")
		c.press("?", "esc closes") // keys are heard
		c.press("\x1b")
		c.gone("esc closes")
	}
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.see("DONE")
	c.leaveShell()
}

// TestStopped stops moon behind its back. Whatever the shell did to the terminal meanwhile, the screen comes back whole.
func TestStopped(t *testing.T) {
	assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
	if runtime.GOOS != "linux" {
		t.Skip("needs to find moon by its parent")
	}
	c, _ := inShell(t, "- name: quick\n  shell: echo well\n")
	moon := c.child()
	if err := moon.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c.see("ready>")
	c.press("stty sane; clear; echo gar''bage\r", "garbage")
	c.press("fg\r", "REVIEW", "quick")
	c.gone("garbage")
	c.press("Ac", "DONE")
	c.leaveShell()
}

// TestNoShellToSuspendTo presses ctrl+z in a terminal that was opened for moon alone, where the system stops nothing.
func TestNoShellToSuspendTo(t *testing.T) {
	assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
	c, _ := asking(t, "- name: quick\n  shell: echo well\n", "tui")
	c.see("REVIEW")
	c.press("\x1a", "there is no shell to go back to")
	c.press("Ac", "DONE")
	c.press("q")
	if code, left := c.end(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c.clean()
}

// TestEditorCrashes opens an editor that sets the terminal up for itself and dies.
func TestEditorCrashes(t *testing.T) {
	assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
	editor := filepath.Join(t.TempDir(), "editor")
	script := "#!/bin/sh\nstty raw -echo\nprintf '\\033[?1049h\\033[?25l\\033[?1000;1006h\\033[?1h\\033=\\033[31mediting'\nread key\nkill -9 $$\n"
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil { // it is run
		t.Fatal(err)
	}
	playbook := filepath.Join(t.TempDir(), "playbook.yml")
	if err := os.WriteFile(playbook, []byte("- name: quick\n  shell: echo well\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, 80, 24, []string{"EDITOR=" + editor, "VISUAL="}, "tui", playbook)
	c.see("REVIEW")
	c.press("E", "editing")
	c.press("x\n", "signal: killed", "REVIEW")
	c.press("Ac", "DONE")
	c.press("q")
	if code, left := c.end(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c.clean()
}
