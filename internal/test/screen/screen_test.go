package screen

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"moon/internal/test/fakes"
)

// TestDevbox is the README's first command: review, approve, run, confirm, done, and the report afterwards.
func TestDevbox(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 20}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			target := filepath.Join(t.TempDir(), "home")
			c := fakes.OpenTerminal(t, size[0], size[1], nil, "tui", "testdata/playbooks/devbox/playbook.yml", "-e", "target="+target)
			c.See("REVIEW", "1 needs attention", "create the home directory")
			c.Press("A", "◆ ├   create the home directory")
			c.Press("c", "PAUSED", "remove the downloads")
			if _, err := os.Stat(filepath.Join(target, "bin/moon-hello")); err != nil {
				t.Error(err)
			}
			c.Press("a", "continue")
			c.Press("c", "DONE")
			c.Press("q")
			code, left := c.End()
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
	c := fakes.OpenTerminal(t, 80, 24, nil, "tui", playbook, "--only", "second")
	c.See("REVIEW", "⊘", "first")
	c.Press("Ac", "DONE")
	c.Press("q")
	if code, left := c.End(); code != 0 || !strings.Contains(left, "2 excluded") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	for name, want := range map[string]bool{"first": false, "second": true, "third": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s exists: %t", name, err == nil)
		}
	}
	c = fakes.OpenTerminal(t, 60, 24, nil, "plan", playbook, "--start-at", "second")
	if code, left := c.End(); code != 0 || !strings.Contains(left, "shell: touch third and …  playbook.yml:5\n") || strings.Contains(left, "first") {
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
	c := fakes.OpenTerminal(t, 100, 30, []string{"EDITOR=" + editor, "VISUAL="}, "tui", playbook, "-e", "dir="+dir+"/numbers.d")
	c.See("REVIEW", "5 steps")
	c.Press("Ac", "PAUSED", "kat", "retry")
	c.Press("E", "cat numbers")
	opened, err := os.ReadFile(filepath.Join(dir, "opened"))
	if err != nil || !strings.Contains(string(opened), "+20") || !strings.Contains(string(opened), playbook) {
		t.Errorf("the editor was called with %q, %v", opened, err)
	}
	c.Press("r", "~ ├   add them up", "nothing is running")
	c.Press("c", "DONE")
	c.Press("f", "✓ ├   say it")
	c.Press("q")
	if code, left := c.End(); code != 0 || !strings.Contains(left, "DONE") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// TestInterruptScreen leaves while a step runs: ctrl+c asks, and the second one does it.
func TestInterruptScreen(t *testing.T) {
	playbook := filepath.Join(t.TempDir(), "playbook.yml")
	if err := os.WriteFile(playbook, []byte("- name: long\n  shell: echo begun; sleep 600\n- shell: echo after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := fakes.OpenTerminal(t, 80, 24, nil, "tui", playbook)
	c.See("REVIEW")
	c.Press("Ac", "RUNNING", "begun")
	c.Press("\x03", "Quit with 1 step running?")
	c.Press("\x03")
	if code, left := c.End(); code != 130 || !strings.Contains(left, "INTERRUPTED") || !strings.Contains(left, "1 not run") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// TestSignalAfterTheEnd closes a screen on which a finished run is being read.
func TestSignalAfterTheEnd(t *testing.T) {
	playbook := filepath.Join(t.TempDir(), "playbook.yml")
	if err := os.WriteFile(playbook, []byte("- shell: echo done\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := fakes.OpenTerminal(t, 80, 24, nil, "tui", playbook)
	c.See("REVIEW")
	c.Press("Ac", "DONE")
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if code, left := c.End(); code != 0 || !strings.Contains(left, "DONE") {
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
	c := fakes.OpenTerminal(t, 80, 24, state, "run", playbook)
	if code, left := c.End(); code != 0 || strings.Contains(left, "as last time") {
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
	c = fakes.OpenTerminal(t, 80, 24, state, "tui", playbook)
	c.See("REVIEW")
	c.Press("Ac", "RUNNING", "about 3m left")
	release()
	c.See("DONE")
	c.Press("q")
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c = fakes.OpenTerminal(t, 80, 24, state, "run", playbook)
	if code, left := c.End(); code != 0 || !strings.Contains(left, "2 steps  about 2m, as last time") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	// It is for people: not for a file, and not for a pipe.
	c = fakes.OpenTerminal(t, 80, 24, state, "run", playbook, "-o", "text:"+dir+"/log")
	if code, left := c.End(); code != 0 {
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
	c := fakes.OpenTerminal(t, 100, 30, state, "run", playbook)
	if code, left := c.End(); code != 1 {
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
	c = fakes.OpenTerminal(t, 100, 30, state, "show", "--tui")
	c.See("recorded", "FAILED", "✗ └   flaky", "rc 3")
	c.Press("jj2", "try 2")
	c.Press("\t[", "try 1")
	for _, key := range []string{"c", "r", "A", "s", "p", "E"} {
		c.Press(key, "this run is over")
		c.Press("\x1b[B") // any other key takes the message away
		c.SeeGone("this run is over")
	}
	c.Press("q")
	if code, left := c.End(); code != 0 || strings.TrimSpace(left) != "" {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if after, err := os.ReadFile(journals[0]); err != nil || string(after) != string(before) {
		t.Errorf("the journal was changed: %v", err)
	}
	c = fakes.OpenTerminal(t, 100, 30, state, "show", "--tui")
	c.See("FAILED")
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if code, left := c.End(); code != 0 {
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
	run := fakes.OpenTerminal(t, 100, 30, state, "run", playbook)
	run.See("| begun")
	c := fakes.OpenTerminal(t, 100, 30, state, "show", "--tui")
	if code, left := c.End(); code != 2 || !strings.Contains(left, "is live; moon attach") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	run.Press("\x03")
	if code, left := run.End(); code != 130 {
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
	c := fakes.OpenTerminal(t, 120, 40, nil, "tui", playbook)
	c.See("REVIEW", "2 steps")
	c.Press("Ac", "RUNNING", "── Running now ──", "   long")
	c.Press("j1", "waiting   for step-0001 «long», which has been")
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.See("DONE", "Saved     ~/state/moon/runs/")
	c.Press("q")
	if code, left := c.End(); code != 0 || !strings.Contains(left, "Output   ~/state/moon/runs/") || strings.Contains(left, "Resume") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// TestAttachedScreens has a run in one terminal and looks at it from others: each approves, retries and detaches, and every step runs once
// for each decision.
func TestAttachedScreens(t *testing.T) {
	dir := t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	text := "- name: first\n  shell: echo first >> log; echo known\n  register: r\n" +
		"- name: second\n  shell: echo {{ r.stdout | trim }} >> log; test -e mended\n- name: third\n  shell: echo third >> log\n"
	if err := os.WriteFile(playbook, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	state := "XDG_STATE_HOME=" + filepath.Join(dir, "state")
	owner := fakes.OpenTerminal(t, 100, 30, []string{state}, "tui", playbook)
	owner.See("REVIEW", "3 steps")
	one := fakes.OpenTerminal(t, 80, 24, []string{state}, "attach", "--tui")
	one.See("REVIEW", "attached", "3 steps")
	one.Press("A", "3 approved")
	owner.See("3 approved")
	one.Press("c", "PAUSED", "detach")
	owner.See("PAUSED", "retry")
	one.Press("q", "Quit?", "detach: the run continues")
	one.Press("d")
	if code, left := one.End(); code != 0 || strings.Contains(left, "FAILED") {
		t.Errorf("detached with exit %d, left in the terminal:\n%s", code, left)
	}
	if err := os.WriteFile(filepath.Join(dir, "mended"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	two := fakes.OpenTerminal(t, 120, 40, []string{state}, "attach", "--tui")
	two.See("PAUSED", "echo known >> log")
	two.Press("r", "↻ 2")
	owner.See("↻ 2")
	two.Press("c", "DONE")
	owner.See("DONE")
	two.Press("q")
	if code, left := two.End(); code != 0 || !strings.Contains(left, "DONE") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	owner.Press("q")
	if code, left := owner.End(); code != 0 || !strings.Contains(left, "DONE") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if log, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || string(log) != "first\nknown\nknown\nthird\n" {
		t.Errorf("the log is %q, %v", log, err)
	}
}

// TestAttachedToTheDead looks at a run whose process is killed: the screen says what it knew, and leaving it says how the run goes on.
func TestAttachedToTheDead(t *testing.T) {
	dir := t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	if err := os.WriteFile(playbook, []byte("- name: long\n  shell: sleep 600\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	state := "XDG_STATE_HOME=" + filepath.Join(dir, "state")
	owner := fakes.OpenTerminal(t, 100, 30, []string{state}, "tui", playbook)
	owner.See("REVIEW")
	owner.Press("Ac", "RUNNING")
	one := fakes.OpenTerminal(t, 80, 24, []string{state}, "attach", "--tui")
	one.See("RUNNING", "attached")
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	one.See("the process that had the run is gone")
	one.Press("q")
	if code, left := one.End(); code != 5 || !strings.Contains(left, "its moon process is gone; moon resume") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// TestAttachedReplans edits the playbook at a screen that is attached: the process that has the run reads it again, and both see the new plan.
func TestAttachedReplans(t *testing.T) {
	dir := t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(playbook, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("- name: first\n  shell: echo first >> log\n- name: second\n  shell: echo wrong >> log; false\n- name: third\n  shell: echo third >> log\n")
	// The editor of the tests writes what is in the file next to the playbook.
	program := filepath.Join(dir, "edit")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ncp "+dir+"/edited "+playbook+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	edited := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "edited"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state"), "EDITOR=" + program}
	owner := fakes.OpenTerminal(t, 100, 30, env, "tui", playbook)
	owner.See("REVIEW", "3 steps")
	one := fakes.OpenTerminal(t, 100, 30, env, "attach", "--tui")
	one.See("REVIEW", "attached")
	one.Press("A", "3 approved")
	one.Press("c", "PAUSED")
	edited("- name: first\n  shel: echo first >> log\n")
	one.Press("E", "unknown action or key `shel`") // no less: `shel` alone is in the words of the step
	owner.See("PAUSED", "third")
	one.Press("\x1b", "retry this step") // which the mistake covers: a key right behind the escape would be another key
	edited("- name: first\n  shell: echo first >> log\n- name: second\n  shell: echo right >> log\n- name: third\n  shell: echo third >> log\n- name: fourth\n  shell: echo fourth >> log\n")
	one.Press("E", "fourth")
	owner.See("fourth")
	one.Press("A", "approved")
	one.Press("c", "DONE")
	owner.See("DONE")
	one.Press("q")
	owner.Press("q")
	if code, _ := owner.End(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if log, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || string(log) != "first\nwrong\nright\nthird\nfourth\n" {
		t.Errorf("the log is %q, %v", log, err)
	}
}
