package screen

import (
	"os"
	"path/filepath"
	"testing"

	"moon/internal/test/fakes"
)

// TestInterruptInEditor interrupts an editor that reads no keys, as code --wait is: the run goes on.
func TestInterruptInEditor(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	playbook, script := filepath.Join(dir, "playbook.yml"), filepath.Join(dir, "editor")
	for file, text := range map[string]string{
		playbook: "- name: long\n  shell: echo begun; until test -e go || ! test -e playbook.yml; do sleep 0.02; done; echo ended well\n",
		script:   "#!/bin/sh\ntrap 'exit 0' INT\necho editing\nwhile :; do sleep 0.02; done\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil { // one of them is run
			t.Fatal(err)
		}
	}
	c := fakes.OpenTerminal(t, 100, 30, []string{"EDITOR=" + script, "VISUAL="}, "tui", playbook)
	c.See("REVIEW")
	c.Press("Ac", "RUNNING", "begun")
	c.Press("E", "editing")
	c.Press("\x03", "RUNNING", "begun")
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.See("DONE (changed)")
	c.Press("q")
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// TestResumedNamesChangedFiles resumes a run whose playbook is the same, but not the files that its steps read.
func TestResumedNamesChangedFiles(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	playbook, conf := filepath.Join(dir, "playbook.yml"), filepath.Join(dir, "app.conf")
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(playbook, "- {name: put app, copy: {src: app.conf, dest: out1}}\n- {name: fails, shell: exit 1}\n- {name: put again, copy: {src: app.conf, dest: out2}}\n")
	write(conf, "one\n")
	env := []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state")}
	first := fakes.OpenTerminal(t, 100, 30, env, "run", playbook)
	if code, left := first.End(); code != 1 {
		t.Fatalf("exit %d:\n%s", code, left)
	}
	write(conf, "two\n")
	for range 2 { // the second time the run has the plan already
		c := fakes.OpenTerminal(t, 100, 30, env, "resume")
		c.See("PAUSED", "≠ ├   put app ", "app.conf changed", "└   put again ")
		c.Press("gg/put again\r", "file      app.conf has changed")
		c.Press("q")
		c.Press("k")
		c.End()
	}
	if _, err := os.Stat(filepath.Join(dir, "out2")); err == nil {
		t.Error("something was run")
	}
}
