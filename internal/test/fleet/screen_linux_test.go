package fleet

import (
	"path/filepath"
	"testing"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// TestFleetBackOnScreen loses a host while a step runs there, tries again while it is away, and once more when it is back: then
// the step goes over a new connection, and the rest of the host's steps too.
func TestFleetBackOnScreen(t *testing.T) {
	assault.Long(t)
	f := newFleet(t, 2)
	f.write("site.yml", `
- hosts: web
  gather_facts: false
  tasks:
    - name: long
      shell: 'echo long >>log; echo $$ >pid; while [ ! -e go ]; do sleep 0.05; done'
    - name: after
      shell: echo after >>log
`)
	c := fakes.OpenTerminal(t, 120, 40, []string{"XDG_STATE_HOME=" + filepath.Join(f.dir, "state")}, "tui", "-i", filepath.Join(f.dir, "hosts.ini"), filepath.Join(f.dir, "site.yml"))
	c.See("REVIEW")
	c.Press("A", "4 approved")
	c.Press("c", "RUNNING")
	for _, s := range f.servers {
		appears(t, filepath.Join(s.Home, "pid"))
	}
	f.servers[1].Deaf(true)
	f.servers[1].Cut()
	c.See("PAUSED on failure", "FAILED: lost while it ran", "how far it")
	for _, s := range f.servers {
		touch(t, filepath.Join(s.Home, "go"))
	}
	c.Press("r", "cannot be reached")
	f.servers[1].Deaf(false)
	c.Press("r", "PAUSED after a retry", "2/4")
	c.Press("c", "DONE")
	c.Press("q")
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d\n%s", code, left)
	}
	f.has(1, "log", "long\nafter\n")
	f.has(2, "log", "long\nlong\nafter\n")
}
