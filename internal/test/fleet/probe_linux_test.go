package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFleetProbe asks two hosts what their steps find before the plan is shown: each has a loop of its own. One of them is another by the
// time of the run, which stops there.
func TestFleetProbe(t *testing.T) {
	f := newFleet(t, 2)
	log := filepath.Join(f.dir, "log")
	for i, name := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(f.servers[i].Home, "conf"), 0o755); err != nil {
			t.Fatal(err)
		}
		f.put(f.servers[i], "conf/"+name, name+"\n")
		f.put(f.servers[i], "conf/both", name+"\n")
	}
	f.write("site.yml", `
- hosts: all
  gather_facts: false
  tasks:
    - find: {paths: "~/conf"}
      register: found
    - stat: {path: "~/conf/two"}
      register: two
    - shell: echo {{ inventory_hostname }} {{ item.path | basename }} >> `+log+`
      delegate_to: localhost
      loop: "{{ found.files }}"
    - shell: echo {{ inventory_hostname }} has two >> `+log+`
      delegate_to: localhost
      when: two.stat.exists
`)
	run := func(want int, args ...string) {
		t.Helper()
		code, out := f.moon(args...)
		if code != want {
			t.Fatalf("exit status %d, want %d\n%s", code, want, out)
		}
	}
	wrote := func(want string) {
		t.Helper()
		text, err := os.ReadFile(log)
		if err != nil && want != "" {
			t.Fatal(err)
		}
		// Each host is at its own round of the loop.
		if got := strings.Join(slices.Sorted(strings.Lines(string(text))), ""); got != want {
			t.Errorf("the log has %q, not %q", got, want)
		}
		_ = os.Remove(log) // it may not be there
	}
	first, second := f.servers[0].Host.Name, f.servers[1].Host.Name
	run(0, "plan", "site.yml", "-i", "hosts.ini", "-o", "site.moon")
	run(0, "run", "--plan", "site.moon", "--forks", "1")
	wrote(first + " both\n" + first + " one\n" + second + " both\n" + second + " has two\n" + second + " two\n")
	f.put(f.servers[1], "conf/more", "")
	run(1, "run", "--plan", "site.moon", "--forks", "1")
	wrote("")
	run(2, "plan", "site.yml", "-i", "hosts.ini", "--no-connect", "--strict") // the loops would be open
}

// TestFleetProbeGone has a host go away between the plan, which has asked it, and the run: nothing runs on another host with what it had
// found, nor on itself if the playbook continues without it.
func TestFleetProbeGone(t *testing.T) {
	f := newFleet(t, 2)
	log := filepath.Join(f.dir, "log")
	for _, s := range f.servers {
		f.put(s, "flag", "")
	}
	f.write("site.yml", `
- hosts: web
  gather_facts: false
  ignore_unreachable: "{{ stays }}"
  tasks:
    - stat: {path: "~/flag"}
      register: flag
    - shell: echo {{ inventory_hostname }} {{ item }} >> `+log+`
      delegate_to: localhost
      loop: "{{ ['own'] if flag.stat.exists else [] }}"
- hosts: web2
  gather_facts: false
  tasks:
    - shell: echo {{ inventory_hostname }} {{ item }} >> `+log+`
      delegate_to: localhost
      loop: "{{ ['other'] if hostvars.web1.flag.stat.exists else [] }}"
      ignore_errors: true
- hosts: localhost
  gather_facts: false
  tasks:
    - shell: echo end >> `+log+`
`)
	for _, stays := range []string{"false", "true"} {
		if code, out := f.moon("plan", "site.yml", "-i", "hosts.ini", "-o", "site.moon", "-e", "{stays: "+stays+"}"); code != 0 {
			t.Fatalf("exit status %d\n%s", code, out)
		}
		f.servers[0].Deaf(true)
		code, out := f.moon("run", "--plan", "site.moon")
		f.servers[0].Deaf(false)
		text, err := os.ReadFile(log)
		if want := "web2 own\nend\n"; code != 1 || err != nil || string(text) != want {
			t.Errorf("stays: %s: exit status %d, the log has %q, not %q: %v\n%s", stays, code, text, want, err, out)
		}
		if !strings.Contains(out, "planned again without the result of step-0001") {
			t.Errorf("stays: %s: it does not say what happened\n%s", stays, out)
		}
		_ = os.Remove(log) // it may not be there
	}
}
