package hostile

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// repository is a project that somebody has cloned and not looked at. PROGRAM in a file stands for a program of the project that leaves a
// trace, FILE! is one, LINK -> and PIPE | are what they look like, and FILE # is a large one.
type repository struct {
	name  string
	files map[string]string
	long  bool // only in the long form; plan.TestBombs and BenchmarkIncludes have the like of it
}

const (
	localPlay = "- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks:\n"
	allPlay   = "- hosts: all\n  tasks:\n    - copy: {content: x, dest: /nowhere/x}\n"
)

// hostileRepositories try to have something executed, or to be read without an end, before anybody has approved anything. They are a function,
// because each moon of these tests is this very binary, and would make them all at its start.
func hostileRepositories() []repository {
	return []repository{
		{name: "inventory of ansible.cfg", files: map[string]string{"ansible.cfg": "[defaults]\ninventory = hosts\n", "hosts!": "", "site.yml": allPlay}},
		{name: "password of ansible.cfg", files: map[string]string{"ansible.cfg": "[defaults]\nvault_password_file = pw\n", "pw!": "", "group_vars/all.yml": "$ANSIBLE_VAULT;1.1;AES256\n6162\n", "site.yml": localPlay + "    - debug: {msg: x}\n"}},
		{name: "ssh of ansible.cfg", files: map[string]string{"ansible.cfg": "[defaults]\ninventory = hosts.ini\n[ssh_connection]\nssh_args = -o ProxyCommand=PROGRAM\nssh_common_args = -o LocalCommand=PROGRAM -o PermitLocalCommand=yes\nssh_executable = ./program\n", "hosts.ini": "far\n", "site.yml": allPlay}},
		{name: "proxy of a host", files: map[string]string{"ansible.cfg": "[defaults]\ninventory = hosts.ini\n", "hosts.ini": "far ansible_ssh_common_args='-o ProxyCommand=PROGRAM'\nfurther ansible_ssh_extra_args='-oProxyCommand=PROGRAM'\n", "site.yml": allPlay}},
		{name: "ssh of a host", files: map[string]string{"ansible.cfg": "[defaults]\ninventory = hosts.ini\n", "hosts.ini": "far ansible_ssh_executable=PROGRAM\nother ansible_ssh_args='-F ./ssh_config'\n", "ssh_config": "Host *\n  ProxyCommand PROGRAM\n", "site.yml": allPlay}},
		{name: "interpreters", files: map[string]string{"ansible.cfg": "[defaults]\ninventory = hosts.ini\nexecutable = ./program\n", "hosts.ini": "here ansible_connection=local ansible_python_interpreter=PROGRAM ansible_shell_executable=PROGRAM ansible_become_exe=PROGRAM ansible_become=true\n", "site.yml": "- hosts: all\n  tasks:\n    - package: {name: x}\n"}},
		{name: "pipes of lookups", files: map[string]string{"site.yml": localPlay + "    - debug: {msg: \"{{ lookup('pipe', './program') }}\"}\n    - debug: {msg: x}\n      when: lookup('pipe', './program') == ''\n"}},
		{name: "lines of lookups", files: map[string]string{"p.yml": "vars: {v: \"{{ lookup('pipe', './program') }}\"}\nsteps:\n  - print: \"{{ v }}\"\n  - print: x\n    with_lines: ./program\n"}},
		{name: "plugins", files: map[string]string{"plugins/acme!": "", "library/other!": "", "filter_plugins/f.py!": "", "lookup_plugins/l.py!": "", "callback_plugins/c.py!": "", "site.yml": localPlay + "    - acme: {}\n    - other: {}\n    - debug: {msg: \"{{ 'x' | f }} {{ lookup('l') }}\"}\n"}},
		{name: "plugin of a role", files: map[string]string{"roles/r/library/acme!": "", "roles/r/tasks/main.yml": "- acme: {}\n", "site.yml": "- hosts: localhost\n  connection: local\n  roles: [r]\n"}},
		{name: "ssh of git", files: map[string]string{"p.yml": "- git: {repo: 'ssh://git@127.0.0.1:1/x.git', dest: clone, ssh_opts: \"-o ProxyCommand=PROGRAM\"}\n- git: {repo: 'ext::PROGRAM', dest: other}\n- git: {repo: x, dest: other, executable: ./program}\n"}},
		{name: "settings of git", files: map[string]string{"copy/.git/HEAD": "ref: refs/heads/main\n", "copy/.git/config": "[core]\n  repositoryformatversion = 0\n  fsmonitor = PROGRAM\n  sshCommand = PROGRAM\n", "copy/.git/objects/.k": "", "copy/.git/refs/.k": "", "p.yml": "- git: {repo: 'https://127.0.0.1:1/x.git', dest: ./copy}\n"}},
		{name: "environments", files: map[string]string{"p.yml": "env: {GIT_SSH_COMMAND: PROGRAM, GIT_EXEC_PATH: ., PATH: \"BIN\", LD_PRELOAD: PROGRAM, BASH_ENV: PROGRAM, PYTHONSTARTUP: PROGRAM}\nsteps:\n  - git: {repo: 'https://127.0.0.1:1/x.git', dest: other}\n  - apt: {name: x}\n  - pip: {name: x}\n  - systemd: {name: x, state: started}\n", "bin/git!": "", "bin/dpkg-query!": "", "bin/apt-get!": "", "bin/pip3!": "", "bin/systemctl!": "", "bin/python3!": ""}},
		{name: "virtual environments", files: map[string]string{"venv/bin/pip!": "", "venv/bin/python!": "", "venv/bin/python3!": "", "venv/pyvenv.cfg": "home = /usr/bin\n", "p.yml": "- pip: {name: x, virtualenv: ./venv}\n- pip: {name: x, executable: ./program}\n- pip: {requirements: r.txt, virtualenv: ./venv, virtualenv_command: ./program}\n", "r.txt": "x\n"}},
		{name: "guards", files: map[string]string{"p.yml": "- shell: ./program\n  unless: ./program\n- command: [./program]\n  onlyif: ./program\n- script: ./program\n- copy: {src: a, dest: /nowhere/a, validate: './program %s'}\n- template: {src: a, dest: b, validate: './program %s'}\n", "a": "text\n"}},
		{name: "validate", files: map[string]string{"p.yml": "- copy: {src: a, dest: b, validate: './program %s'}\n- lineinfile: {path: a, line: x, validate: './program %s'}\n- blockinfile: {path: a, block: x, validate: './program %s'}\n- template: {src: a, dest: b, validate: './program %s'}\n- assemble: {src: ., dest: c, validate: './program %s'}\n- user: {name: root, shell: PROGRAM}\n", "a": "text\n"}},
		{name: "local facts", files: map[string]string{"facts/x.fact!": "", "site.yml": "- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks:\n    - setup: {fact_path: ./facts}\n    - debug: {msg: x}\n"}},
		{name: "local facts of a play", files: map[string]string{"facts/x.fact!": "", "site.yml": "- hosts: localhost\n  connection: local\n  fact_path: DIR/facts\n  tasks:\n    - debug: {msg: x}\n", "ansible.cfg": "[defaults]\nfact_path = DIR/facts\n"}},
		{name: "settings of package managers", files: map[string]string{"p.yml": "- dnf: {name: x, conf_file: ./dnf.conf}\n- apt: {name: x, dpkg_options: 'pre-invoke=PROGRAM'}\n- zypper: {name: x, extra_args: '--root DIR'}\n- pacman: {name: x, extra_args: '--hookdir DIR'}\n- homebrew: {name: ./x.rb}\n- apk: {name: x}\n", "dnf.conf": "[main]\npluginpath=DIR\n", "x.rb!": ""}},
		{name: "names of programs", files: map[string]string{"git!": "", "ssh!": "", "sudo!": "", "dpkg-query!": "", "sh!": "", "site.yml": "- hosts: all\n  tasks:\n    - git: {repo: 'https://127.0.0.1:1/x.git', dest: other}\n    - apt: {name: x}\n", "ansible.cfg": "[defaults]\ninventory = hosts.ini\n", "hosts.ini": "here ansible_connection=local\n"}},
		{name: "settings of the project", files: map[string]string{".moon.yaml": "inventory: hosts\nvault_password_file: pw\nnotify: PROGRAM\napprove: all\nprobe: true\nkeys: keys.yaml\nssh_common_args: -o ProxyCommand=PROGRAM\nbecome_password_file: pw\noutput: ['text:out']\nbanner: ''\n", "hosts!": "", "pw!": "", "group_vars/all.yml": "$ANSIBLE_VAULT;1.1;AES256\n6162\n", "site.yml": allPlay}},
		{name: "arguments of ssh of the project", files: map[string]string{".moon.yaml": "inventory: 'far,'\nssh_common_args: -o ProxyCommand=PROGRAM\n", "site.yml": allPlay}},
		{name: "a pipe as settings of the project", files: map[string]string{".moon.yaml |": "", "p.yml": "- print: x\n"}},
		{name: "a device as settings of the project", files: map[string]string{".moon.yaml ->": "/dev/zero", "p.yml": "- print: x\n"}},
		{name: "configuration of moon", files: map[string]string{".config/moon/config.yaml": "theme: x\n", "config.yaml": "editor: PROGRAM\n", "keys.yaml": "x: y\n", ".envrc": "PROGRAM\n", "p.yml": "- print: x\n"}},
		{name: "links out", files: map[string]string{"site.yml": localPlay + "    - template: {src: t.j2, dest: /nowhere/x}\n    - copy: {src: l, dest: /nowhere/x}\n", "templates/t.j2 ->": "/etc/shadow", "files/l ->": "/etc/shadow", "group_vars/all.yml ->": "/dev/zero"}},
		{name: "pipes for files", files: map[string]string{"site.yml": localPlay + "    - include_tasks: more.yml\n    - template: {src: t.j2, dest: /nowhere/x}\n", "more.yml |": "", "templates/t.j2 |": "", "group_vars/all.yml |": "", "host_vars/localhost |": "", "ansible.cfg |": ""}},
		{name: "devices for files", files: map[string]string{"p.yml": "vars_files: [v.yml]\nsteps:\n  - include: more.yml\n  - template: {src: t.j2, dest: /nowhere/x}\n  - print: x\n    with_filetree: tree\n", "v.yml ->": "/dev/zero", "more.yml ->": "/dev/random", "t.j2 ->": "/dev/zero", "tree/x ->": "/dev/zero"}},
		{name: "terminals for files", files: map[string]string{"p.yml": "vars_files: [v.yml]\nsteps:\n  - include: more.yml\n", "v.yml ->": "/dev/tty", "more.yml ->": "/proc/self/fd/0"}},
		{name: "huge files", files: map[string]string{"site.yml": localPlay + "    - template: {src: t.j2, dest: /nowhere/x}\n    - debug: {msg: \"{{ lookup('file', 'huge') }}\"}\n", "templates/t.j2 #": "", "files/huge #": "", "group_vars/all.yml #": ""}},
		{name: "trees without an end", files: map[string]string{"p.yml": "- print: \"{{ item.path }}\"\n  with_filetree: .\n- copy: {src: ., dest: /nowhere/x}\n- find: {paths: ., recurse: true, follow: true}\n", "a/b/up ->": "../..", "a/self ->": "."}},
		{name: "templates without an end", long: true, files: map[string]string{"site.yml": localPlay + "    - template: {src: t.j2, dest: /nowhere/x}\n    - debug: {msg: \"{{ lookup('template', 't.j2') }}\"}\n", "templates/t.j2": "{% for a in range(99999) %}{% for b in range(99999) %}{{ a * b }}{% endfor %}{% endfor %}{% include 't.j2' %}\n"}},
		{name: "templates of themselves", files: map[string]string{"p.yml": "- template: {src: t.j2, dest: /nowhere/x}\n", "t.j2": "{% include 't.j2' %}{% include 't.j2' %}{% import 't.j2' as t %}{% extends 't.j2' %}"}},
		{name: "roles of themselves", files: map[string]string{"site.yml": "- hosts: localhost\n  connection: local\n  roles: [r]\n", "roles/r/meta/main.yml": "dependencies: [r, s]\n", "roles/s/meta/main.yml": "dependencies: [r]\n", "roles/r/tasks/main.yml": "- include_role: {name: r}\n"}},
		{name: "names that lead out", files: map[string]string{"site.yml": localPlay + "    - include_tasks: ../../../../../../etc/passwd\n    - template: {src: ../../../../../../etc/shadow, dest: /nowhere/x}\n    - fetch: {src: /etc/hostname, dest: ../../nowhere}\n", "ansible.cfg": "[defaults]\nroles_path = /proc/self/root:/dev\nlog_path = DIR/../log\n"}},
		{name: "text that a terminal obeys", files: map[string]string{"p.yml": "- name: \"\\e]52;c;RVZJTA==\\a\\e[6n\\u202e\"\n  shell: \"\\e[2J\\ePEVIL\\e\\\\\"\n", "ansible.cfg": "[defaults]\nnothing\x1b[2J = 1\n"}},
		{name: "plays of themselves", files: map[string]string{"site.yml": "- import_playbook: site.yml\n- import_playbook: more.yml\n", "more.yml": "- import_playbook: site.yml\n"}},
		{name: "presets of themselves", files: map[string]string{"p.yml": "presets:\n  a: [{preset: b}, {preset: b}]\n  b: [{preset: a}]\nsteps:\n  - preset: a\n"}},
		{name: "anchors of themselves", files: map[string]string{"p.yml": "- &a\n  print: x\n  vars: *a\n"}},
		{name: "anchors that double", files: map[string]string{"p.yml": anchorsThatDouble(24)}},
		{name: "variables that double", files: map[string]string{"site.yml": "- hosts: localhost\n  connection: local\n  gather_facts: false\n  vars:\n" + variablesThatDouble(40) + "  tasks:\n    - debug: {msg: \"{{ v40 }}\"}\n"}},
		{name: "brackets", files: map[string]string{"p.yml": "- print: " + strings.Repeat("[", 20_000) + "\n"}},
		{name: "conditions", files: map[string]string{"p.yml": "- print: x\n  when: \"" + strings.Repeat("(", 60_000) + "1" + strings.Repeat(")", 60_000) + "\"\n- print: x\n  when: \"" + strings.Repeat("1 + ", 30_000) + "1 == 2\"\n"}},
		{name: "groups of themselves", files: map[string]string{"ansible.cfg": "[defaults]\ninventory = hosts.ini\n", "hosts.ini": "[a:children]\nb\n[b:children]\na\n[a]\nh\n", "site.yml": allPlay}},
		{name: "ranges of hosts", files: map[string]string{"ansible.cfg": "[defaults]\ninventory = hosts.ini\n", "hosts.ini": "h[1:999999999]\ng[a:z][a:z][a:z][a:z][a:z][a:z]\n", "site.yml": allPlay}},
		{name: "long lines of an inventory", files: map[string]string{"ansible.cfg": "[defaults]\ninventory = hosts.ini\n", "hosts.ini": "h " + strings.Repeat("a='{{ a }}' ", 20_000) + "\n", "site.yml": allPlay}},
		{name: "an inventory in a circle", files: map[string]string{"ansible.cfg": "[defaults]\ninventory = inventory\n", "inventory/up ->": "..", "inventory/self ->": "self", "inventory/pipe |": "", "inventory/zero ->": "/dev/zero", "site.yml": allPlay}},
		{name: "a device as settings", files: map[string]string{"ansible.cfg ->": "/dev/zero", "site.yml": localPlay + "    - debug: {msg: x}\n"}},
		{name: "roles that are the system", files: map[string]string{"roles ->": "/", "site.yml": "- hosts: localhost\n  connection: local\n  gather_facts: false\n  roles: [etc, proc/self/root, dev]\n"}},
		{name: "plugins that are the system", files: map[string]string{"plugins ->": "/usr/bin", "library ->": "/bin", "site.yml": localPlay + "    - id: {}\n    - touch: {x: y}\n"}},
		{name: "loops without an end", files: map[string]string{"p.yml": "- print: x\n  loop: 1..999999999\n- print: y\n  with_sequence: start=1 end=999999999\n- print: z\n  loop: \"{{ range(999999999) | list }}\"\n"}},
		{name: "expressions of great values", files: map[string]string{"p.yml": "- print: \"{{ 'x' * 9999999999 }}\"\n- print: \"{{ 9 ** 9 ** 9 ** 9 }}\"\n- print: \"{{ 'a' | center(9999999999) }}\"\n- print: \"{{ '(a+)+$' | regex_search('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!') }}\"\n"}},
		{name: "secrets of others", files: map[string]string{"p.yml": "- print: \"{{ lookup('file', '/etc/shadow') }}\"\n- print: \"{{ lookup('file', '/proc/self/environ') }}\"\n- copy: {src: /etc/shadow, dest: /nowhere/x}\n"}},
		{name: "many files", long: true, files: manyFiles(3000)},
		{name: "names of a thousand levels", files: map[string]string{strings.Repeat("d/", 1000) + "x.yml": "- print: x\n", "p.yml": "- include: " + strings.Repeat("d/", 1000) + "x.yml\n- print: x\n  with_filetree: d\n"}},
	}
}

// anchorsThatDouble is the bomb of aliases.
func anchorsThatDouble(n int) string {
	text := "vars:\n  a0: &a0 [x, x]\n"
	for i := range n {
		text += fmt.Sprintf("  a%[2]d: &a%[2]d [*a%[1]d, *a%[1]d]\n", i, i+1)
	}
	return text + fmt.Sprintf("steps:\n  - print: \"{{ a%d }}\"\n", n)
}

func variablesThatDouble(n int) string {
	text := "    v0: xx\n"
	for i := range n {
		text += fmt.Sprintf("    v%[2]d: \"{{ v%[1]d }}{{ v%[1]d }}\"\n", i, i+1)
	}
	return text
}

// manyFiles are variables of as many files, each of which is read.
func manyFiles(n int) map[string]string {
	files := map[string]string{"ansible.cfg": "[defaults]\ninventory = hosts.ini\n", "hosts.ini": "here ansible_connection=local\n", "site.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n    - debug: {msg: x}\n"}
	for i := range n {
		files[fmt.Sprintf("group_vars/all/%d.yml", i)] = fmt.Sprintf("v%d: x\n", i)
	}
	return files
}

// visits are the commands that somebody uses to look at a project.
var visits = [][]string{{"validate"}, {"plan"}, {"plan", "--check"}, {"plan", "--check", "--diff"}, {"plan", "--format", "json"}, {"plan", "-o", "../plan.moon"}, {"graph"}, {"doctor"}, {"run", "--check"}, {"inventory", "--list"}}

// TestHostileRepositories looks at each project with commands and in the TUI: nothing of it is executed, what waits or has no end is
// refused, and that costs little. An assault tries every command on every project.
func TestHostileRepositories(t *testing.T) {
	for i, r := range hostileRepositories() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if r.long {
				assault.Long(t)
			}
			dir := t.TempDir()
			project, ran := r.lay(t, dir)
			try := visits
			if !assault.All() {
				try = [][]string{visits[i%len(visits)]}
			}
			assault.Tried(t, "hostile repositories, by command", len(try)+1)
			for _, visit := range try {
				args := visit
				if visit[0] != "inventory" {
					args = append(slices.Clip(args), r.playbook())
				}
				r.visit(t, dir, project, ran, args)
			}
			if assault.All() || i%10 == 0 {
				r.review(t, project, ran)
			}
		})
	}
}

func (r repository) playbook() string {
	if r.files["p.yml"] != "" {
		return "p.yml"
	}
	return "site.yml"
}

// lay writes the project down. What its programs would leave is in ran.
func (r repository) lay(t *testing.T, dir string) (project, ran string) {
	t.Helper()
	project, ran = filepath.Join(dir, "project"), filepath.Join(dir, "ran")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	program := "#!/bin/sh\nenv -i /bin/sh -c 'echo \"$0 $*\" >> " + ran + "' \"$0\" \"$@\"\necho '{}'\n"
	words := strings.NewReplacer("PROGRAM", filepath.Join(project, "program"), "BIN", filepath.Join(project, "bin"), "DIR", project)
	all := map[string]string{"program!": ""}
	maps.Copy(all, r.files)
	huge := "" // one of that size is enough
	for name, text := range all {
		path, kind, _ := strings.Cut(name, " ")
		plain, executable := strings.CutSuffix(path, "!")
		path = filepath.Join(project, plain)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case kind == "->":
			err = os.Symlink(text, path)
		case kind == "|":
			err = syscall.Mkfifo(path, 0o644)
		case kind == "#": // not a text of the table: each moon here is this very binary, and would have it in its memory
			if huge != "" {
				err = os.Link(huge, path)
				break
			}
			huge = path
			err = os.WriteFile(path, slices.Concat([]byte("a: "), bytes.Repeat([]byte("x"), 40<<20), []byte("\n")), 0o600)
		case executable:
			err = os.WriteFile(path, []byte(program), 0o755) // it is what must not run
		default:
			err = os.WriteFile(path, []byte(words.Replace(text)), 0o644) // all may read it
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return project, ran
}

// visit calls moon in the project.
func (r repository) visit(t *testing.T, dir, project, ran string, args []string) {
	t.Helper()
	cmd := moonIn(t, dir, args)
	cmd.Dir = project
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(fakes.Patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	peak := fakes.PeakMemory(t, cmd.Process.Pid)
	err := cmd.Wait()
	work := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch text, _ := os.ReadFile(ran); {
	case len(text) > 0:
		t.Errorf("moon %v has executed %s", args, text)
		_ = os.Remove(ran)
	case err != nil && out.Len() == 0:
		t.Errorf("moon %v: %v, without a word", args, err)
	case out.Len() > 1<<20 && err != nil:
		t.Errorf("moon %v says %d bytes", args, out.Len())
	case !cmd.ProcessState.Exited() || strings.Contains(out.String(), "goroutine "):
		t.Errorf("moon %v: %v\n%.4000s", args, err, out.String())
	case work > 20*time.Second && !fakes.Raced: // ten million steps of a template are allowed
		t.Errorf("moon %v works for %s", args, work)
	case peak > 400<<10 && !fakes.Raced:
		t.Errorf("moon %v takes %d MiB", args, peak>>10)
	case strings.Contains(out.String(), "root:$") || strings.Contains(out.String(), "root:*"):
		t.Errorf("moon %v shows /etc/shadow", args)
	}
}

// review opens the project in the TUI, and answers no to what it asks.
func (r repository) review(t *testing.T, project, ran string) {
	t.Helper()
	c := fakes.OpenProgram(t, 100, 30, nil, func(moon string) *exec.Cmd {
		cmd := exec.Command(moon, "tui", r.playbook())
		cmd.Dir = project
		return cmd
	})
	answered := 0
	for end := time.Now().Add(fakes.Patience); ; time.Sleep(20 * time.Millisecond) {
		screen := c.Screen()
		if asks := strings.Count(screen, "Do you trust") + strings.Count(screen, "May it run"); asks > answered {
			answered = asks
			c.Press("n\r")
		} else if strings.Contains(screen, "REVIEW") || len(c.Ended) > 0 {
			break
		}
		if time.Now().After(end) {
			t.Errorf("the TUI hangs:\n%s", c.Screen())
			break
		}
	}
	if len(c.Ended) == 0 {
		time.Sleep(300 * time.Millisecond) // predictions are made in the background
		_ = c.Process.Signal(syscall.SIGTERM)
	}
	c.End()
	if text, _ := os.ReadFile(ran); len(text) > 0 {
		t.Errorf("the TUI has executed %s", text)
	}
}
