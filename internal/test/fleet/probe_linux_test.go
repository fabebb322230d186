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
