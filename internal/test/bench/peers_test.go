package bench

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// peer is a program that does the same work as moon.
type peer struct {
	name  string
	most  int // steps that it is given at most: some take a third of a second for each
	write func(dir string, n int) map[string]string
	argv  []string // in the directory of what was written
}

// work is what all of them do.
type work struct {
	name  string
	ready bool // it is done once before it is measured, so that nothing is left to do
	peers []peer
}

// TestPeers has moon and others do the same work in turns, and prints what that takes. It judges nothing: times are for people to compare.
// A program that is not installed is named as missing. `make perf-peers` runs it.
func TestPeers(t *testing.T) {
	if os.Getenv("BENCH") != "peers" {
		t.Skip("BENCH=peers measures moon next to sh, make, ninja and ansible-playbook; it takes minutes")
	}
	const steps, rounds = 500, 3
	moon := filepath.Join(t.TempDir(), "moon")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", moon, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var table strings.Builder
	table.WriteString("| work | program | one step | steps | all of them | each further step | over moon's |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, w := range peerWorks(moon) {
		moons := 0.0
		for _, p := range w.peers {
			if _, err := exec.LookPath(p.argv[0]); err != nil {
				fmt.Fprintf(&table, "| %s | %s | not installed | | | | |\n", w.name, p.name)
				continue
			}
			n := steps
			if p.most > 0 {
				n = min(n, p.most)
			}
			one, all := p.measure(t, w.ready, n, rounds)
			each := float64((all - one).Microseconds()) / float64(n-1)
			if moons == 0 { // it comes first
				moons = each
			}
			fmt.Fprintf(&table, "| %s | %s | %d ms | %d | %d ms | %.0f µs | %.2f × |\n", w.name, p.name, one.Milliseconds(), n, all.Milliseconds(),
				each, each/moons)
		}
	}
	t.Log("best of ", rounds, "\n", table.String())
}

// measure is the best time for one step and for n of them.
func (p *peer) measure(t *testing.T, ready bool, n, rounds int) (one, all time.Duration) {
	t.Helper()
	one, all = math.MaxInt64, math.MaxInt64
	few, many := p.prepare(t, ready, 1), p.prepare(t, ready, n)
	for range rounds {
		one, all = min(one, p.run(t, few)), min(all, p.run(t, many))
	}
	return one, all
}

// prepare writes down n steps, and says where.
func (p *peer) prepare(t *testing.T, ready bool, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range p.write(dir, n) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if ready {
		p.run(t, dir)
	}
	return dir
}

func (p *peer) run(t *testing.T, dir string) time.Duration {
	t.Helper()
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "ANSIBLE_LOCALHOST_WARNING=false", "ANSIBLE_RETRY_FILES_ENABLED=false")
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(p.argv, " "), err, out)
	}
	return time.Since(begin)
}

// peerWorks are the kinds of work. Every step is a process that does as little as a process can, or none.
func peerWorks(moon string) []work {
	ansible := func(task string) func(string, int) map[string]string {
		return func(_ string, n int) map[string]string {
			return map[string]string{"play.yml": "- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks:\n" + listed(n, task)}
		}
	}
	run := []string{moon, "run", "--forks", "2", "playbook.yml"}
	play := []string{"ansible-playbook", "-i", "localhost,", "play.yml"}
	return []work{
		{"one process after another", false, []peer{
			{"moon", 0, oneFile("playbook.yml", "", "- command: /bin/true\n"), run},
			{"sh", 0, oneFile("script.sh", "", "/bin/true\n"), []string{"sh", "-e", "script.sh"}},
			{"make", 0, chained("Makefile", "", "t%d: %s\n\t@/bin/true\n", "t%d"), []string{"make", "-s"}},
			{"ninja", 0, chained("build.ninja", "rule r\n command = /bin/true\n", "build t%d: r %s\n", "t%d"), []string{"ninja", "--quiet"}},
			{"ansible-playbook", 20, ansible("    - command: /bin/true\n"), play},
		}},
		{"two processes at a time", false, []peer{
			{"moon", 0, oneFile("playbook.yml", "- parallel: true\n  block:\n", "    - command: /bin/true\n"), run},
			{"xargs -P2", 0, oneFile("words", "", "word\n"), []string{"sh", "-c", "xargs -P2 -n1 /bin/true <words"}},
			{"make -j2", 0, gathered("Makefile", "all: %s\n", "t%d:\n\t@/bin/true\n", "t%d"), []string{"make", "-s", "-j2"}},
			{"ninja -j2", 0, gathered("build.ninja", "rule r\n command = /bin/true\nbuild all: phony %s\n", "build t%d: r\n", "t%d"), []string{"ninja", "--quiet", "-j2"}},
		}},
		{"nothing left to do", true, []peer{
			{"moon", 0, oneFile("playbook.yml", "", "- shell: touch o%d\n  creates: o%[1]d\n"), run},
			{"sh", 0, oneFile("script.sh", "", "[ -e o%d ] || touch o%[1]d\n"), []string{"sh", "-e", "script.sh"}},
			{"make", 0, gathered("Makefile", "all: %s\n", "o%d:\n\t@touch $@\n", "o%d"), []string{"make", "-s"}},
			{"ninja", 0, gathered("build.ninja", "rule r\n command = touch $out\nbuild all: phony %s\n", "build o%d: r\n", "o%d"), []string{"ninja", "--quiet"}},
			{"ansible-playbook", 20, ansible("    - command: touch o%d\n      args: {creates: o%[1]d}\n"), play},
		}},
	}
}

// listed is a text for each of n steps, which may have its number in it.
func listed(n int, text string) string {
	var b strings.Builder
	for i := range n {
		if strings.Contains(text, "%") {
			fmt.Fprintf(&b, text, i)
		} else {
			b.WriteString(text)
		}
	}
	return b.String()
}

func oneFile(name, head, text string) func(string, int) map[string]string {
	return func(_ string, n int) map[string]string { return map[string]string{name: head + listed(n, text)} }
}

// gathered is n steps that nothing binds to each other; head has the names of all.
func gathered(name, head, text, label string) func(string, int) map[string]string {
	return func(_ string, n int) map[string]string {
		return map[string]string{name: fmt.Sprintf(head, strings.TrimSpace(listed(n, label+" "))) + listed(n, text)}
	}
}

// chained is n steps each of which needs the one that is written after it: what is named first is asked for.
func chained(name, head, text, label string) func(string, int) map[string]string {
	return func(_ string, n int) map[string]string {
		var b strings.Builder
		b.WriteString(head)
		for i := range n {
			needs := ""
			if i+1 < n {
				needs = fmt.Sprintf(label, i+1)
			}
			fmt.Fprintf(&b, text, i, needs)
		}
		return map[string]string{name: b.String()}
	}
}
