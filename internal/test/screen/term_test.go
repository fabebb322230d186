package screen

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"

	"moon/internal/test/fakes"
)

// threeSteps is a playbook whose second step asks.
const threeSteps = `
- name: say hello
  shell: echo hello
- name: look around
  shell: echo around
  confirm: really look?
- name: fehlgeschlagen ☂ 日本語
  shell: exit 3
  ignore_errors: true
`

// walkThrough goes through the screen, with texts as a set of glyphs draws them.
func walkThrough(c *fakes.Terminal, approved, asks, changed string) {
	c.T.Helper()
	c.See("REVIEW", "say hello", asks+" ")
	c.Press("A", approved+" ")
	c.Press("?", "esc closes")
	c.Press("\x1b")
	c.SeeGone("esc closes")
	c.Press("c", "PAUSED", "look around")
	c.Press("a", "continue")
	c.Press("c", "DONE", changed+" ")
	c.Press("q")
}

var termColours = regexp.MustCompile(`\x1b\[[0-9;:]*(3[0-79]|9[0-7]|38[;:])[0-9;:]*m`)

// TestTerms shows the screen in terminals of several kinds: each gets the glyphs and the colours that it can show.
func TestTerms(t *testing.T) {
	tests := []struct {
		term    string
		env     []string
		unicode bool
		colours string // none, few or all
	}{
		{"xterm-256color", nil, true, "256"},
		{"screen", nil, true, "16"},
		{"screen-256color", nil, true, "256"},
		{"tmux-256color", nil, true, "256"},
		{"xterm-kitty", nil, true, "256"},
		{"linux", nil, false, "16"},
		{"vt100", nil, true, "none"},
		{"xterm-256color", []string{"LANG=C"}, false, "256"},
		{"xterm-256color", []string{"NO_COLOR=1"}, true, "none"},
	}
	for _, tt := range tests {
		t.Run(tt.term+strings.Join(tt.env, ""), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			playbook := filepath.Join(dir, "playbook.yml")
			if err := os.WriteFile(playbook, []byte(threeSteps), 0o600); err != nil {
				t.Fatal(err)
			}
			c := fakes.OpenTerminal(t, 80, 24, append([]string{"TERM=" + tt.term, "COLORTERM=", "TMUX=", "STY="}, tt.env...), "tui", playbook)
			if tt.unicode {
				walkThrough(c, "◆", "!", "~")
			} else {
				walkThrough(c, "+", "!", "~")
			}
			code, left := c.End()
			if code != 0 || !strings.Contains(left, "DONE") {
				t.Errorf("exit %d, left in the terminal:\n%s", code, left)
			}
			c.CheckClean()
			said := c.Written()
			if got := len(termColours.FindAllString(said, -1)) > 0; got != (tt.colours != "none") {
				t.Errorf("colours: %t", got)
			}
			if tt.colours != "256" && strings.Contains(said, "38;5;") || strings.Contains(said, "38;2;") {
				t.Error("more colours than the terminal has")
			}
		})
	}
}

// TestDumbTerminal talks in lines where nothing could be drawn.
func TestDumbTerminal(t *testing.T) {
	dir := t.TempDir()
	playbook := filepath.Join(dir, "playbook.yml")
	if err := os.WriteFile(playbook, []byte(threeSteps), 0o600); err != nil {
		t.Fatal(err)
	}
	c := fakes.OpenTerminal(t, 80, 24, []string{"TERM=dumb"}, "tui", playbook)
	c.See("REVIEW", "approve all")
	c.Press("quit\r")
	if code, left := c.End(); code != 3 || !strings.Contains(left, "nothing was run") || strings.Contains(c.Written(), "\x1b") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// TestInsideOthers shows the screen inside of programs that are terminals themselves. What stays is the report.
func TestInsideOthers(t *testing.T) {
	socket := fmt.Sprintf("moon-test-%d", os.Getpid())
	for _, other := range []struct {
		name string
		args []string
		ends []string
	}{
		{"tmux", []string{"-L", socket, "-f", "/dev/null", "new-session"}, []string{"-L", socket, "kill-server"}},
		{"screen", []string{"-U", "-c", "/dev/null", "-S", socket}, []string{"-S", socket, "-X", "quit"}},
	} {
		t.Run(other.name, func(t *testing.T) {
			path, err := exec.LookPath(other.name)
			if err != nil {
				t.Skip("not installed:", err)
			}
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o700); err != nil { // as screen wants it for its socket
				t.Fatal(err)
			}
			playbook := filepath.Join(dir, "playbook.yml")
			if err := os.WriteFile(playbook, []byte(threeSteps), 0o600); err != nil {
				t.Fatal(err)
			}
			c := fakes.OpenProgram(t, 90, 30, []string{"TMUX=", "STY=", "SCREENDIR=" + dir, "DIR=" + dir}, func(moon string) *exec.Cmd {
				script := moon + " tui " + playbook + "; echo left=$?; read x"
				return exec.Command(path, append(other.args, "sh", "-c", script)...)
			})
			t.Cleanup(func() {
				end := exec.Command(path, other.ends...)
				end.Env = append(os.Environ(), "SCREENDIR="+dir)
				_ = end.Run() // it may have ended by itself
			})
			c.See("REVIEW")
			c.Resize(100, 26)
			c.See("┬─ 1 Step")
			walkThrough(c, "◆", "!", "~")
			c.See("left=0")
			if left := c.Screen(); strings.ContainsAny(left, "│┬┴◆") || strings.Contains(left, "2026") && !strings.Contains(left, "runs/") {
				t.Errorf("left in the terminal:\n%s", left)
			}
			c.Press("\r")
			_, _ = c.End()
		})
	}
}

// TestResizeStorm gives the terminal 96 sizes in a row while keys are pressed. Then the screen is as if it had always
// had the last one.
func TestResizeStorm(t *testing.T) {
	playbook := filepath.Join(t.TempDir(), "playbook.yml")
	if err := os.WriteFile(playbook, []byte(threeSteps), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *fakes.Terminal {
		c := fakes.OpenTerminal(t, 80, 24, nil, "tui", playbook)
		c.See("REVIEW")
		return c
	}
	c := start()
	sizes := [][2]int{{1, 1}, {500, 3}, {3, 100}, {40, 10}, {39, 9}, {100, 16}, {99, 30}}
	random := uint32(1)
	for len(sizes) < 96 {
		random = random*1664525 + 1013904223
		sizes = append(sizes, [2]int{1 + int(random>>8%300), 1 + int(random>>20%90)})
	}
	for i, size := range sizes {
		c.Resize(size[0], size[1])
		c.Press([]string{"j", "k", "G", "gg", "-", "="}[i%6])
		if i%10 == 0 { // no size at all, as a terminal has while it is being made
			if err := pty.Setsize(c.Keys.(*os.File), &pty.Winsize{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	calm := start()
	for _, c := range []*fakes.Terminal{c, calm} {
		c.Resize(110, 30)
		c.Press("=gg?", "Keys in")
		c.Press("\x1b")
		c.SeeGone("Keys in")
		c.See("REVIEW", "say hello", "┴")
	}
	if got, want := c.Screen(), calm.Screen(); got != want {
		t.Errorf("after the storm:\n%s\nwithout it:\n%s", got, want)
	}
	for _, c := range []*fakes.Terminal{c, calm} {
		c.Press("q")
		_, _ = c.End()
		c.CheckClean()
	}
}
