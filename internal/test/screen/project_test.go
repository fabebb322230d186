package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/internal/test/fakes"
)

// TestProjectSettings lets a person be asked once whether what a project sets counts, and the TUI show what was not trusted.
func TestProjectSettings(t *testing.T) {
	playbook := playbookOf(t, "- name: make it\n  print: hello\n  confirm: really?\n")
	file := filepath.Join(filepath.Dir(playbook), ".moon.yaml")
	if err := os.WriteFile(file, []byte("banner: acceptance\napprove: all\nnotify: \"false\"\nkeys: keys.yaml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(settings(t, ""), "XDG_STATE_HOME="+t.TempDir())
	c := fakes.OpenTerminal(t, 100, 24, env, "tui", playbook)
	c.See("The project sets approve (line 2), keys (line 4) in", "Do you trust 1 file, as it is now?")
	c.Press("n\r", "REVIEW", "ACCEPTANCE", "`approve` of the project is ignored")
	c.Press("q")
	c.End()
	if err := os.WriteFile(filepath.Join(filepath.Dir(playbook), "keys.yaml"), []byte("run.leave: Q\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c = fakes.OpenTerminal(t, 100, 24, env, "tui", playbook)
	c.See("Do you trust 1 file, as it is now?")
	c.Press("y\r", "REVIEW", "ACCEPTANCE", "1 approved")
	c.Press("Q")
	c.End()
	c = fakes.OpenTerminal(t, 100, 24, env, "tui", playbook)
	c.See("REVIEW", "1 approved")
	c.Press("Q")
	if c.End(); strings.Contains(c.Written(), "Do you trust") {
		t.Error("it asks again")
	}
}
