package fleet

import (
	"os"
	"path/filepath"
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

// hostsOf is the inventory of a fleet, as it was written.
func hostsOf(f *fleet) string {
	text, err := os.ReadFile(filepath.Join(f.dir, "hosts.ini"))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text)
}
