package signals

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"moon/internal/app"
	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// frontEnds are the ways to see a run, by the arguments that ask for them.
var frontEnds = map[string][]string{"tui": {"tui"}, "lines": {"tui", "--ui", "lines"}, "run": {"run", "--on-failure", "drain"}}

// phase is a moment of moon's life: how it gets there, and with which exit codes a signal may end it then.
type phase struct {
	name     string
	playbook string
	args     []string
	fronts   []string // all, if empty
	to       func(c *fakes.Terminal, front, dir string)
	sleeping int   // processes that moon has started by then
	codes    []int // of INT, TERM and QUIT
	hangup   []int // of HUP
}

// TestSignalsInPhases sends each signal in each phase to each front end: moon ends with the right code, gives the terminal back as it was,
// and leaves no process behind. Of KILL it knows nothing; then those processes end that it has started itself.
func TestSignalsInPhases(t *testing.T) {
	const stubborn = "trap '' INT TERM HUP QUIT; sleep MARK & setsid sleep MARK & echo begun; until test -e $DIR/go || ! test -d $DIR; do sleep 0.02; done; sleep MARK"
	play := func(tasks string) string {
		return "- hosts: localhost\n  connection: local\n  gather_facts: false\n" + tasks
	}
	approve := func(c *fakes.Terminal, front string) {
		switch front {
		case "tui":
			c.See("REVIEW")
			c.Press("Ac")
		case "lines":
			c.See("REVIEW", "\n>")
			c.Press("approve all\r", "approved")
			c.Press("run\r")
		}
	}
	begun := func(c *fakes.Terminal, front, dir string) { approve(c, front); fakes.AwaitFile(c.T, dir+"/begun") }
	interrupted := []int{app.ExitInterrupted}
	phases := []phase{
		{
			"planning", play("  tasks: [{debug: {msg: hello}}]\n"),
			[]string{"-i", "inventory"},
			nil,
			func(c *fakes.Terminal, _, dir string) { fakes.AwaitFile(c.T, dir+"/begun") }, 3, interrupted, interrupted,
		},
		{
			"prompt", play("  vars_prompt: [{name: release, prompt: Which release}]\n  tasks: [{debug: {msg: hello}}]\n"), nil, nil,
			func(c *fakes.Terminal, _, _ string) { c.See("Which release") }, 0, interrupted, interrupted,
		},
		{
			"review", "- name: quick\n  shell: echo well\n", nil,
			[]string{"tui", "lines"},
			func(c *fakes.Terminal, _, _ string) { c.See("REVIEW") }, 0,
			[]int{app.ExitStopped, app.ExitInterrupted},
			[]int{app.ExitStopped, app.ExitInterrupted},
		},
		{
			"running", "- name: long\n  shell: touch $DIR/begun; " + stubborn + "\n- shell: touch $DIR/after\n", nil, nil,
			begun, 2, interrupted,
			[]int{app.ExitStopped, app.ExitInterrupted},
		},
		{
			"paused", "- name: failing\n  shell: exit 3\n- shell: touch $DIR/after\n", nil,
			[]string{"tui", "lines"},
			func(c *fakes.Terminal, front, _ string) { approve(c, front); c.See("PAUSED") }, 0,
			[]int{app.ExitFailed, app.ExitStopped, app.ExitInterrupted},
			[]int{app.ExitFailed, app.ExitStopped, app.ExitInterrupted},
		},
		{
			"ending", "- name: long\n  shell: touch $DIR/begun; " + stubborn + "\n- shell: touch $DIR/after\n", nil, nil,
			begun, 2, interrupted, interrupted,
		},
	}
	number := 0
	for _, phase := range phases {
		for front, args := range frontEnds {
			if phase.fronts != nil && !slices.Contains(phase.fronts, front) {
				continue
			}
			for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGKILL} {
				number++
				mark := fmt.Sprintf("7%d.%04d", os.Getpid(), number)
				t.Run(phase.name+"/"+front+"/"+sig.String(), func(t *testing.T) {
					t.Parallel()
					assault.Tried(t, "signals by phase and front end", 1)
					signalIn(t, phase, front, append(slices.Clone(args), phase.args...), sig, mark)
				})
			}
		}
	}
}

// signalIn has a moon get to a phase, and sends it a signal there.
func signalIn(t *testing.T, p phase, front string, args []string, sig syscall.Signal, mark string) {
	t.Helper()
	dir := t.TempDir()
	text, program := p.playbook, "#!/bin/sh\ntrap '' INT TERM HUP QUIT\nsleep MARK &\nsetsid sleep MARK &\ntouch $DIR/begun\nsleep MARK\n"
	sleeping := p.sleeping
	if sig == syscall.SIGKILL && sleeping > 0 { // what those have started is another matter: TestKilledMoon
		text = strings.Replace(text, "sleep MARK & setsid sleep MARK &", "exec sleep MARK;", 1)
		program, sleeping = "#!/bin/sh\ntouch $DIR/begun\nexec sleep MARK\n", 1
	}
	if sig == syscall.SIGHUP && p.name == "running" { // it may end, and what it leaves behind would be left on purpose
		text, sleeping = strings.Replace(strings.Replace(text, "sleep MARK & setsid sleep MARK & ", "", 1), "; sleep MARK", "", 1), 0
	}
	for name, content := range map[string]string{"playbook.yml": text, "inventory": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(content, "MARK", mark)), 0o700); err != nil { // one is run
			t.Fatal(err)
		}
	}
	if i := slices.Index(args, "inventory"); i >= 0 {
		args[i] = filepath.Join(dir, "inventory")
	}
	c := fakes.OpenTerminal(t, 80, 24, []string{"DIR=" + dir, "XDG_STATE_HOME=" + dir + "/state"}, append(args, dir+"/playbook.yml")...)
	p.to(c, front, dir)
	fakes.AwaitSleepers(t, mark, sleeping)
	if p.name == "ending" {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		fakes.AwaitJournal(t, dir, `"interrupt"`)
	}
	if err := c.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	if sig == syscall.SIGHUP && p.name == "running" {
		fakes.AwaitJournal(t, dir, `"actor":"hangup"`) // heard before what runs ends: afterwards it would come too late for the next step
	}
	if sig == syscall.SIGHUP { // what runs may end
		if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	codes := p.codes
	if sig == syscall.SIGHUP {
		codes = p.hangup
	}
	if sig == syscall.SIGINT && front == "lines" && (p.name == "running" || p.name == "paused") { // it asks what is meant
		c.See("quit?")
		c.Press("stop\r")
		codes = []int{app.ExitFailed, app.ExitStopped}
	}
	if sig == syscall.SIGKILL {
		<-c.Ended
		fakes.AwaitSleepers(t, mark, 0)
		return
	}
	code, left := c.End()
	if !slices.Contains(codes, code) || strings.Contains(left, "goroutine ") {
		t.Errorf("exit %d, want one of %v; left in the terminal:\n%s", code, codes, left)
	}
	c.CheckRestored()
	fakes.AwaitSleepers(t, mark, 0)
	if _, err := os.Stat(dir + "/after"); err == nil {
		t.Error("the run continued")
	}
}
