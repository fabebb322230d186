package fleet

import (
	"path/filepath"
	"strings"
	"testing"

	"moon/internal/app"
	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// TestFleetResumed loses a host in the middle of a step, and goes on with the run when it is back: nothing is done there before
// somebody has said what the lost step is taken for, and nothing at all a second time elsewhere.
func TestFleetResumed(t *testing.T) {
	f := newFleet(t, 3)
	f.write("site.yml", `
- hosts: web
  gather_facts: false
  tasks:
    - name: before
      shell: echo before >>log
    - name: long
      shell: 'echo long >>log; echo $$ >pid; while [ ! -e go ]; do sleep 0.05; done'
    - name: after
      shell: echo after >>log
`)
	t.Setenv("MOON_ANSIBLE_EXIT", "1")
	cmd, out := f.start("run", "site.yml", "-i", "hosts.ini", "-o", "ansible")
	for _, s := range f.servers {
		appears(t, filepath.Join(s.Home, "pid"))
	}
	f.servers[1].Deaf(true)
	f.servers[1].Cut()
	fakes.AwaitEnd(t, filepath.Join(f.servers[1].Home, "pid"))
	for _, s := range f.servers {
		touch(t, filepath.Join(s.Home, "go"))
	}
	_ = cmd.Wait() // its exit status says how
	if code := cmd.ProcessState.ExitCode(); code != app.AnsibleUnreachable || !strings.Contains(wholeOf(t, out), "was lost while the step ran") {
		t.Fatalf("%d\n%s", code, wholeOf(t, out))
	}
	if code, shown := f.moon("show"); code != app.ExitDone || !strings.Contains(shown, "    lost: the connection to web2") {
		t.Errorf("%d\n%s", code, shown)
	}
	f.recap(wholeOf(t, out), "web1 ok=3 changed=3", "web2 ok=1 changed=1 unreachable=1", "web3 ok=3 changed=3")
	resume := func(want int, args ...string) string {
		t.Helper()
		code, said := f.moon(append([]string{"resume", "-o", "ansible"}, args...)...)
		if code != want {
			t.Fatalf("%v: exit status %d, want %d\n%s", args, code, want, said)
		}
		return said
	}
	for _, args := range [][]string{nil, {"--retry-failed"}} {
		said := resume(app.AnsibleWrong, args...)
		for _, part := range []string{"nothing was run", "  step-0005 «long»", "was lost: progress unknown", "--lost retry, ok or fail"} {
			if !strings.Contains(said, part) {
				t.Errorf("%v does not say %q\n%s", args, part, said)
			}
		}
	}
	// It is not back yet: then nothing is tried there, and failing to reach it is no second loss.
	f.recap(resume(app.AnsibleUnreachable, "--lost", "retry"), "web1 ok=3 changed=3", "web2 ok=1 changed=1 unreachable=1", "web3 ok=3 changed=3")
	f.has(2, "log", "before\nlong\n")
	f.servers[1].Deaf(false)
	f.recap(resume(app.ExitDone, "--retry-failed"), "web1 ok=3 changed=3", "web2 ok=3 changed=3", "web3 ok=3 changed=3")
	f.has(1, "log", "before\nlong\nafter\n")
	f.has(2, "log", "before\nlong\nlong\nafter\n")
	f.has(3, "log", "before\nlong\nafter\n")
	if said := resume(app.AnsibleWrong); !strings.Contains(said, "there is nothing to resume") {
		t.Error(said)
	}
}

// TestFleetLostIgnored goes on at a host that was lost, where the playbook says so.
func TestFleetLostIgnored(t *testing.T) {
	assault.Long(t)
	f := newFleet(t, 2)
	f.write("site.yml", `
- hosts: web
  gather_facts: false
  ignore_unreachable: true
  tasks:
    - shell: 'echo $$ >pid; while [ ! -e go ]; do sleep 0.05; done'
      register: r
    - copy: {content: "unreachable is {{ r.unreachable | default(false) }}", dest: ~/was}
`)
	cmd, out := f.start("run", "site.yml", "-i", "hosts.ini", "-o", "ansible")
	for _, s := range f.servers {
		appears(t, filepath.Join(s.Home, "pid"))
	}
	f.servers[1].Cut()
	for _, s := range f.servers {
		touch(t, filepath.Join(s.Home, "go"))
	}
	_ = cmd.Wait() // its exit status says how
	text := wholeOf(t, out)
	if code := cmd.ProcessState.ExitCode(); code != app.ExitDone {
		t.Errorf("%d\n%s", code, text)
	}
	f.recap(text, "web1 ok=2 changed=2", "web2 ok=2 changed=1 ignored=1")
	f.has(2, "was", "unreachable is True")
	if code, shown := f.moon("show"); code != app.ExitDone || !strings.Contains(shown, "1 ignored") {
		t.Errorf("%d\n%s", code, shown)
	}
}

// TestFleetKilledResumed kills moon while steps run on hosts: what ran there ends with it, and is taken for done when the run is
// resumed, as somebody says.
func TestFleetKilledResumed(t *testing.T) {
	assault.Long(t)
	f := newFleet(t, 2)
	f.write("site.yml", `
- hosts: web
  gather_facts: false
  tasks:
    - shell: 'echo long >>log; echo $$ >pid; sleep 600'
      when: inventory_hostname == 'web1'
    - shell: 'echo after >>log'
`)
	cmd, _ := f.start("run", "site.yml", "-i", "hosts.ini")
	appears(t, filepath.Join(f.servers[0].Home, "pid"))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	fakes.AwaitEnd(t, filepath.Join(f.servers[0].Home, "pid"))
	code, said := f.moon("resume")
	if code != app.ExitUsage || !strings.Contains(said, "  step-0001 ") || !strings.Contains(said, "--lost retry, ok or fail") {
		t.Errorf("%d\n%s", code, said)
	}
	code, said = f.moon("resume", "--lost", "ok", "-o", "ansible")
	if code != app.ExitDone {
		t.Fatalf("%d\n%s", code, said)
	}
	f.recap(said, "web1 ok=2 changed=1", "web2 ok=1 changed=1 skipped=1")
	f.has(1, "log", "long\nafter\n")
	f.has(2, "log", "after\n")
}
