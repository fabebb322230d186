package screen

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// TestInteractive runs a step that asks for a password, without the screen and with it.
func TestInteractive(t *testing.T) {
	const text = `
- name: ask
  shell:
    cmd: |
      printf 'us%s: ' er; read user
      printf 'pass%s: ' word; read -s password; echo
      test "$password" = s3cret && echo "welcome $user" && tty -s && echo on a terminal
    interpreter: bash
  interactive: true
  register: r
- name: after
  shell: echo "{{ r.rc }} {{ r.stdout_lines[-1] }}" > $DIR/after
`
	for _, how := range []string{"run", "tui"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c, dir := fakes.OpenPlaybook(t, text, how)
			if how == "tui" {
				c.See("REVIEW")
				c.Press("Ac")
			}
			c.See("is using the terminal", "stop=now", "user:")
			c.Press("ada\r", "password:")
			c.Press("s3cret\r")
			if how == "tui" {
				c.See("DONE", "ask")
				c.Press("q")
			}
			code, left := c.End()
			if code != 0 || strings.Contains(left, "s3cret") {
				t.Errorf("exit %d, left in the terminal:\n%s", code, left)
			}
			c.CheckRestored()
			if got := fakes.ReadPrinted(t, dir, "*.out"); got != "user: ada\npassword: \nwelcome ada\non a terminal\n" {
				t.Errorf("recorded %q", got)
			}
			if after, err := os.ReadFile(dir + "/after"); err != nil || string(after) != "0 on a terminal\n" {
				t.Errorf("%q %v", after, err)
			}
		})
	}
}

// fullScreen is a program that does with a terminal what an editor does: it says its size, and ends by q, or by its own
// death, which leaves everything as it was.
const fullScreen = `
- name: edit
  shell: |
    stty raw -echo min 0 time 1
    printf '\033[?1049h\033[?25l\033[?1000;1006h\033[?2004h\033[?1h\033=\033[31m'
    size() { printf '\033[2J\033[Hsize %s.' "$(stty size)"; }
    trap size WINCH
    size
    while :; do
      key=$(dd bs=1 count=1 2>/dev/null | od -An -c | tr -d ' ')
      case $key in
      q) printf '\033[m\033>\033[?1l\033[?2004l\033[?1000;1006l\033[?25h\033[?1049l'; stty sane; exit 0 ;;
      x) kill -9 $$ ;;
      003) printf 'interrupted.' ;;
      032) printf 'suspended.' ;;
      esac
    done
  interactive: true
  ignore_errors: true
- name: after
  shell: echo ran > $DIR/after
`

// TestFullScreenProgram resizes a full-screen program, types what would be signals, and ends it well and badly.
func TestFullScreenProgram(t *testing.T) {
	assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
	for _, how := range []string{"run", "tui"} {
		for _, end := range []string{"q", "x"} {
			t.Run(how+" "+end, func(t *testing.T) {
				assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
				t.Parallel()
				c, dir := fakes.OpenPlaybook(t, fullScreen, how)
				if how == "tui" {
					c.See("REVIEW")
					c.Press("Ac")
				}
				c.See("size 24 80.")
				c.Resize(100, 30)
				c.See("size 30 100.")
				c.Press("\x03", "interrupted.")
				c.Press("\x1a", "suspended.")
				c.Press(end)
				if how == "tui" {
					c.See("DONE", "after")
					c.Press("q")
				}
				if code, left := c.End(); code != 0 {
					t.Errorf("exit %d, left in the terminal:\n%s", code, left)
				}
				c.CheckRestored()
				if _, err := os.Stat(dir + "/after"); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestInterruptInteractive types ctrl-c: it ends the program, which is the step's business and not moon's.
func TestInterruptInteractive(t *testing.T) {
	c, dir := fakes.OpenPlaybook(t, `
- name: wait
  command: [cat]
  interactive: true
  ignore_errors: true
- shell: echo ran > $DIR/after
`, "run")
	c.See("is using the terminal")
	c.Press("hello\r", "hello\nhello") // once typed, and once said: it is cat that has the terminal
	c.Press("\x03")
	if code, left := c.End(); code != 0 || !strings.Contains(left, "SIGINT") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c.CheckRestored()
	if _, err := os.Stat(dir + "/after"); err != nil {
		t.Error(err)
	}
}

// TestEndInteractive ends moon, or has another one end the step, while a program has made the terminal its own.
func TestEndInteractive(t *testing.T) {
	stubborn := strings.Replace(fullScreen, "stty raw", "trap '' INT TERM HUP; stty raw", 1)
	tests := []struct {
		name, how, text string
		end             func(t *testing.T, c *fakes.Terminal, dir string)
		code            int
	}{
		{"SIGTERM", "run", fullScreen, signalled(syscall.SIGTERM), 130},
		{"SIGTERM", "tui", fullScreen, signalled(syscall.SIGTERM), 130},
		{"stop=now", "run", stubborn, stopped, 130},
		{"stop=now", "tui", stubborn, stopped, 130},
	}
	for _, tt := range tests {
		t.Run(tt.how+" "+tt.name, func(t *testing.T) {
			assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
			t.Parallel()
			c, dir := fakes.OpenPlaybook(t, tt.text, tt.how)
			if tt.how == "tui" {
				c.See("REVIEW")
				c.Press("Ac")
			}
			c.See("size 24 80.")
			tt.end(t, c, dir)
			if code, left := c.End(); code == 0 {
				t.Errorf("exit %d, left in the terminal:\n%s", code, left)
			}
			c.CheckRestored()
			if _, err := os.Stat(dir + "/after"); err == nil {
				t.Error("the run went on")
			}
		})
	}
}

func signalled(sig syscall.Signal) func(*testing.T, *fakes.Terminal, string) {
	return func(t *testing.T, c *fakes.Terminal, _ string) {
		t.Helper()
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
}

// stopped ends what runs from another terminal.
func stopped(t *testing.T, _ *fakes.Terminal, dir string) {
	t.Helper()
	other := fakes.OpenTerminal(t, 80, 24, []string{"XDG_STATE_HOME=" + dir + "/state"}, "attach", "--send", "stop=now")
	if code, left := other.End(); code != 0 {
		t.Fatalf("exit %d: %s", code, left)
	}
}

// TestOneHasTheTerminal runs interactive steps that could run at once, beside one that prints.
func TestOneHasTheTerminal(t *testing.T) {
	assault.Tried(t, "ends of the TUI and of what has its terminal", 1)
	c, dir := fakes.OpenPlaybook(t, `
- parallel: true
  block:
    - shell: echo begin >> $DIR/log; printf 'quest%s {{ item }}? ' ion; read answer; echo end >> $DIR/log
      interactive: true
      loop: [1, 2, 3]
    - shell: while ! test -e $DIR/go; do echo noise; sleep 0.01; done
`, "run")
	for i := range 3 {
		c.See(fmt.Sprintf("question %d?", i+1))
		c.Press("yes\r")
	}
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if n := len(regexp.MustCompile(`question \d\? yes\r\n`).FindAllString(c.Written(), -1)); n != 3 {
		t.Errorf("%d questions were left alone in\n%s", n, c.Written())
	}
	if log, err := os.ReadFile(dir + "/log"); err != nil || string(log) != strings.Repeat("begin\nend\n", 3) {
		t.Errorf("%q %v", log, err)
	}
}

// TestPipesAndTerminal runs the same commands with pipes and with a terminal: nothing is lost of either stream, and
// nothing is added.
func TestPipesAndTerminal(t *testing.T) {
	const count = "for i in $(seq 1 3000); do echo out $i; echo err $i >&2; printf 'p%%\\r' ; done; printf end"
	c, dir := fakes.OpenPlaybook(t, fmt.Sprintf("- shell: %[1]s\n- shell: %[1]s\n  interactive: true\n", count), "run")
	if code, left := c.End(); code != 0 {
		t.Fatalf("exit %d, left in the terminal:\n%s", code, left)
	}
	var out, err, both strings.Builder
	for i := 1; i <= 3000; i++ {
		fmt.Fprintf(&out, "out %d\np%%\r", i)
		fmt.Fprintf(&err, "err %d\n", i)
		fmt.Fprintf(&both, "out %d\nerr %d\np%%\r", i, i)
	}
	for name, want := range map[string]string{"*1.1.out": out.String() + "end", "*1.1.err": err.String(), "*2.1.out": both.String() + "end"} {
		if got := fakes.ReadPrinted(t, dir, name); got != want {
			t.Errorf("%s: %d bytes, want %d: %q …", name, len(got), len(want), got[:min(len(got), 100)])
		}
	}
	assault.Tried(t, "pieces of output by pipe and by terminal", 3*3000+1)
	if errs, _ := filepath.Glob(dir + "/state/moon/runs/*/out/*2.1.err"); len(errs) > 0 {
		t.Errorf("a terminal has one stream: %q", errs)
	}
}
