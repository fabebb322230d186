package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/internal/test/fakes"
)

// drifting is a plan of three files with what comes after each, saved with its predictions. All three were edited since.
func drifting(t *testing.T) (dir, plan string, write func(name, text string)) {
	t.Helper()
	dir = t.TempDir()
	write = func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := "steps:\n"
	for _, name := range []string{"one", "two", "three"} {
		text += "- name: write " + name + "\n  copy: {content: \"new\\n\", dest: " + name + "}\n- shell: echo after " + name + " >> log\n"
		write(name, "old\n")
	}
	write("site.yml", text)
	plan = filepath.Join(dir, "site.plan")
	c := fakes.OpenTerminal(t, 120, 40, nil, "plan", "--check", "-o", plan, filepath.Join(dir, "site.yml"))
	if code, left := c.End(); code != 0 {
		t.Fatalf("exit %d: %s", code, left)
	}
	for _, name := range []string{"one", "two", "three"} {
		write(name, "edited\n")
	}
	return dir, plan, write
}

// checkFiles compares files of a directory.
func checkFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if os.IsNotExist(err) && text == "" {
			continue
		}
		if err != nil || string(got) != text {
			t.Errorf("%s has %q, want %q: %v", name, got, text, err)
		}
	}
}

// TestDriftOnScreen edits files between the plan and the run. Each step that would do something else waits: one is tried again, which
// predicts it again, and accepted; one is tried again after its file was put back; one is skipped. Exactly that is done.
func TestDriftOnScreen(t *testing.T) {
	t.Parallel()
	dir, plan, write := drifting(t)
	c := fakes.OpenTerminal(t, 120, 40, []string{"XDG_STATE_HOME=" + dir + "/state"}, "tui", "--plan", plan, "--exact")
	c.See("REVIEW", "3 steps could not be predicted and run as they are")
	c.Press("Ac", "DRIFTED: not done", "accept what it would do now, and do it", "-edited", "(attempt 1)")
	c.Press("r", "DRIFTED: not done", "(attempt 2)")
	checkFiles(t, dir, map[string]string{"one": "edited\n", "log": ""})
	c.Press("a", "changed  ")
	checkFiles(t, dir, map[string]string{"one": "new\n", "two": "edited\n", "log": ""})
	c.Press("c", "DRIFTED: not done", "predicted to update")
	checkFiles(t, dir, map[string]string{"two": "edited\n", "log": "after one\n"})
	write("two", "old\n")
	c.Press("r", "changed  ")
	checkFiles(t, dir, map[string]string{"two": "new\n", "three": "edited\n", "log": "after one\n"})
	c.Press("c", "DRIFTED: not done")
	c.Press("x", "DONE")
	c.Press("q")
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	checkFiles(t, dir, map[string]string{"one": "new\n", "two": "new\n", "three": "edited\n", "log": "after one\nafter two\nafter three\n"})
}

// seeTwice waits until a text is on the screen a second time.
func seeTwice(t *testing.T, c *fakes.Terminal, text string) {
	t.Helper()
	for end := time.Now().Add(fakes.Patience); strings.Count(c.Screen(), text) < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not a second time: %q\n%s", text, c.Screen())
		}
	}
}

// TestDriftInLines is the same in words, with a request of another process for one of the steps.
func TestDriftInLines(t *testing.T) {
	t.Parallel()
	dir, plan, write := drifting(t)
	state := "XDG_STATE_HOME=" + dir + "/state"
	c := fakes.OpenTerminal(t, 120, 40, []string{state}, "tui", "--ui", "lines", "--plan", plan, "--exact")
	c.See("REVIEW", "3 steps could not be predicted and run as they are")
	c.Press("approve all\r", "approved 6 steps.")
	c.Press("run\r", "PAUSED: step 1 write one has drifted.", "accept, retry,")
	c.Press("accept 3\r", "nothing here has drifted.")
	c.Press("accept all\r", "accept takes one step.")
	c.Press("retry\r", "trying 1 step again.")
	seeTwice(t, c, "PAUSED: step 1 write one has drifted.") // before that nothing can be accepted
	checkFiles(t, dir, map[string]string{"one": "edited\n", "log": ""})
	c.Press("accept\r", "accepted what step 1 write one would do now; trying it again.", "changed")
	c.Press("run\r", "PAUSED: step 3 write two has drifted.")
	checkFiles(t, dir, map[string]string{"one": "new\n", "two": "edited\n", "log": "after one\n"})
	time.Sleep(50 * time.Millisecond)
	write("two", "again\n") // another effect than the one that was shown
	c.Press("accept\r", "would now update (content, 6 bytes", "PAUSED: step 3 write two has drifted.")
	seeTwice(t, c, "PAUSED: step 3 write two has drifted.")
	checkFiles(t, dir, map[string]string{"two": "again\n", "log": "after one\n"})
	other := fakes.OpenTerminal(t, 120, 40, []string{state}, "attach", "--send", "accept=write two")
	if code, left := other.End(); code != 0 {
		t.Errorf("exit %d: %s", code, left)
	}
	c.Press("run\r", "PAUSED: step 5 write three has drifted.")
	checkFiles(t, dir, map[string]string{"two": "new\n", "three": "edited\n", "log": "after one\nafter two\n"})
	c.Press("skip\r")
	c.See("DONE")
	c.Press("\x04")
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c.CheckSpoken()
	checkFiles(t, dir, map[string]string{"three": "edited\n", "log": "after one\nafter two\nafter three\n"})
}
