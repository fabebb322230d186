package screen

import (
	"os"
	"strings"
	"testing"

	"moon/internal/test/fakes"
)

// TestStepsHaveNoTerminal runs steps that open the terminal behind moon's back, to write and to read: they find none, nothing is
// painted over, nothing is stopped, and the failure says how a step gets a terminal.
func TestStepsHaveNoTerminal(t *testing.T) {
	const text = `
- name: paint
  shell: (echo PAINTED > /dev/tty) 2>/dev/null || echo "no terminal" > $DIR/painted
- name: escape
  shell: (setsid -w sh -c 'echo PAINTED > /dev/tty') 2>/dev/null || echo "no terminal" > $DIR/escaped
- name: read
  shell: read x < /dev/tty && echo read $x
  ignore_errors: true
  register: r
- name: plain failure
  shell: echo "something else is wrong"; exit 4
  ignore_errors: true
- name: after
  shell: echo "{{ r.rc }}" > $DIR/after
`
	for _, how := range []string{"run", "tui"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c, dir := fakes.OpenPlaybook(t, text, how)
			c.Resize(120, 40)
			if how == "tui" {
				c.See("REVIEW")
				c.Press("Ac", "DONE", "after")
				c.Press("q")
			}
			code, left := c.End()
			if code != 0 {
				t.Errorf("exit %d, left in the terminal:\n%s", code, left)
			}
			said := c.Written()
			if strings.Contains(strings.ReplaceAll(said, "echo PAINTED", ""), "PAINTED") {
				t.Errorf("a step wrote to the terminal:\n%q", said)
			}
			for _, name := range []string{"painted", "escaped"} {
				if got, err := os.ReadFile(dir + "/" + name); err != nil || string(got) != "no terminal\n" {
					t.Errorf("%s: %q %v", name, got, err)
				}
			}
			if got, err := os.ReadFile(dir + "/after"); err != nil || strings.TrimSpace(string(got)) == "0" {
				t.Errorf("the step that reads a terminal: %q %v", got, err)
			}
			hint := "interactive: true"
			if n := strings.Count(said, hint); how == "run" && n != 1 {
				t.Errorf("%q is said %d times, for one of two failures:\n%s", hint, n, said)
			}
		})
	}
}
