package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/internal/test/fakes"
)

// TestPromptsOfSteps answers what a playbook of steps asks. When the run is resumed nothing is asked again but what is secret, which is
// kept nowhere.
func TestPromptsOfSteps(t *testing.T) {
	dir := t.TempDir()
	state := "XDG_STATE_HOME=" + filepath.Join(dir, "state")
	playbook := `vars_prompt:
  - {name: release, prompt: Which release, private: false}
  - {name: word, prompt: Password}
steps:
  - shell: echo {{ release }} {{ word }} >> log
  - shell: echo again {{ release }} {{ word }} >> log; test -e ready
`
	if err := os.WriteFile(filepath.Join(dir, "site.yml"), []byte(playbook), 0o600); err != nil {
		t.Fatal(err)
	}
	c := fakes.OpenTerminal(t, 100, 30, []string{state}, "run", filepath.Join(dir, "site.yml"))
	c.See("Which release")
	c.Press("seven\r", "Password")
	c.Press("geheim\r", "failed in")
	if code, left := c.End(); code != 1 || strings.Contains(left, "geheim") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c = fakes.OpenTerminal(t, 100, 30, []string{state}, "resume", "--no-tui", "--retry-failed")
	c.See("Password")
	c.Press("geheim\r", "done in")
	if code, left := c.End(); code != 0 || strings.Contains(left, "Which release") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	const want = "seven geheim\nagain seven geheim\nagain seven geheim\n"
	if log, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || string(log) != want {
		t.Errorf("the steps have written %q, not %q (%v)", log, want, err)
	}
}
