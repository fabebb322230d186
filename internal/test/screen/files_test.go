package screen

import (
	"os"
	"strings"
	"testing"

	"moon/internal/test/fakes"
)

// TestFilesAreWatched edits a playbook while it is watched: in the review, after the run, with a mistake, and with its remedy. Nothing runs
// that was not approved, and what is done and is the same runs once.
func TestFilesAreWatched(t *testing.T) {
	playbook := playbookOf(t, "- {name: one, shell: echo one >> log}\n- {name: two, shell: echo two >> log}\n")
	write := func(text string) {
		if err := os.WriteFile(playbook, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := fakes.OpenTerminal(t, 120, 30, nil, "tui", playbook)
	c.See("REVIEW", "2 steps")
	c.Press("w", "watching files")
	write("- {name: one, shell: echo one >> log}\n- {name: two, shell: echo two2 >> log}\n")
	c.See("site.yml: 1 step changed")
	c.Press("Ac", "DONE", "2/2", "watching files")
	write("- {name: one, shell: echo one >> log}\n- {name: two, shell: echo two2 >> log}\n- {name: three, shell: [\n")
	c.See("1 mistake", "is not closed")
	write("- {name: one, shell: echo one >> log}\n- {name: two, shell: echo two2 >> log}\n- {name: three, shell: echo three >> log}\n")
	c.See("= ├   two", "◇ └   three", "2/3", "watching files")
	c.Press("Ac", "DONE", "3/3")
	c.Press("w", "files are not watched any more")
	c.Press("q")
	code, left := c.End()
	text, err := os.ReadFile(strings.TrimSuffix(playbook, "site.yml") + "log")
	if err != nil || string(text) != "one\ntwo2\nthree\n" || code != 0 {
		t.Errorf("exit %d, %v, ran %q, left in the terminal:\n%s", code, err, text, left)
	}
}
