package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// TestFleetTalkativeLogin reaches a host whose login prints something, with and without the end of a line, much or little: nothing of it
// is taken for moon's own, and each step runs once.
func TestFleetTalkativeLogin(t *testing.T) {
	assault.Long(t)
	for name, text := range map[string]string{
		"no end of the line": "printf hello\n",
		"lines":              "echo hello; echo; printf 'and more'\n",
		"errors":             "printf oops >&2; nosuchcommand\n",
		"much":               "i=0; while [ $i -lt 3000 ]; do printf 'a banner without an end of the line, again and again; '; i=$((i+1)); done\n",
		"as if it were moon": "printf 'moon agen'\n",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, 1)
			if err := os.RemoveAll(filepath.Join(f.servers[0].Home, ".cache")); err != nil {
				t.Fatal(err)
			}
			f.put(f.servers[0], ".bashrc", "echo rc >>~/rc\n"+text)
			f.put(f.servers[0], ".zshenv", "echo rc >>~/rc\n"+text)
			for range 2 { // also when moon is there already
				f.recap(f.play(0, oneStep), "web1 ok=1 changed=1")
			}
			f.has(1, "log", "step\nstep\n")
			if _, err := os.Stat(filepath.Join(f.servers[0].Home, "rc")); err != nil {
				t.Skip("the login shell of this user reads no such file")
			}
		})
	}
}

// TestFleetLoginEnds has what a login says that ends by itself be the reason, at once.
func TestFleetLoginEnds(t *testing.T) {
	f := newFleet(t, 1)
	f.put(f.servers[0], ".bashrc", "echo rc >>~/rc; printf 'This account is closed.'; exit 3\n")
	began := time.Now()
	out := f.play(1, oneStep)
	if _, err := os.Stat(filepath.Join(f.servers[0].Home, "rc")); err != nil {
		t.Skip("the login shell of this user reads no such file")
	}
	f.recap(out, "web1 unreachable=1")
	if !strings.Contains(out, "This account is closed.") {
		t.Errorf("it is not said why\n%s", out)
	}
	if took := time.Since(began); took > fakes.Patience {
		t.Errorf("it took %s", took)
	}
	f.hasNot(1, "log")
}

// TestFleetNoHome reaches a host where the home of the user is not there: what needs no home runs, what does says so, and none is made.
func TestFleetNoHome(t *testing.T) {
	f := newFleet(t, 1)
	s := f.servers[0]
	if err := os.RemoveAll(s.Home); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(f.dir, "log")
	out := f.play(1, `
- hosts: web
  gather_facts: false
  tasks:
    - shell: echo first >>`+log+`
      args: {chdir: /}
    - shell: echo second >>`+log+`
      ignore_errors: true
    - copy: {content: third, dest: "~/third"}
`)
	if _, err := os.Lstat(s.Home); err == nil {
		t.Error("a home was made")
	}
	f.recap(out, "web1 ok=2 changed=1 failed=1 ignored=1")
	if text, err := os.ReadFile(log); err != nil || string(text) != "first\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, want := range []string{"cwd " + s.Home + " does not exist", "directory " + s.Home + " does not exist"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q\n%s", want, out)
		}
	}
}
