package screen

import (
	"os"
	"path/filepath"
	"testing"

	"moon/internal/test/fakes"
)

// TestShellOnScreen opens a shell where a step runs, interrupts something in it, and comes back to a run that goes on.
func TestShellOnScreen(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	playbook := filepath.Join(dir, "playbook.yml")
	text := "- name: long\n  shell: echo begun; until test -e go || ! test -e playbook.yml; do sleep 0.02; done\n  env: {GREETING: hello, LATER: \"{{ who.stdout | default('nobody') }}\"}\n" +
		"- name: who\n  shell: echo me\n  register: name\n- name: there\n  shell: pwd\n  env: {ME: \"{{ name.stdout }}\"}\n  cwd: not/there\n"
	if err := os.WriteFile(playbook, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := fakes.OpenTerminal(t, 100, 30, []string{"SHELL=/bin/sh", "ENV=", "PS1=sh: ", "HISTFILE="}, "tui", playbook)
	c.See("REVIEW")
	c.Press("Ac", "RUNNING", "begun")
	c.Press("!", "step-0001  long", "in "+dir, "type exit to return")
	c.Press("echo $GREETING from $MOON_STEP; test -d $MOON_RUN_DIR && echo kept\r", "hello from step-0001", "kept")
	c.Press("cat\r")
	c.Press("reading\r", "reading\nreading")
	c.Press("\x03", "^C\nsh:")
	c.Press("echo still $((1 + 1))\r", "still 2")
	c.Press("exit 7\r", "RUNNING", "begun")
	c.Press("jj!", "not/there does not exist; this is ", "ME: `name` is not known before step-0002 «who»")
	c.Press("touch go; exit\r", "PAUSED on failure") // not/there
	c.Press("q", "Quit?")
	c.Press("k")
	if code, left := c.End(); code != 3 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if modes := c.Modes(); modes != "" {
		t.Errorf("the terminal is left with modes %s", modes)
	}
}

// TestMouseOnScreen turns the mouse on and leaves: the terminal must not go on telling of it.
func TestMouseOnScreen(t *testing.T) {
	c := fakes.OpenTerminal(t, 100, 30, nil, "tui", "testdata/playbooks/devbox/playbook.yml", "-e", "target="+t.TempDir())
	c.See("REVIEW")
	c.Press("M", "  mouse ")
	c.Press("\x1b[<0;80;2M\x1b[<0;80;2m", "Preview (not applied yet)")
	c.Press("q")
	if code, left := c.End(); code != 3 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if modes := c.Modes(); modes != "" {
		t.Errorf("the terminal is left with modes %s", modes)
	}
}
