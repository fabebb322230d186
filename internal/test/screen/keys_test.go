package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/internal/app"
	"moon/internal/test/fakes"
)

// TestOwnKeys opens the screen with a person's own keys, and not at all with a file that has mistakes.
func TestOwnKeys(t *testing.T) {
	dir := t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	keys := filepath.Join(dir, "config/moon/keys.yaml")
	write := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(playbook, "- name: first\n  shell: echo one\n  register: said\n- name: second\n  shell: echo two\n- name: third\n  shell: echo three\n")
	env := []string{"XDG_CONFIG_HOME=" + dir + "/config", "XDG_STATE_HOME=" + dir + "/state"}
	write(keys, "run.step: [S]\nrun.continue: g c\n")
	c := fakes.OpenTerminal(t, 100, 30, env, "tui", playbook)
	c.See("REVIEW", "S step", "g c run")
	c.Press("S", "PAUSED", "before  second")
	c.Press("A", "‖ ├   second")
	// A watch, and a breakpoint with a condition, of which the engine says what it is.
	c.Press("Wsaid.stdout\r", "said.stdout", `"one\n"`)
	c.Press("\x1b", "Watch")
	c.SeeGone("Watch an expression")
	c.Press("GB", "Breakpoint before third")
	c.Press("said.stdut ==", "ends too early")
	c.Press(strings.Repeat("\x7f", 40)+"said.stdout == 'one\\n'", "at the pointer it is true")
	c.Press("\r", "◉  · └   third")
	c.Press("g", "g …", "c run, continue")
	c.Press("c", "PAUSED at breakpoint", "◉ here   hit 1   condition: said.stdout == 'one\\n'")
	c.Press(":p said.rc\r", "said.rc = 0")
	c.Press("gc", "DONE")
	c.Press("q")
	if code, left := c.End(); code != 0 || !strings.Contains(left, "DONE") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}

	// It opens as it was left.
	c = fakes.OpenTerminal(t, 100, 30, env, "tui", playbook)
	c.See("REVIEW", "Watch", "said.stdout", "after step-0001")
	c.Press("q")
	c.End()

	write(keys, "run.step: [S]\nrun.over: S\n")
	c = fakes.OpenTerminal(t, 100, 30, env, "tui", playbook)
	if code, left := c.End(); code != app.ExitUsage || !strings.Contains(left, "keys.yaml:2:11: error: `S` cannot be run.over") || strings.Contains(left, "REVIEW") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// A damaged view is forgotten, with one message, and made anew; the oldest are forgotten when there are too many.
func TestDamagedView(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	if err := os.WriteFile(playbook, []byte("- shell: echo one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"XDG_STATE_HOME=" + dir + "/state"}
	views := filepath.Join(dir, "state/moon/view")
	leave := func(sees ...string) string {
		t.Helper()
		c := fakes.OpenTerminal(t, 100, 30, env, "tui", playbook)
		c.See(append(sees, "REVIEW")...)
		screen := c.Screen()
		c.Press("4q")
		c.End()
		return screen
	}
	leave()
	files, err := filepath.Glob(filepath.Join(views, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("views: %v, %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	const viewsKept, viewSize = 200, 1 << 20 // as docs/tui.md has it
	for _, damage := range []string{"", "{", "[1, 2]", `{"watches": 3}`, strings.Repeat("x", viewSize+1)} {
		if err := os.WriteFile(files[0], []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		leave("cannot be read, and is forgotten")
		if screen := leave(); strings.Contains(screen, "forgotten") {
			t.Errorf("it is said again\n%s", screen)
		}
	}
	for i := range viewsKept + 5 {
		name := filepath.Join(views, strings.Repeat("0", 20)+string(rune('a'+i%26))+string(rune('a'+i/26))+".json")
		if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	if files, _ := filepath.Glob(filepath.Join(views, "*.json")); len(files) != viewsKept {
		t.Errorf("%d views are kept", len(files))
	}
}
