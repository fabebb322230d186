package main

import (
	"os"
	"path/filepath"
	"testing"
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
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil { //nolint:gosec // one of them is run
			t.Fatal(err)
		}
	}
	c := open(t, 100, 30, []string{"EDITOR=" + script, "VISUAL="}, "tui", playbook)
	c.see("REVIEW")
	c.press("Ac", "RUNNING", "begun")
	c.press("E", "editing")
	c.press("\x03", "RUNNING", "begun")
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.see("DONE with changes")
	c.press("q")
	if code, left := c.end(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}
