package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// promptedPlay asks for a variable, and writes down what it was given.
const promptedPlay = `
- hosts: all
  connection: local
  gather_facts: false
  vars_prompt:
    %s
  tasks:
    - shell: echo "{{ word }}" > %s/given
`

// prompting is a moon in a terminal whose playbook asks for a variable, after an inventory that waits for the file go.
func prompting(t *testing.T, prompt string) (c *emulator, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"inventory": "#!/bin/sh\ntouch " + dir + "/asked\nuntil test -e " + dir + "/go || ! test -d " + dir + "; do sleep 0.02; done\necho '{\"all\": {\"hosts\": [\"here\"]}}'\n",
		"site.yml":  fmt.Sprintf(promptedPlay, prompt, dir),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil { // one is run
			t.Fatal(err)
		}
	}
	return open(t, 80, 24, []string{"XDG_STATE_HOME=" + dir + "/state"}, "run", "-i", dir+"/inventory", dir+"/site.yml"), dir
}

// echoes reports whether the terminal shows what is typed.
func (c *emulator) echoes() bool {
	c.t.Helper()
	state, err := unix.IoctlGetTermios(int(c.keys.(*os.File).Fd()), unix.TCGETS)
	if err != nil {
		c.t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// TestPasswordTypedAhead types a password before moon asks for it, and half of it: neither is taken for the answer, and when the question is
// there the terminal shows nothing any more.
func TestPasswordTypedAhead(t *testing.T) {
	c, dir := prompting(t, "- {name: word, prompt: the word, private: true}")
	until(t, dir+"/asked")
	c.press("tooearly\rhalfof", "tooearly", "halfof") // shown by the terminal itself
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.see("the word:")
	if c.echoes() {
		t.Error("the question is there, and the terminal shows what is typed")
	}
	c.press("swordfish\r")
	if code, left := c.end(); code != 0 || strings.Contains(left, "swordfish") || strings.Count(left, "tooearly") != 1 || strings.Count(left, "halfof") != 1 {
		t.Errorf("exit %d, left in the terminal:\n%s", code, left)
	}
	if given, err := os.ReadFile(dir + "/given"); err != nil || string(given) != "swordfish\n" {
		t.Errorf("the answer is %q, %v", given, err)
	}
	c.restored()
}
