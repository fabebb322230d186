package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlaysOnScreen answers what a playbook asks, runs it on three hosts that are this machine, and gives another value to the one on
// which it fails. Nothing is asked twice.
func TestPlaysOnScreen(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hosts.ini": "[web]\nweb1 limit=5\nweb2 limit=20\nweb3 limit=7\n[web:vars]\nansible_connection=local\n",
		"site.yml": `- hosts: web
  gather_facts: false
  vars_prompt:
    - {name: release, prompt: Which release, private: false}
  tasks:
    - name: check the limit
      command: test {{ limit }} -lt 10
    - name: release
      command: echo release {{ release }}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := open(t, 120, 40, []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state")}, "tui", "-i", filepath.Join(dir, "hosts.ini"), filepath.Join(dir, "site.yml"))
	c.see("Which release")
	c.press("seven\r", "REVIEW", "3 hosts")
	c.press("A", "6 approved")
	c.press("c", "PAUSED on failure", "web2")
	c.press("e", "( ) this host")
	c.press("\x7f\x7f6\t", "(•) this host")
	c.press("\r", "override")
	c.press("c", "DONE")
	c.press("q")
	code, left := c.end()
	if code != 0 || !strings.Contains(left, "limit 20 → 6   on web2") || !strings.Contains(left, "web2     2        2") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	files, err := filepath.Glob(filepath.Join(dir, "state/moon/runs/*/out/*.out"))
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		said += strings.Count(string(text), "release seven")
	}
	if said != 3 {
		t.Errorf("%d of 3 hosts were told the answer", said)
	}
}
