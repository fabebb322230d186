package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFleetSteps has steps done on other hosts, in their homes, with files from this machine. What a host does is not done again when the
// run is resumed; one that cannot be reached is
// a failure that no rescue handles, as in plays.
func TestFleetSteps(t *testing.T) {
	f := newFleet(t, 2)
	log := filepath.Join(f.dir, "log")
	f.write("sub/conf.j2", "for {{ name }}\n")
	f.write("sub/tasks.yml", `
- template: {src: conf.j2, dest: conf}
- shell: echo {{ name }} >> made; pwd
  register: where
- shell: echo {{ name }} {{ where.stdout | trim | basename }} >> `+log+`
  delegate_to: localhost
`)
	f.write("steps.yml", `
- include: sub/tasks.yml
  loop: [web1, web2]
  loop_control: {loop_var: name}
  delegate_to: "{{ name }}"
- name: ready
  shell: echo tried >> tried; test -e ready
  delegate_to: web2
`)
	f.write("lost.yml", `
- block:
    - shell: echo never
      delegate_to: nowhere
  rescue:
    - shell: echo rescued >> `+log+`
  always:
    - shell: echo always >> `+log+`
- shell: echo after >> `+log+`
`)
	f.write("hosts.ini", hostsOf(f)+"nowhere ansible_host=127.0.0.1 ansible_port=1 ansible_ssh_common_args='-o ConnectTimeout=2'\n")
	run := func(want int, args ...string) {
		t.Helper()
		if code, out := f.moon(args...); code != want {
			t.Fatalf("exit status %d, want %d\n%s", code, want, out)
		}
	}
	run(1, "run", "steps.yml", "-i", "hosts.ini", "--approve", "all")
	f.put(f.servers[1], "ready", "")
	run(0, "resume", "--no-tui", "--retry-failed")
	run(1, "run", "lost.yml", "-i", "hosts.ini", "--approve", "all")
	for i, s := range f.servers {
		f.has(i+1, "conf", "for "+s.Host.Name+"\n")
		f.has(i+1, "made", s.Host.Name+"\n")
	}
	f.has(2, "tried", "tried\ntried\n")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, s := range f.servers {
		want += s.Host.Name + " " + filepath.Base(s.Home) + "\n"
	}
	if got := string(text); got != want+"always\n" {
		t.Errorf("the log has %q, not %q", got, want+"always\n")
	}
}

// TestFleetStepsWithHosts runs steps on the hosts of a pattern, with the variables, facts and results of each. What was done on a host is not
// done again when the run is resumed, and a saved plan has the facts of the hosts.
func TestFleetStepsWithHosts(t *testing.T) {
	f := newFleet(t, 2)
	log := filepath.Join(f.dir, "log")
	f.write("group_vars/web.yml", "port: 8080\nconf: \"{{ inventory_hostname }}:{{ port }}\"\n")
	f.write("sub/conf.j2", "{{ conf }} {{ groups.web | join(' ') }}\n")
	f.write("steps.yml", `
hosts: web
parallel: 2
steps:
  - template: {src: sub/conf.j2, dest: conf}
    notify: restart
  - shell: basename $(pwd)
    register: where
  - shell: echo {{ ansible_facts.env.HOME | basename }} {{ where.stdout | trim }} {{ os }} >> made
  - shell: echo tried >> tried; test -e ready
    hosts: web
  - shell: echo {{ where.results | map(attribute='item') | join(' ') }} {{ where.results[1].stdout | trim }} >> `+log+`
    hosts: localhost
handlers:
  - name: restart
    shell: echo restarted {{ inventory_hostname }} >> made
`)
	f.write("lost.yml", `
- hosts: all
  shell: echo {{ ansible_facts.env.HOME }}
`)
	f.write("reached.yml", `
- hosts: all
  ignore_errors: true
  shell: echo reached >> reached
- shell: echo after >> `+log+`
`)
	run := func(want int, args ...string) string {
		t.Helper()
		code, out := f.moon(args...)
		if code != want {
			t.Fatalf("exit status %d, want %d\n%s", code, want, out)
		}
		return out
	}
	run(0, "plan", "steps.yml", "-i", "hosts.ini", "-o", "saved.plan")
	f.put(f.servers[0], "ready", "")
	run(1, "run", "--plan", "saved.plan", "--approve", "all")
	f.put(f.servers[1], "ready", "")
	run(0, "resume", "--no-tui", "--retry-failed")
	for i, s := range f.servers {
		home := filepath.Base(s.Home)
		f.has(i+1, "conf", s.Host.Name+":8080 "+f.servers[0].Host.Name+" "+f.servers[1].Host.Name+"\n")
		f.has(i+1, "made", home+" "+home+" linux\nrestarted "+s.Host.Name+"\n")
	}
	f.has(1, "tried", "tried\n")
	f.has(2, "tried", "tried\ntried\n")
	f.write("hosts.ini", hostsOf(f)+"nowhere ansible_host=127.0.0.1 ansible_port=1 ansible_ssh_common_args='-o ConnectTimeout=2'\n")
	out := run(2, "plan", "lost.yml", "-i", "hosts.ini")
	if !strings.Contains(out, "(a fact of nowhere) cannot be had") {
		t.Errorf("the plan does not say which facts it lacks:\n%s", out)
	}
	run(0, "plan", "lost.yml", "-i", "hosts.ini", "--limit", "!nowhere")
	run(1, "run", "reached.yml", "-i", "hosts.ini", "--approve", "all")
	for i := range f.servers {
		f.has(i+1, "reached", "reached\n")
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	want := f.servers[0].Host.Name + " " + f.servers[1].Host.Name + " " + filepath.Base(f.servers[1].Home) + "\n"
	if got := string(text); got != want {
		t.Errorf("the log has %q, not %q", got, want)
	}
}

// hostsOf is the inventory of a fleet, as it was written.
func hostsOf(f *fleet) string {
	text, err := os.ReadFile(filepath.Join(f.dir, "hosts.ini"))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text)
}
