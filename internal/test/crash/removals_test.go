package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// removal is a playbook that has made things, and a command that takes them away.
type removal struct {
	name  string
	full  string // what is run first; DIR is the test's directory
	short string // what the command is given; "": the same
	verb  string
	args  []string
	undos int // lines that the removal adds to the log
}

const madeSteps = `- name: directory
  file: {path: DIR/made/deep/er, state: directory}
- name: page
  copy: {content: "hello\n", dest: DIR/made/deep/er/page}
- name: lines
  lineinfile: {path: DIR/old.txt, line: one}
- name: block
  blockinfile: {path: DIR/old.txt, block: "x\ny"}
- name: link
  file: {path: DIR/made/link, state: link, src: DIR/old.txt}
- name: "does {{ item }}"
  shell: touch DIR/made/{{ item }}
  loop: [a, b, c]
  undo:
    shell: echo undo {{ item }} >> DIR/log; rm -f DIR/made/{{ item }}
`

const madePlays = `- hosts: all
  gather_facts: false
  tasks:
    - name: directory
      file: {path: "DIR/made/{{ inventory_hostname }}", state: directory}
    - name: "page {{ item }}"
      copy: {content: "hello\n", dest: "DIR/made/{{ inventory_hostname }}/{{ item }}"}
      loop: [a, b]
    - name: does
      shell: touch DIR/made/{{ inventory_hostname }}/done
      undo:
        shell: echo undo {{ inventory_hostname }} >> DIR/log; rm -f DIR/made/{{ inventory_hostname }}/done
- hosts: all
  gather_facts: false
  tasks:
    - name: later
      shell: touch DIR/made/{{ inventory_hostname }}/later
      undo:
        shell: echo undo later {{ inventory_hostname }} >> DIR/log; rm -f DIR/made/{{ inventory_hostname }}/later
`

const lessPlays = "- hosts: all\n  gather_facts: false\n  tasks:\n    - name: stays\n      debug: {msg: stays}\n"

var removals = []removal{
	{"orphans", madeSteps, "- name: stays\n  debug: {msg: stays}\n", "run", []string{"--orphans", "remove"}, 3},
	{"destroy", madeSteps, "", "destroy", nil, 3},
	{"orphans of plays", madePlays, lessPlays, "run", []string{"-i", "testdata/playbooks/opened/hosts", "--orphans", "remove"}, 4},
	{"destroy plays", madePlays, "", "destroy", []string{"-i", "testdata/playbooks/opened/hosts"}, 4},
}

// removed is a removal under way, in a directory of its own.
type removed struct {
	fakes.Patient
	removal
	before []string // what there was before anything was made
}

// makeFirst runs the playbook as it was, and leaves it as the removal finds it.
func (r removal) makeFirst(t *testing.T) *removed {
	t.Helper()
	dir := t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "DIR", dir)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "old.txt"), "was there\n")
	if err := os.Mkdir(filepath.Join(dir, "made"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "made/mine"), "of a person\n")
	p := &removed{Patient: fakes.Patient{T: t, Dir: dir, Playbook: playbook}, removal: r}
	p.before = p.machine()
	write(playbook, r.full)
	if at := slices.Index(r.args, "-i"); at >= 0 {
		p.Args = r.args[at : at+2]
	}
	if l := p.Live(p.Command("run"), nil); !l.Ended {
		t.Fatal(l.Stderr)
	}
	p.Args = r.args
	if r.short != "" {
		write(playbook, r.short)
	}
	return p
}

// machine is what there is.
func (p *removed) machine() []string {
	text, err := os.ReadFile(filepath.Join(p.Dir, "old.txt"))
	if err != nil {
		p.T.Fatal(err)
	}
	return append(fakes.ListTree(p.T, filepath.Join(p.Dir, "made")), string(text))
}

// die begins the removal, which dies at a point.
func (p *removed) die(at int) (killed bool, stderr string) {
	cmd := p.Command("run", fmt.Sprintf("%s=%d", fakes.DieAtVariable, at))
	cmd.Args[1] = p.verb
	l := p.Live(cmd, nil)
	return l.Killed, l.Stderr
}

// check compares with what there was before, and counts what was undone.
func (p *removed) check(deaths int) {
	p.T.Helper()
	if got := p.machine(); !slices.Equal(got, p.before) {
		p.T.Errorf("the machine has\n%s\nbefore it had\n%s", strings.Join(got, "\n"), strings.Join(p.before, "\n"))
	}
	cmd := p.Command("run")
	cmd.Args = append(cmd.Args[:1:1], "state", p.Playbook)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "nothing is recorded") {
		p.T.Errorf("the state still has, %v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(p.Dir, "log"))
	if err != nil {
		p.T.Fatal(err)
	}
	ran, twice := map[string]int{}, 0
	for line := range strings.Lines(string(text)) {
		ran[line]++
	}
	for line, n := range ran {
		if n > 1 {
			twice++
		}
		if n > 1+deaths {
			p.T.Errorf("%s ran %d times in %d deaths", strings.TrimSpace(line), n, deaths)
		}
	}
	// Of steps next to each other a death may interrupt all that run at once, which are no more than there are hosts or forks.
	if len(ran) != p.undos || deaths == 0 && twice > 0 {
		p.T.Errorf("what was undone:\n%s", text)
	}
}

// TestDieRemoving lets moon die at each point of a run that removes orphans and of a destroy, and then either resumes it or gives the same
// command again. At the end the machine is as it was before anything was made, and nothing is recorded.
func TestDieRemoving(t *testing.T) {
	for _, r := range removals {
		t.Run(r.name, func(t *testing.T) {
			whole := r.makeFirst(t)
			_, stderr := whole.die(0)
			whole.check(0)
			_, text, _ := strings.Cut(stderr, "\npoints ")
			var points int
			if _, err := fmt.Sscan(text, &points); err != nil || points < 30 {
				t.Fatalf("%d points, %v: %s", points, err, stderr)
			}
			stride, from := 1, 1
			if !assault.All() {
				stride = 6
				if testing.Short() {
					stride = 16
				}
				from = 1 + rand.IntN(stride)
			}
			t.Logf("%d points, every %d from %d", points, stride, from)
			for _, again := range []bool{false, true} {
				for k := from; k <= points; k += stride {
					t.Run(fmt.Sprintf("again=%v/%d", again, k), func(t *testing.T) {
						t.Parallel()
						assault.Tried(t, "deaths while something is removed", 1)
						p := r.makeFirst(t)
						if killed, stderr := p.die(k); !killed && k < points-10 {
							t.Fatalf("it did not die: %s", stderr)
						}
						if again {
							p.die(0)
						} else {
							p.resumeToEnd()
						}
						p.check(1)
					})
				}
			}
		})
	}
}

// resumeToEnd resumes the removal, and begins it again if it had not begun.
func (p *removed) resumeToEnd() {
	p.T.Helper()
	cmd := p.Command("resume")
	runs, _ := filepath.Glob(filepath.Join(p.Dir, "state/moon/runs/*"))
	if l := p.Live(cmd, nil); !l.Ended || len(runs) < 2 { // the only run is the one that has made everything
		if _, stderr := p.die(0); !strings.Contains(stderr, "points") {
			p.T.Fatal(stderr)
		}
	}
}
