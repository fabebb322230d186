package fleet

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// fleetModules are modules as people have them for Ansible: one in sh that wants JSON, one in Python with Ansible's libraries.
var fleetModules = map[string]string{
	"library/stamp": `#!/bin/sh
# WANT_JSON
text=$(sed 's/.*"text": *"\([^"]*\)".*/\1/' "$1")
printf '%s\n' "$text" >"$HOME/stamp"
printf '{"changed": true, "home": "%s", "args": "%s"}\n' "$HOME" "$1"
`,
	"library/where.py": `#!/usr/bin/python
from ansible.module_utils.basic import AnsibleModule
import os
m = AnsibleModule(argument_spec=dict(name=dict(type="str", required=True)), supports_check_mode=True)
m.exit_json(changed=False, home=os.environ["HOME"], greeting="hello " + m.params["name"])
`,
}

// TestFleetPlugins has plugins of both kinds and modules of library/ work on other machines, where nothing of them is left.
func TestFleetPlugins(t *testing.T) {
	for _, program := range []string{"python3", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s on this machine", program)
		}
	}
	f := newFleet(t, 2)
	t.Setenv("MOON_TRUST", "false")
	if err := os.CopyFS(filepath.Join(f.dir, "plugins"), os.DirFS("examples/plugins/plugins")); err != nil {
		t.Fatal(err)
	}
	for name, text := range fleetModules {
		f.write(name, text)
		if err := os.Chmod(filepath.Join(f.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range f.servers {
		if err := os.Mkdir(filepath.Join(s.Home, "tmp"), 0o700); err != nil {
			t.Fatal(err)
		}
		s.Setenv(t, "TMPDIR", filepath.Join(s.Home, "tmp"))
	}
	site := `
- hosts: web
  gather_facts: false
  tasks:
    - motd.line: {text: "hello {{ inventory_hostname }}", path: motd}
      register: said
    - ledger.account: {path: ledger.json, name: "{{ account }}", balance: 7}
      register: one
    - ledger.account: {path: ledger.json, name: bob, balance: "{{ one.accounts[account] + 1 }}"}
    - stamp: {text: "of {{ inventory_hostname }}"}
      register: stamp
    - assert:
        that:
          - stamp is changed
          - stamp.home == home
    - motd.line: {text: "hello {{ inventory_hostname }}", path: "{{ home }}/motd"}
      register: again
    - assert: {that: [again is not changed, said.path == again.path]}
    - motd.line: {text: here, path: "{{ playbook_dir }}/here"}
      delegate_to: localhost
      run_once: true
`
	for i, s := range f.servers {
		f.write("host_vars/"+s.Host.Name+".yml", "home: "+f.servers[i].Home+"\naccount: "+[]string{"one", "two"}[i]+"\n")
	}
	counts := "ok=7 changed=4"
	_, err := exec.LookPath("ansible-playbook")
	ansible := err == nil
	if ansible {
		counts = "ok=9 changed=4"
		site += `
    - where: {name: "{{ inventory_hostname }}"}
      register: w
    - assert: {that: [w.home == home, "w.greeting == 'hello ' ~ inventory_hostname"]}
`
	}
	out := f.play(2, site)
	if !strings.Contains(out, "moon plugin trust "+filepath.Join(f.dir, "plugins/motd")) {
		t.Errorf("plugins that nobody trusts ran\n%s", out)
	}
	if strings.Contains(out, "undefined variable") {
		t.Errorf("what follows from that is said, too\n%s", out)
	}
	out = f.play(0, site, "--trust-plugins")
	f.recap(out, "web2 "+counts)
	for i, s := range f.servers {
		name := s.Host.Name
		f.has(i+1, "motd", "hello "+name+"\n")
		f.has(i+1, "stamp", "of "+name+"\n")
		if left := f.leftOn(i + 1); len(left) > 0 {
			t.Errorf("%v are left on %s", left, name)
		}
	}
	if text, err := os.ReadFile(filepath.Join(f.dir, "here")); err != nil || string(text) != "here\n" {
		t.Errorf("%q, %v", text, err)
	}

	// A dry run looks there, too, and changes nothing.
	for i, s := range f.servers {
		if err := os.Remove(filepath.Join(s.Home, "motd")); err != nil {
			t.Fatal(i, err)
		}
	}
	dry := f.play(0, "- hosts: web\n  gather_facts: false\n  tasks:\n    - motd.line: {text: dry, path: ~/motd}\n    - ledger.account: {path: ~/ledger.json, name: bob, balance: 8}\n", "--trust-plugins", "--check")
	f.recap(dry, "web1 ok=2 changed=1", "web2 ok=2 changed=1")
	f.hasNot(1, "motd")

	// The host goes away while one runs. Another has lived beside it since its step.
	f.write("plugins/nap", "#!/bin/sh\nif [ $1 = describe ]; then echo '{\"protocol\": 1, \"capabilities\": [{\"kind\": \"execute\", \"name\": \"nap\"}]}'; exit; fi\necho $$ >~/pid\nsleep 600\n")
	if err := os.Chmod(filepath.Join(f.dir, "plugins/nap"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.write("site.yml", "- hosts: web1\n  gather_facts: false\n  tasks:\n    - ledger.account: {path: ~/ledger.json, name: bob, balance: 9}\n    - nap: {}\n")
	cmd, said := f.start("run", "site.yml", "-i", "hosts.ini", "-o", "ansible", "--trust-plugins")
	appears(t, filepath.Join(f.servers[0].Home, "pid"))
	if n := len(f.leftOn(1)); n != 2 {
		t.Errorf("%v are there while both run", f.leftOn(1))
	}
	f.servers[0].Cut()
	_ = cmd.Wait() // its exit status says how
	f.recap(wholeOf(t, said), "web1 ok=1 changed=1 unreachable=1")
	fakes.AwaitEnd(t, filepath.Join(f.servers[0].Home, "pid"))
	for end := time.Now().Add(fakes.Patience); len(f.leftOn(1)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%v are left", f.leftOn(1))
		}
	}
	if !ansible {
		return
	}
	// Another interpreter on one of the hosts, for modules of both kinds, and one that is not there.
	f.put(f.servers[1], "python-of-ours", "#!/bin/sh\nHOME=/ours exec python3 \"$@\"\n")
	python := filepath.Join(f.servers[1].Home, "python-of-ours")
	if err := os.Chmod(python, 0o755); err != nil {
		t.Fatal(err)
	}
	f.write("library/wants.py", "#!/usr/bin/python3 -s\n# WANT_JSON\nimport json, os\nprint(json.dumps({'changed': False, 'home': os.environ['HOME']}))\n")
	if err := os.Chmod(filepath.Join(f.dir, "library/wants.py"), 0o755); err != nil {
		t.Fatal(err)
	}
	site = `
- hosts: web
  gather_facts: false
  tasks:
    - where: {name: x}
      register: w
    - wants: {}
      register: j
    - stamp: {text: x}
    - assert: {that: [w.home == expected, j.home == expected]}
`
	f.write("host_vars/web1.yml", "expected: "+f.servers[0].Home+"\nansible_python_interpreter: auto_silent\n")
	f.write("host_vars/web2.yml", "expected: /ours\nansible_python_interpreter: "+python+"\n")
	f.play(0, site, "--trust-plugins")
	f.write("host_vars/web2.yml", "expected: x\nansible_python_interpreter: /no/python\n")
	out = f.play(1, site, "--trust-plugins")
	if !strings.Contains(out, "is to run with /no/python, which is not there") {
		t.Error(out)
	}
	f.write("host_vars/web2.yml", "expected: x\n")
	// A module in Python brings its libraries along, where a package of that name has none of them.
	f.servers[1].Setenv(t, "PYTHONPATH", filepath.Join(f.dir, "bare"))
	f.write("bare/ansible/__init__.py", "")
	f.play(0, "- hosts: web2\n  gather_facts: false\n  tasks:\n    - where: {name: x}\n", "--trust-plugins")
}

// TestControllerPlugins has a plugin that is for the controller run there for each host of a play: in the directory of the playbook,
// with its paths, as who moon is, also for a host that nothing reaches, and in the same order as what runs on the hosts.
func TestControllerPlugins(t *testing.T) {
	assault.Long(t)
	if os.Getuid() != 0 {
		t.Skip("only root can be anybody on the hosts")
	}
	f := newFleet(t, 1)
	f.write("plugins/note", `#!/bin/sh
if [ "$1" = describe ]; then
	echo '{"protocol": 1, "capabilities": [{"kind": "execute", "name": "note", "where": "controller", "check": "full",
		"schema": {"type": "object", "properties": {"to": {"type": "string", "format": "path"}, "text": {"type": "string"}}}}]}' | tr -d '\n'
	exit
fi
request=$(cat)
field() { printf '%s' "$request" | sed 's/.*"'"$1"'":"\([^"]*\)".*/\1/'; }
case $request in
*'"check":true'*) echo '{"status": "changed", "msg": "would note"}'; exit ;;
esac
host=$(printf '%s' "$request" | sed 's/.*"host":{"name":"\([^"]*\)".*/\1/')
echo "$host $(field text) by $(id -un) in $(pwd) given $(field cwd)" >>"$(field to)"
echo '{"status": "changed"}'
`)
	if err := os.Chmod(filepath.Join(f.dir, "plugins/note"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.put(f.servers[0], "log", "") // as if it were there, too
	hosts, err := os.ReadFile(filepath.Join(f.dir, "hosts.ini"))
	if err != nil {
		t.Fatal(err)
	}
	f.write("hosts.ini", string(hosts)+"[lost]\nnowhere ansible_host=127.0.0.1 ansible_port=1\n")
	site := `
- hosts: web
  gather_facts: false
  tasks:
    - note: {to: log, text: first}
    - shell: echo "web1 second" >>~/log; echo "web1 second" >>` + f.dir + `/log
    - note: {to: log, text: third}
      become: true
      become_user: nobody
    - note: {to: "~/log", text: fourth}
    - note: {to: "{{ playbook_dir }}/log", text: fifth}
      delegate_to: nowhere
- hosts: nowhere
  gather_facts: false
  tasks:
    - note: {to: log, text: sixth}
`
	dry := f.play(0, site, "--trust-plugins", "--check")
	f.recap(dry, "web1 ok=4 changed=4 skipped=1", "nowhere ok=1 changed=1")
	if _, err := os.Lstat(filepath.Join(f.dir, "log")); err == nil {
		t.Error("the dry run wrote the log")
	}
	f.recap(f.play(0, site, "--trust-plugins"), "web1 ok=5 changed=5", "nowhere ok=1 changed=1")
	here := " by root in " + f.dir + " given " + f.dir + "\n"
	for name, want := range map[string]string{
		"log":      "web1 first" + here + "web1 second\n" + "web1 third" + here + "web1 fifth" + here + "nowhere sixth" + here,
		"home/log": "web1 fourth" + here,
	} {
		if text, err := os.ReadFile(filepath.Join(f.dir, name)); err != nil || string(text) != want {
			t.Errorf("%s is\n%s\nwant\n%s\n%v", name, text, want, err)
		}
	}
	f.has(1, "log", "web1 second\n")
}

// leftOn is what is in the directory for temporary files of a host.
func (f *fleet) leftOn(host int) (names []string) {
	f.t.Helper()
	entries, err := os.ReadDir(filepath.Join(f.servers[host-1].Home, "tmp"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
