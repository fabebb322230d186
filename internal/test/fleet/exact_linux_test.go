package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFleetExact holds a run on two hosts to its predictions: what was edited on one of them is not done there, the other continues, and
// what the run has changed itself does not count, whatever the clock of this machine says.
func TestFleetExact(t *testing.T) {
	f := newFleet(t, 2)
	log := filepath.Join(f.dir, "log")
	f.write("site.yml", `
- hosts: web
  gather_facts: false
  tasks:
    - file: {path: ~/site, state: directory, mode: "0755"}
    - copy: {content: "hello\n", dest: ~/site/index}
    - file: {src: ~/site/index, path: ~/site/link, state: link}
    - lineinfile: {path: ~/site/index, line: world}
    - command: cp program.default program.conf
    - copy: {content: "mine\n", dest: ~/program.conf}
    - copy: {content: "new\n", dest: ~/conf}
    - shell: echo {{ inventory_hostname }} >> `+log+`
`)
	for _, s := range f.servers {
		f.put(s, "conf", "old\n")
		f.put(s, "program.default", "default\n")
	}
	if code, out := f.moon("plan", "--check", "-o", "site.plan", "-i", "hosts.ini", "site.yml"); code != 0 ||
		!strings.Contains(out, "would create: new file, 5 bytes") {
		t.Fatalf("exit %d\n%s", code, out)
	}
	f.put(f.servers[0], "conf", "edited\n")
	time.Sleep(50 * time.Millisecond) // what was changed last is not of the time of the run, however coarse the clock
	code, out := f.moon("run", "--plan", "site.plan", "--exact", "-o", "text")
	if want := "drifted, and not done: predicted to update (content, 4 bytes), but would now update (content, 7 bytes → 4 bytes): "; code != 1 ||
		strings.Count(out, want) != 2 { // as it happens, and in the report
		t.Errorf("exit %d, without %q twice\n%s", code, want, out)
	}
	if n := strings.Count(out, "predicted to create (new file, 5 bytes), but would now update (content, 8 bytes → 5 bytes); done, because "); n != 2 {
		t.Errorf("%d warnings of what the run has changed itself, want 2\n%s", n, out)
	}
	f.has(1, "conf", "edited\n")
	f.has(2, "conf", "new\n")
	f.has(1, "program.conf", "mine\n")
	f.has(2, "site/index", "hello\nworld\n")
	if text, err := os.ReadFile(log); err != nil || string(text) != "web2\n" {
		t.Errorf("the log has %q: %v", text, err)
	}
	// The first host is resumed: its file is put back, and what was left is done there, once.
	f.put(f.servers[0], "conf", "old\n")
	if code, out := f.moon("resume", "--no-tui", "--retry-failed"); code != 0 {
		t.Errorf("exit %d\n%s", code, out)
	}
	f.has(1, "conf", "new\n")
	if text, err := os.ReadFile(log); err != nil || string(text) != "web2\nweb1\n" {
		t.Errorf("the log has %q: %v", text, err)
	}
}
