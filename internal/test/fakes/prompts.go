package fakes

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
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

// OpenPrompt is a moon in a terminal whose playbook asks for a variable, after an inventory that waits for the file go.
func OpenPrompt(t *testing.T, prompt string) (c *Terminal, dir string) {
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
	return OpenTerminal(t, 80, 24, []string{"XDG_STATE_HOME=" + dir + "/state"}, "run", "-i", dir+"/inventory", dir+"/site.yml"), dir
}
