package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/internal/test/fakes"
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
	c := fakes.OpenTerminal(t, 120, 40, []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state")}, "tui", "-i", filepath.Join(dir, "hosts.ini"), filepath.Join(dir, "site.yml"))
	c.See("Which release")
	c.Press("seven\r", "REVIEW", "3 hosts")
	c.Press("A", "6 approved")
	c.Press("c", "PAUSED on failure", "web2", "nothing is running", "3/6")
	c.Press("e", "( ) this host")
	c.Press("\x7f\x7f6\t", "(•) this host")
	c.Press("\r", "override")
	c.Press("c", "DONE")
	c.Press("q")
	code, left := c.End()
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

// TestPersonOnHosts steps through two plays over three hosts, stops before one task on one host, gives that host another value when
// the task fails on it, and goes on.
func TestPersonOnHosts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hosts.ini": "[web]\nweb1 limit=5\nweb2 limit=20\nweb3 limit=7\n[web:vars]\nansible_connection=local\n",
		"site.yml": `- name: Web
  hosts: web
  gather_facts: false
  tasks:
    - name: prepare
      command: echo {{ limit }}
    - name: check the limit
      command: test {{ limit }} -lt 10
      changed_when: false
    - name: tell
      command: echo {{ inventory_hostname }} has {{ limit }}
      notify: reload
  handlers:
    - name: reload
      command: echo reload {{ inventory_hostname }}
- name: After
  hosts: web
  gather_facts: false
  tasks:
    - name: again
      command: echo {{ limit }} on {{ inventory_hostname }}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := fakes.OpenTerminal(t, 120, 40, []string{"XDG_STATE_HOME=" + filepath.Join(dir, "state")}, "tui", "-i", filepath.Join(dir, "hosts.ini"), filepath.Join(dir, "site.yml"))
	c.See("REVIEW", "15 steps", "3 hosts")
	c.Press("s", "PAUSED before  prepare on web2", "nothing is running")
	c.Press("s", "PAUSED before  prepare on web3", "nothing is running")
	c.SeePanes(`   ◐ ▾ site.yml  2/15
   ◐ ├ ▾ play: Web  2/12
   ◐ │ ├ ▾ prepare  2/3
   ~ │ │ ├   web1
   ~ │ │ ├   web2
 ❯ ◇ │ │ └   web3  before  :5
   ◇ │ ├ ▸ check the limit  3 hosts
   ◇ │ ├ ▸ tell  3 hosts
   ◇ │ └ ▾ handlers  3
   ◇ │   └ ▸ reload  by tell  3
   ◇ └ ▾ play: After  3 hosts
   ◇   └ ▸ again  3 hosts
`, "")
	c.Press("/check the limit\r", "▸ check the limit")
	c.Press("ljj", "command   test 20 -lt 10")
	c.Press("b", "●")
	c.Press("Ac", "PAUSED at breakpoint, before  check the limit on web2", "nothing is running")
	c.SeePanes(`   ◐ ▾ site.yml  4/15
   ◐ ├ ▾ play: Web  4/12
   ~ │ ├ ▾ prepare  3/3
   ~ │ │ ├   web1
   ~ │ │ ├   web2
   ~ │ │ └   web3
   ◐ │ ├ ▾ check the limit  1/3
   ✓ │ │ ├   web1
●❯ ‖ │ │ ├   web2  before  :7
   · │ │ └   web3  :7
   · │ ├ ▸ tell  3 hosts
   · │ └ ▾ handlers  3
   · │   └ ▸ reload  by tell  3
   · └ ▾ play: After  3 hosts
   ·   └ ▸ again  3 hosts
`, "")
	c.Press("c", "PAUSED on failure", "nothing is running", "continue without web2; the other hosts", "limit        20")
	c.Press("e\x7f\x7f6\t", "test 6 -lt 10")
	c.SeePanes("", `  name         value                   from
❯ limit        6▏                      was 20
  cmd          test 20 -lt 10          :7
  cwd          DIR
  + add a variable

Type      a number
Scope     ( ) this step   (•) this host (web2)
          ( ) this task (3 hosts)
          ( ) rest of the run (all hosts)

Will be
- test 20 -lt 10
+ test 6 -lt 10

Also changes 2 other steps
  tell on web2  echo web2 has 6
  again on web2  echo 6 on web2

This run only; listed in the report.
`)
	c.Press("\r", "PAUSED after a retry", "override  limit 20 → 6  on web2", "↻ 2  e")
	c.Press("c", "DONE (changed)   15/15")
	c.SeePanes(`   ~ ▾ site.yml  15/15
   ~ ├ ▾ play: Web  12/12
   ~ │ ├ ▾ prepare  3/3
   ~ │ │ ├   web1
   ~ │ │ ├   web2
   ~ │ │ └   web3
   ~ │ ├ ▾ tell  3/3
   ~ │ │ ├   web1
   ~ │ │ ├   web2  e
   ~ │ │ └   web3
   ~ │ └ ▾ handlers  3/3
   ~ │   └ ▾ reload  3/3
   ~ │     ├   web1
   ~ │     ├   web2
   ~ │     └   web3
   ~ └ ▾ play: After  3/3
   ~   └ ▾ again  3/3
   ~     ├   web1
   ~     ├   web2  e
   ~     └   web3
`, "")
	c.Press("q")
	code, left := c.End()
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{
		"  web1     5        4            0       0        0        0        0\n",
		"  web2     5        4            0       0        0        0        0\n",
		"  web3     5        4            0       0        0        0        0\n",
		"  limit 20 → 6   on web2   check the limit\n    to keep it, edit hosts.ini:3\n",
	} {
		if !strings.Contains(left, want) {
			t.Errorf("the report does not say %q:\n%s", want, left)
		}
	}
}
