package screen

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// TestEveryEnd leaves the screen in every way there is, in each phase.
func TestEveryEnd(t *testing.T) {
	const (
		quick    = "- name: quick\n  shell: echo well\n"
		long     = "- name: long\n  shell: echo begun; sleep 600\n- shell: echo after\n"
		short    = "- name: short\n  shell: echo begun; until test -e $DIR/go || ! test -d $DIR; do sleep 0.02; done\n- shell: echo after\n"
		stubborn = "- name: stubborn\n  shell: trap '' INT TERM HUP; echo begun; sleep 600 & wait; sleep 600\n"
		failing  = "- name: failing\n  shell: exit 3\n- shell: echo after\n"
	)
	run := func(c *fakes.Terminal) { c.See("REVIEW"); c.Press("Ac", "RUNNING", "begun") }
	signal := func(sig syscall.Signal) func(*fakes.Terminal, string) {
		return func(c *fakes.Terminal, _ string) {
			if err := c.Process.Signal(sig); err != nil {
				c.T.Fatal(err)
			}
		}
	}
	tests := []struct {
		name, text string
		to         func(c *fakes.Terminal)
		end        func(c *fakes.Terminal, dir string)
		code       int
	}{
		{"q in review", quick, func(c *fakes.Terminal) { c.See("REVIEW") }, func(c *fakes.Terminal, _ string) { c.Press("q") }, 3},
		{"ctrl+c in review", quick, func(c *fakes.Terminal) { c.See("REVIEW") }, func(c *fakes.Terminal, _ string) { c.Press("\x03") }, 3},
		{"q when done", quick, func(c *fakes.Terminal) { c.See("REVIEW"); c.Press("Ac", "DONE") }, func(c *fakes.Terminal, _ string) { c.Press("q") }, 0},
		{"q after a failure", failing, func(c *fakes.Terminal) { c.See("REVIEW"); c.Press("Ac", "PAUSED on failure") }, func(c *fakes.Terminal, _ string) { c.Press("q", "Quit"); c.Press("k") }, -1},
		{"q while a step runs", long, run, func(c *fakes.Terminal, _ string) { c.Press("q", "Quit with"); c.Press("k") }, -1},
		{"ctrl+c twice", long, run, func(c *fakes.Terminal, _ string) { c.Press("\x03", "Quit with"); c.Press("\x03") }, 130},
		{"ctrl+c thrice", stubborn, run, func(c *fakes.Terminal, _ string) {
			c.Press("\x03", "Quit with")
			c.Press("\x03")
			c.Press("\x03")
			c.Press("\x03")
		}, 130},
		{"SIGINT", long, run, signal(syscall.SIGINT), 130},
		{"SIGTERM", long, run, signal(syscall.SIGTERM), 130},
		{"SIGTERM in review", quick, func(c *fakes.Terminal) { c.See("REVIEW") }, signal(syscall.SIGTERM), -1},
		{"SIGTERM with a box open", long, func(c *fakes.Terminal) { run(c); c.Press("?", "esc closes") }, signal(syscall.SIGTERM), 130},
		{"SIGTERM twice", stubborn, run, func(c *fakes.Terminal, dir string) {
			signal(syscall.SIGTERM)(c, dir)
			c.See("begun")
			signal(syscall.SIGTERM)(c, dir)
		}, 130},
		{"SIGQUIT", long, run, signal(syscall.SIGQUIT), 130},
		{"SIGQUIT in review", quick, func(c *fakes.Terminal) { c.See("REVIEW") }, signal(syscall.SIGQUIT), -1},
		{"SIGQUIT while paused", failing, func(c *fakes.Terminal) { c.See("REVIEW"); c.Press("Ac", "PAUSED on failure") }, signal(syscall.SIGQUIT), -1},
		{"SIGQUIT when done", quick, func(c *fakes.Terminal) { c.See("REVIEW"); c.Press("Ac", "DONE") }, signal(syscall.SIGQUIT), 0},
		{"SIGINT when done", quick, func(c *fakes.Terminal) { c.See("REVIEW"); c.Press("Ac", "DONE") }, signal(syscall.SIGINT), 0},
		{"SIGHUP", short, run, func(c *fakes.Terminal, dir string) {
			signal(syscall.SIGHUP)(c, dir)
			if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
				c.T.Fatal(err)
			}
		}, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
			c, dir := fakes.OpenPlaybook(t, tt.text, "tui")
			tt.to(c)
			tt.end(c, dir)
			if code, left := c.End(); tt.code >= 0 && code != tt.code || strings.Contains(left, "goroutine ") {
				t.Errorf("exit %d, left in the terminal:\n%s", code, left)
			}
			c.CheckClean()
		})
	}
}

// TestTerminalGoes takes the terminal away: what runs may end, nothing more begins, and moon ends too.
func TestTerminalGoes(t *testing.T) {
	assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
	c, dir := fakes.OpenPlaybook(t, "- shell: echo begun; until test -e $DIR/go || ! test -d $DIR; do sleep 0.02; done; touch $DIR/ended\n- shell: touch $DIR/after\n", "tui")
	c.See("REVIEW")
	c.Press("Ac", "RUNNING", "begun")
	if err := c.Keys.(*os.File).Close(); err != nil {
		t.Fatal(err)
	}
	<-c.Closed // it is closed when it is read no more
	fakes.AwaitJournal(t, dir, `"how":"drain"`)
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Ended:
	case <-time.After(fakes.Patience):
		t.Fatal("moon is still there")
	}
	if _, err := os.Stat(dir + "/ended"); err != nil {
		t.Error("what ran was not let end")
	}
	if _, err := os.Stat(dir + "/after"); err == nil {
		t.Error("the run went on")
	}
}

// inShell runs moon by hand in an interactive shell, as people do.
func inShell(t *testing.T, text string) (c *fakes.Terminal, dir string) {
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
	c = fakes.OpenProgram(t, 80, 24, []string{"DIR=" + dir, "XDG_STATE_HOME=" + dir + "/state", "PS1=ready> ", "HISTFILE="}, func(name string) *exec.Cmd {
		moon = name
		return exec.Command(bash, "--norc", "--noprofile", "-i")
	})
	c.See("ready>")
	c.Press(moon+" tui "+dir+"/playbook.yml\r", "REVIEW")
	return c, dir
}

// TestSuspend goes to the shell by ctrl+z and comes back, twice, while a step goes on.
func TestSuspend(t *testing.T) {
	assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
	c, dir := inShell(t, "- name: long\n  shell: echo begun; until test -e $DIR/go || ! test -d $DIR; do sleep 0.02; done\n")
	c.Press("Ac", "RUNNING", "begun")
	for range 2 {
		c.Press("\x1a", "Stopped", "ready>")
		if c.Alternate() {
			t.Fatal("the alternate screen stayed")
		}
		c.Press("stty -a; echo that\\'s it\r", " icanon", " echo ", "that's it")
		c.Press("fg\r", "RUNNING", "begun", "long")
		c.Press("?", "esc closes") // keys are heard
		c.Press("\x1b")
		c.SeeGone("esc closes")
	}
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.See("DONE")
	c.LeaveShell()
}

// TestStopped stops moon behind its back. Whatever the shell did to the terminal meanwhile, the screen comes back whole.
func TestStopped(t *testing.T) {
	assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
	if runtime.GOOS != "linux" {
		t.Skip("needs to find moon by its parent")
	}
	c, _ := inShell(t, "- name: quick\n  shell: echo well\n")
	moon := c.Child()
	if err := moon.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c.See("ready>")
	c.Press("stty sane; clear; echo gar''bage\r", "garbage")
	c.Press("fg\r", "REVIEW", "quick")
	c.SeeGone("garbage")
	c.Press("Ac", "DONE")
	c.LeaveShell()
}

// TestNoShellToSuspendTo presses ctrl+z in a terminal that was opened for moon alone, where the system stops nothing.
func TestNoShellToSuspendTo(t *testing.T) {
	assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
	c, _ := fakes.OpenPlaybook(t, "- name: quick\n  shell: echo well\n", "tui")
	c.See("REVIEW")
	c.Press("\x1a", "there is no shell to go back to")
	c.Press("Ac", "DONE")
	c.Press("q")
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c.CheckClean()
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
	c := fakes.OpenTerminal(t, 80, 24, []string{"EDITOR=" + editor, "VISUAL="}, "tui", playbook)
	c.See("REVIEW")
	c.Press("E", "editing")
	c.Press("x\n", "signal: killed", "REVIEW")
	c.Press("Ac", "DONE")
	c.Press("q")
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c.CheckClean()
}
