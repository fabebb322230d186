package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestFleetAdded starts a machine in the run, whose port only the run knows, waits for it, asks for its facts and configures it.
func TestFleetAdded(t *testing.T) {
	f := newFleet(t, 1)
	s := f.servers[0]
	log, start := filepath.Join(f.dir, "log"), filepath.Join(f.dir, "start")
	s.Deaf(true)
	go func() { // the machine: a step starts it, and it takes a while
		for t.Context().Err() == nil {
			if _, err := os.Stat(start); err == nil {
				time.Sleep(500 * time.Millisecond)
				s.Deaf(false)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
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
