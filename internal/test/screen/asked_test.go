package screen

import (
	"os"
	"testing"

	"moon/internal/test/fakes"
)

// TestDoAsks answers the question of moon do, which shows the plan before.
func TestDoAsks(t *testing.T) {
	for answer, code := range map[string]int{"y": 0, "": 3} {
		dir := t.TempDir()
		made := dir + "/made"
		c := fakes.OpenTerminal(t, 100, 24, []string{"XDG_STATE_HOME=" + dir + "/state"}, "do", "localhost", "file", "path="+made, "state=touch")
		c.See("step-0001")
		c.See("Run this? [y/N]")
		if _, err := os.Stat(made); err == nil {
			t.Error("it was run before the answer")
		}
		c.Press(answer + "\r")
		if got, left := c.End(); got != code {
			t.Errorf("answer %q: exit %d\n%s", answer, got, left)
		}
		if _, err := os.Stat(made); (err == nil) != (answer == "y") {
			t.Errorf("answer %q: %v", answer, err)
		}
	}
}
