package fleet

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"moon/exec/remote/sshtest"
	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// TestFleetAdded starts a machine in the run, whose port only the run knows, waits for it, asks for its facts and configures it.
func TestFleetAdded(t *testing.T) {
	f := newFleet(t, 1)
	s := f.servers[0]
	log, start := filepath.Join(f.dir, "log"), filepath.Join(f.dir, "start")
	startsWith(t, s, start, 500*time.Millisecond)
	out := f.play(0, fmt.Sprintf(`
- hosts: localhost
  gather_facts: false
  tasks:
    - shell: echo start >> %[1]s; touch %[2]s; echo %[3]d
      register: port
    - add_host: {name: fresh, ansible_host: 127.0.0.1, ansible_port: "{{ port.stdout }}", ansible_ssh_common_args: "%[4]s"}
- hosts: fresh
  gather_facts: false
  tasks:
    - wait_for_connection: {timeout: 60, sleep: 1}
    - setup:
    - copy: {content: "{{ ansible_system }} {{ ansible_env.HOME }}", dest: "~/made"}
      notify: restart
    - shell: echo {{ item }} >> %[1]s
      loop: "{{ [ansible_system, port | default('no port here')] }}"
  handlers:
    - name: restart
      shell: echo restart >> %[1]s
- hosts: localhost
  gather_facts: false
  tasks:
    - shell: echo end {{ hostvars.fresh.ansible_system }} >> %[1]s
`, log, start, s.Host.Port, s.Host.Args))
	f.recap(out, "localhost ok=3 changed=3", "fresh ok=5 changed=3")
	f.has(1, "made", "Linux "+s.Home)
	text, err := os.ReadFile(log)
	if want := "start\nLinux\nno port here\nrestart\nend Linux\n"; err != nil || string(text) != want {
		t.Errorf("the log has %q, not %q: %v", text, want, err)
	}
}

// startsWith lets a machine answer only some time after a file is there.
func startsWith(t *testing.T, s *sshtest.Server, start string, after time.Duration) {
	t.Helper()
	s.Deaf(true)
	go func() {
		for t.Context().Err() == nil {
			if _, err := os.Stat(start); err == nil {
				time.Sleep(after)
				s.Deaf(false)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
}

// TestKillAdded kills moon at random points of a run that starts a machine, waits for it and configures it, and then at random points of
// the process that resumes it: the end is that of a whole run, and nothing is done twice that had ended.
func TestKillAdded(t *testing.T) {
	f := newFleet(t, 1)
	s := f.servers[0]
	n := assault.Rounds(40, 40)
	assault.Tried(t, "kills while a machine is made and configured", n)
	patient := func(t *testing.T) fakes.Patient {
		t.Helper()
		p := fakes.NewPatient(t, t.TempDir())
		p.Playbook, p.Made = filepath.Join(p.Dir, "site.yml"), "made"
		text := fmt.Sprintf(`
- hosts: localhost
  gather_facts: false
  vars: {dir: %[1]q}
  tasks:
    - name: start
      shell: echo start >> {{ dir }}/log; mkdir -p {{ dir }}/made; touch {{ dir }}/start; echo %[2]d
      register: port
    - name: add
      add_host: {name: fresh, ansible_host: 127.0.0.1, ansible_port: "{{ port.stdout }}", ansible_ssh_common_args: "%[3]s", dir: "{{ dir }}"}
- hosts: fresh
  gather_facts: false
  tasks:
    - name: wait
      wait_for_connection: {timeout: 60, sleep: 1}
    - name: find
      shell: echo find >> {{ dir }}/log; printf 'a\nb\n'
      register: found
      notify: restart
    - name: "configure {{ item }}"
      shell: echo "configure {{ item }}" >> {{ dir }}/log; touch {{ dir }}/made/{{ item }}
      loop: "{{ found.stdout_lines }}"
  handlers:
    - name: restart
      shell: echo restart >> {{ dir }}/log
- hosts: localhost
  gather_facts: false
  vars: {dir: %[1]q}
  tasks:
    - name: end
      shell: echo end {{ hostvars.fresh.found.stdout_lines | join }} > {{ dir }}/made/end; echo end >> {{ dir }}/log
`, p.Dir, s.Host.Port, s.Host.Args)
		if err := os.WriteFile(p.Playbook, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		startsWith(t, s, filepath.Join(p.Dir, "start"), 100*time.Millisecond)
		return p
	}
	whole := patient(t)
	points := whole.RunWhole()
	if points < 60 {
		t.Fatalf("only %d points", points)
	}
	deaths := 0
	for i := range n {
		p := patient(t)
		k := 1 + rand.IntN(points)
		if p.Live(p.Command("run", fmt.Sprintf("%s=%d", fakes.DieAtVariable, k)), nil).Killed {
			deaths++
		}
		if i%2 == 1 {
			if p.Live(p.Command("resume", fmt.Sprintf("%s=%d", fakes.DieAtVariable, 1+rand.IntN(points))), nil).Killed {
				deaths++
			}
		}
		p.ResumeToEnd()
		p.Check(whole, 2)
		if t.Failed() {
			t.Fatalf("killed at point %d of %d", k, points)
		}
	}
	t.Logf("%d deaths at %d points", deaths, points)
	if deaths < n/2 {
		t.Errorf("only %d deaths", deaths)
	}
}

// TestFleetMoved says in the run at which port a host is: it is never reached where the inventory has it.
func TestFleetMoved(t *testing.T) {
	f := newFleet(t, 2)
	one, two := f.servers[0], f.servers[1]
	f.write("moved.ini", fmt.Sprintf("[web]\nweb1 %s\n", hostVars(one)))
	f.write("site.yml", fmt.Sprintf(`
- hosts: web1
  gather_facts: false
  tasks:
    - shell: echo %d
      delegate_to: localhost
      register: port
    - set_fact: {ansible_port: "{{ port.stdout }}", ansible_ssh_common_args: "%s{{ port.rc | replace('0', '') }}"}
    - shell: echo {{ inventory_hostname }} > ~/here
- hosts: web1
  tasks:
    - shell: echo {{ ansible_env.HOME }} >> ~/here
`, two.Host.Port, two.Host.Args))
	before := one.Dials()
	if code, out := f.moon("run", "site.yml", "-i", "moved.ini"); code != 0 {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	f.has(2, "here", "web1\n"+two.Home+"\n")
	f.hasNot(1, "here")
	if n := one.Dials() - before; n > 0 {
		t.Errorf("%d connections to where the host was", n)
	}
}
