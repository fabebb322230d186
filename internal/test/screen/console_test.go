package screen

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"moon/internal/test/fakes"
)

// TestLinesTyped types while steps run, with what they say coming in between: no line is lost or torn.
func TestLinesTyped(t *testing.T) {
	c, dir := fakes.OpenPlaybook(t, `
- name: first
  shell: until test -e $DIR/go || ! test -d $DIR; do sleep 0.02; done
- name: second
  shell: until test -e $DIR/on || ! test -d $DIR; do sleep 0.02; done
- name: third
  shell: touch $DIR/third
`, "tui", "--ui", "lines")
	touch := func(name string) {
		if err := os.WriteFile(dir+"/"+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.See("REVIEW", "3. third, not approved", "\n>")
	c.Press("approve all\r", "approved 3 steps.")
	c.Press("run\r", "running.")
	c.Press("whe") // the end of a step comes in between
	touch("go")
	c.See("step 1 first")
	c.Press("re\r", "RUNNING. 1 of 3, step 2 second is running")
	c.Press("pause\r", "pausing: running steps finish first.")
	touch("on")
	c.See("PAUSED before step 3 third", "\n>")
	if _, err := os.Stat(dir + "/third"); err == nil {
		t.Error("pause has not kept the next step")
	}
	c.Press("step\r", "step 3 third", "DONE")
	c.Press("\x04") // ctrl-d: everything has ended, so it asks nothing
	code, left := c.End()
	if code != 0 || !strings.Contains(left, "DONE (changed)   3 of 3") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c.CheckRestored()
	c.CheckSpoken()
}

// TestLinesInterrupted presses ctrl-c: it asks, and the second one stops what runs. A dumb terminal needs no flag.
func TestLinesInterrupted(t *testing.T) {
	dir := t.TempDir()
	playbook := dir + "/playbook.yml"
	if err := os.WriteFile(playbook, []byte("- name: long\n  shell: echo >>begun; sleep 600\n- shell: echo after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, how := range []struct {
		name, env string
		answer    string
		code      int
		says      string
	}{
		{"ctrl-c", "TERM=dumb", "\x03", 130, "INTERRUPTED"},
		{"stop", "ACCESSIBLE=1", "stop\r", 3, "STOPPED by you"},
	} {
		t.Run(how.name, func(t *testing.T) {
			c := fakes.OpenTerminal(t, 80, 24, []string{how.env}, "tui", playbook)
			c.See("REVIEW")
			c.Press("approve all\r", "approved 2 steps.")
			c.Press("run\r", "running.")
			c.Press("where\r", "step 1 long is running")
			fakes.AwaitFile(t, dir+"/begun") // until it has a group of processes of its own, ctrl-c is for it too
			if err := os.Remove(dir + "/begun"); err != nil {
				t.Fatal(err)
			}
			c.Press("\x03", "quit? step 1 long is running", "wait (let running steps finish, then stop)")
			c.Press("stay\r", "staying.")
			c.Press("ex\r", "ex may be exclude or exit") // no question is open any more
			c.Press("\x03", "or stay.\nstay\nstaying.", "exit. type more of it.\n^C\nquit?")
			c.Press(how.answer)
			if code, left := c.End(); code != how.code || !strings.Contains(left, how.says) || !strings.Contains(left, "1 not run") {
				t.Errorf("exit %d, left in the terminal:\n%s", code, left)
			}
			c.CheckRestored()
			c.CheckSpoken()
		})
	}
}

// TestLinesInteractive lends the terminal to a step: what is typed meanwhile is for it, and none of it for moon.
func TestLinesInteractive(t *testing.T) {
	c, dir := fakes.OpenPlaybook(t, `
- name: ask
  shell: printf 'us%s? ' er; read user; printf 'agai%s? ' n; read again; echo "$user $again" > $DIR/answers
  interactive: true
- name: after
  shell: touch $DIR/after
`, "tui", "--ui", "lines")
	c.See("REVIEW")
	c.Press("approve all\r", "approved 2 steps.")
	c.Press("run\r", "user?")
	c.Press("quit\r", "again?")
	c.Press("run\r", "DONE (changed)", "\n>")
	c.Press("show 2\r", "from playbook.yml line 5")
	c.Press("q\r")
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c.CheckRestored()
	if got, err := os.ReadFile(dir + "/answers"); err != nil || string(got) != "quit run\n" {
		t.Errorf("the step got %q, %v", got, err)
	}
}

// TestLinesEditor opens the editor of a failed step in the terminal and goes on with what it has made.
func TestLinesEditor(t *testing.T) {
	editor := t.TempDir() + "/mend"
	t.Setenv("VISUAL", editor) // asking hands it on
	c, _ := fakes.OpenPlaybook(t, "- name: fails\n  shell: \"false\"\n- name: after\n  shell: touch $DIR/after\n", "tui", "--ui", "lines")
	c.See("REVIEW")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\ntest -t 0 && test -t 1 || exit 9\nprintf 'word? '; read word\nsed -i \"s/false/$word/\" \"$1\"\n"), 0o700); err != nil { // it is run
		t.Fatal(err)
	}
	c.Press("approve all\r", "approved 2 steps.")
	c.Press("run\r", "PAUSED on failure of step 1 fails")
	c.Press("editor\r", "word?")
	c.Press("true\r", "replanned: 1 step changed", "changed since")
	c.Press("r\r", "which is changed now")
	c.Press("c\r", "DONE (changed)")
	c.Press("quit\r")
	if code, left := c.End(); code != 0 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c.CheckRestored()
}

// TestLinesSignalled ends moon from outside while a step runs, and while somebody reads what has ended.
func TestLinesSignalled(t *testing.T) {
	c, _ := fakes.OpenPlaybook(t, "- name: long\n  shell: sleep 600\n", "tui", "--ui", "lines")
	c.See("REVIEW")
	c.Press("approve all\r", "approved 1 step.")
	c.Press("run\r", "running.")
	c.Press("where\r", "step 1 long is running")
	signalled(syscall.SIGTERM)(t, c, "")
	if code, left := c.End(); code != 130 || !strings.Contains(left, "INTERRUPTED") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c.CheckRestored()
	c, _ = fakes.OpenPlaybook(t, "- shell: echo done\n", "tui", "--ui", "lines")
	c.See("REVIEW")
	c.Press("approve all\r", "approved 1 step.")
	c.Press("run\r", "DONE")
	signalled(syscall.SIGHUP)(t, c, "")
	if code, left := c.End(); code != 0 || !strings.Contains(left, "1 of 1") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
}

// secretly is a playbook whose step fails until a secret has another value.
func secretly(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"db.secret.yml": "password: hunter2hunter2\n",
		"playbook.yml": `
vars_files: [db.secret.yml]
steps:
  - name: log in
    shell: test "$PW" != "$OLD"
    env: { PW: "{{ password }}", OLD: hunter2hunter2 }
`,
	} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestLinesSecret types a secret for a step that failed: it is never shown and nowhere stored.
func TestLinesSecret(t *testing.T) {
	dir := secretly(t)
	c := fakes.OpenTerminal(t, 80, 24, []string{"XDG_STATE_HOME=" + dir + "/state"}, "tui", "--ui", "lines", dir+"/playbook.yml")
	c.See("REVIEW")
	c.Press("approve all\r", "approved 1 step.")
	c.Press("run\r", "PAUSED on failure of step 1 log in")
	c.Press("edit password\r", "what you type is not shown.", "value (empty keeps it):\n>")
	c.Press("swordfish99\r", "apply it: yes, for this step")
	c.Press("yes\r", "password is (hidden) for this step", "which failed and was changed since")
	c.Press("retry\r", "PAUSED after step 1 log in, which is changed now.")
	c.Press("run\r", "DONE (changed)")
	c.Press("quit\r")
	code, left := c.End()
	if code != 0 || strings.Contains(left, "swordfish") || strings.Contains(left, "hunter2") {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	c.CheckRestored()
	c.CheckSpoken()
	err := filepath.WalkDir(dir+"/state", func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "swordfish99") {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLinesSecretLeft leaves while a secret is asked for: the terminal shows again what is typed.
func TestLinesSecretLeft(t *testing.T) {
	for _, how := range []struct {
		name  string
		leave func(c *fakes.Terminal)
	}{
		{"ctrl-c", func(c *fakes.Terminal) { c.Press("\x03", "quit?", "stop or stay."); c.Press("stop\r") }},
		{"signal", func(c *fakes.Terminal) {
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				c.T.Error(err)
			}
		}},
	} {
		t.Run(how.name, func(t *testing.T) {
			dir := secretly(t)
			c := fakes.OpenTerminal(t, 80, 24, []string{"XDG_STATE_HOME=" + dir + "/state"}, "tui", "--ui", "lines", dir+"/playbook.yml")
			c.See("REVIEW")
			c.Press("approve all\r", "approved 1 step.")
			c.Press("run\r", "PAUSED on failure of step 1 log in")
			c.Press("edit password\r", "what you type is not shown.", "value (empty keeps it):\n>")
			c.Press("swordf")
			how.leave(c)
			if code, left := c.End(); code == 0 || strings.Contains(left, "swordf") {
				t.Errorf("exit %d, left in the terminal:\n%s", code, left)
			}
			c.CheckRestored()
		})
	}
}

// TestLinesShell opens a shell where a step runs, and comes back.
func TestLinesShell(t *testing.T) {
	dir := t.TempDir()
	playbook := dir + "/playbook.yml"
	if err := os.WriteFile(playbook, []byte("- name: fails\n  shell: exit 3\n  env: { COLOUR: blue }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := fakes.OpenTerminal(t, 80, 24, []string{"SHELL=/bin/sh"}, "tui", "--ui", "lines", playbook)
	c.See("REVIEW")
	c.Press("approve all\r", "approved 1 step.")
	c.Press("run\r", "PAUSED on failure of step 1 fails")
	c.Press("shell\r", "moon: step-0001  fails")
	c.Press("echo it is $COLOUR at $MOON_STEP\r", "it is blue at step-0001")
	c.Press("exit\r", "the shell has ended.", "\n>")
	c.Press("quit\r", "stop or stay.")
	c.Press("stop\r")
	if code, _ := c.End(); code != 1 && code != 3 {
		t.Errorf("exit %d", code)
	}
	c.CheckRestored()
}
