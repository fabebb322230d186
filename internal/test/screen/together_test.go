package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/internal/test/fakes"
)

// TestRetriedTogether has two failures at the end, which are retried with one key, and what hung on them follows; one step of three is
// marked as done and never runs. Each step appends to a file, which says what ran, and in which order for each of them.
func TestRetriedTogether(t *testing.T) {
	playbook := playbookOf(t, `strategy: graph
steps:
  - {name: one, id: one, shell: echo one >> log; test -e ok}
  - {name: after one, needs: [one], shell: echo after one >> log; echo some output}
  - {name: two, id: two, shell: echo two >> log; test -e ok}
  - {name: after two, needs: [two], shell: echo after two >> log}
  - {name: by person, id: three, shell: echo three >> log; exit 1}
  - {name: after three, needs: [three], shell: echo after three >> log}
`)
	dir := filepath.Dir(playbook)
	ran := func() map[string]int {
		text, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		times := map[string]int{}
		for line := range strings.Lines(string(text)) {
			times[strings.TrimSpace(line)]++
		}
		return times
	}
	c := fakes.OpenTerminal(t, 120, 40, nil, "tui", playbook, "--on-failure", "continue", "--forks", "1")
	c.See("REVIEW", "6 steps")
	c.Press("Ac", "PAUSED on failure")
	c.Press("c", "✗ ├   two")
	c.Press("c", "✗ ├   by person", "PAUSED on failure")
	c.Press("D", "Mark as done?")
	c.Press("m", "by hand", "PAUSED")
	c.Press("c", "FAILED", "R retries all that failed")
	if got := ran(); got["three"] != 1 || got["after three"] != 1 || got["after one"]+got["after two"] != 0 {
		t.Errorf("before the retry: %v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "ok"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Press("R", "DONE", "6/6", "2 retried", "Marked as done by hand (not run)")
	if got := ran(); got["one"] != 2 || got["two"] != 2 || got["after one"] != 1 || got["after two"] != 1 || got["three"] != 1 {
		t.Errorf("after the retry: %v", got)
	}
	c.Press("L", "after one", "some output")
	c.Press("\r", "enter", "1 line")
	c.Press("\x1b", "D this step again")
	c.Press("D", "Run again?", "run this step with what it needs")
	c.Press("r", "REVIEW", "2 not approved")
	c.Press("Ac", "DONE (changed)")
	if got := ran(); got["one"] != 3 || got["after one"] != 2 || got["two"] != 2 || got["after two"] != 1 {
		t.Errorf("after another run of a step: %v", got)
	}
	c.Press("q")
	code, left := c.End()
	if code != 0 || !strings.Contains(left, "Marked as done by hand (not run)\n  by person   playbook.yml:7\n") &&
		!strings.Contains(left, "Marked as done by hand (not run)\n  by person   site.yml:7\n") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}
