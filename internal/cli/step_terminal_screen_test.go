package cli

import (
	"os"
	"strings"
	"testing"
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
			c, dir := asking(t, text, how)
			c.resize(120, 40)
			if how == "tui" {
				c.see("REVIEW")
				c.press("Ac", "DONE", "after")
				c.press("q")
			}
			code, left := c.end()
			if code != 0 {
				t.Errorf("exit %d, left in the terminal:\n%s", code, left)
			}
			c.mu.Lock()
			said := c.said.String()
			c.mu.Unlock()
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
