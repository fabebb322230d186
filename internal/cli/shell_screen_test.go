package cli

import (
	"os"
	"path/filepath"
	"testing"
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
	c := open(t, 100, 30, []string{"SHELL=/bin/sh", "ENV=", "PS1=sh: ", "HISTFILE="}, "tui", playbook)
	c.see("REVIEW")
	c.press("Ac", "RUNNING", "begun")
	c.press("!", "step-0001  long", "in "+dir, "type exit to return")
	c.press("echo $GREETING from $MOON_STEP; test -d $MOON_RUN_DIR && echo kept\r", "hello from step-0001", "kept")
	c.press("cat\r")
	c.press("reading\r", "reading\nreading")
	c.press("\x03", "^C\nsh:")
	c.press("echo still $((1 + 1))\r", "still 2")
	c.press("exit 7\r", "RUNNING", "begun")
	c.press("jj!", "not/there does not exist; this is ", "ME: `name` is not known before step-0002 «who»")
	c.press("touch go; exit\r", "PAUSED on failure") // not/there
	c.press("q", "Quit?")
	c.press("k")
	if code, left := c.end(); code != 3 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if modes := c.modes(); modes != "" {
		t.Errorf("the terminal is left with modes %s", modes)
	}
}

// TestMouseOnScreen turns the mouse on and leaves: the terminal must not go on telling of it.
func TestMouseOnScreen(t *testing.T) {
	c := open(t, 100, 30, nil, "tui", "testdata/playbooks/devbox/playbook.yml", "-e", "target="+t.TempDir())
	c.see("REVIEW")
	c.press("M", "  mouse ")
	c.press("\x1b[<0;80;2M\x1b[<0;80;2m", "Select a step to see what it")
	c.press("q")
	if code, left := c.end(); code != 3 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if modes := c.modes(); modes != "" {
		t.Errorf("the terminal is left with modes %s", modes)
	}
}
