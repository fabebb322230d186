package starter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// File is a file that is to be written.
type File struct {
	Name string // below the directory
	Text string
}

// Write writes files that do not exist yet. If one exists, none is written.
func Write(dir string, files []File) error {
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s exists; nothing was written", path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = out.WriteString(f.Text)
		if err = errors.Join(err, out.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Project is the files of a new project around a playbook.
func Project(playbook string) []File {
	return []File{
		{"moon.yml", playbook},
		{".gitignore", ignored},
		{".github/workflows/moon.yml", workflow},
		{".devcontainer/devcontainer.json", container},
	}
}

// Playbook is the first playbook of who has none.
const Playbook = `# moon plan      what will happen
# moon tui       review it, approve it, run it step by step
# moon run       run all of it
# moon run hello run one step, with what it needs
name: a first playbook

# Values for the steps; -e greeting=hi replaces one for a call.
vars:
  greeting: hello
  out: build

steps:
  # Creates the directory if it is not there. A second run changes nothing.
  - id: directory
    name: make a place for the output
    file:
      path: "{{ out }}"
      state: directory

  # needs: what has to be done before. moon run hello runs that, too.
  - id: hello
    name: write the greeting
    needs: [directory]
    copy:
      content: "{{ greeting }} from {{ os }}\n"
      dest: "{{ out }}/hello.txt"

  # A command always counts as a change, unless changed_when says otherwise. register keeps what it prints.
  - id: count
    name: count the letters
    needs: [hello]
    shell: wc -c < {{ out }}/hello.txt
    register: letters
    changed_when: false

  - id: tell
    name: say how many there are
    needs: [count]
    print: "{{ letters.stdout | trim }} letters"
`

const ignored = `# plans that were saved, and reports
*.plan
report.html
# passwords of vaults; the vaults themselves may be committed
.vault-password*
# what the first playbook makes
/build/
`

const workflow = `# Checks the playbook, and shows its plan. OWNER and VERSION are those of the moon that you use.
name: moon
on: [workflow_dispatch]
jobs:
  plan:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: OWNER/moon@VERSION
        with:
          command: plan
          playbook: moon.yml
`

const container = `{
  "name": "moon",
  "image": "mcr.microsoft.com/devcontainers/base:bookworm",
  // OWNER and VERSION are those of the moon that you use.
  "postCreateCommand": "curl -fsSL https://github.com/OWNER/moon/releases/download/vVERSION/moon_VERSION_linux_amd64.tar.gz | sudo tar -xz -C /usr/local/bin && moon validate"
}
`

// Role is the files of a new role, below the directory of roles.
func Role(name string) []File {
	variable := strings.NewReplacer("-", "_", ".", "_").Replace(name) + "_message"
	return []File{
		{name + "/tasks/main.yml", fmt.Sprintf(roleTasks, variable)},
		{name + "/handlers/main.yml", roleHandlers},
		{name + "/defaults/main.yml", fmt.Sprintf(roleDefaults, variable)},
		{name + "/meta/main.yml", roleMeta},
		{name + "/README.md", fmt.Sprintf(roleReadme, name, variable, name)},
	}
}

const roleTasks = `# What the role does. Files and templates are looked for in files/ and templates/ of the role.
- name: Show what the role was given
  debug:
    msg: "{{ %s }}"
`

const roleHandlers = `# What runs once at the end if a task that changed something names it with notify.
[]
`

const roleDefaults = `# Values that users of the role may replace.
%s: nothing yet
`

const roleMeta = `# Roles that have to run before.
dependencies: []
`

const roleReadme = "# %s\n\n| variable | |\n| --- | --- |\n| `%s` | what the role shows |\n\n```yaml\n- hosts: all\n  roles: [%s]\n```\n"
