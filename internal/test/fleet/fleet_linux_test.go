package fleet

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"moon/exec/remote/sshtest"
	"moon/internal/assault"
	"moon/internal/cli"
)

// fleet is a project whose hosts are reached by ssh: servers of this machine, each with a home of its own.
type fleet struct {
	t       *testing.T
	dir     string
	servers []*sshtest.Server
}

// newFleet starts so many hosts, and writes the inventory that has them: web1, web2 and so on, in the group web.
func newFleet(t *testing.T, hosts int) *fleet {
	t.Helper()
	t.Setenv("MOON_TRUST", "true") // the servers are reached with a configuration of ssh
	f := &fleet{t: t, dir: t.TempDir(), servers: sshtest.Start(t, hosts)}
	t.Setenv("XDG_STATE_HOME", filepath.Join(f.dir, "state"))
	t.Setenv("HOME", filepath.Join(f.dir, "home"))
	f.write("home/.keep", "")
	var ini strings.Builder
	ini.WriteString("[web]\n")
	for _, s := range f.servers {
		s.Keep(t)
		fmt.Fprintf(&ini, "%s %s\n", s.Host.Name, hostVars(s))
	}
	f.write("hosts.ini", ini.String())
	return f
}

// hostVars are the variables by which a host is reached, as an inventory has them.
func hostVars(s *sshtest.Server) string {
	return fmt.Sprintf("ansible_host=%s ansible_port=%d ansible_ssh_common_args='%s'", s.Host.Address, s.Host.Port, s.Host.Args)
}

func (f *fleet) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// put lays a file down in the home of a host.
func (f *fleet) put(s *sshtest.Server, name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(s.Home, name), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// moon runs moon in this process, and gives its exit code and all that it printed.
func (f *fleet) moon(args ...string) (int, string) {
	f.t.Helper()
	f.t.Chdir(f.dir)
	var out bytes.Buffer
	code := cli.Run(cli.NewInvocation(strings.NewReader(""), &out, &out), args)
	return code, out.String()
}

// play runs a playbook of this text, as scripts call ansible-playbook, and wants an exit code.
func (f *fleet) play(want int, site string, args ...string) string {
	f.t.Helper()
	f.write("site.yml", site)
	code, out := f.moon(append([]string{"run", "site.yml", "-i", "hosts.ini", "-o", "ansible", "--approve", "all"}, args...)...)
	if code != want {
		f.t.Fatalf("exit status %d, want %d\n%s", code, want, out)
	}
	return out
}

var countsLine = regexp.MustCompile(`(?m)^(\S+)\s+: (ok=.*?)\s*$`)

// recap checks the counts of hosts, of those that are named as they are named: "web1 ok=2 changed=1".
func (f *fleet) recap(out string, want ...string) {
	f.t.Helper()
	got := map[string]string{}
	for _, m := range countsLine.FindAllStringSubmatch(out, -1) {
		var counts []string
		for word := range strings.FieldsSeq(m[2]) {
			if !strings.HasSuffix(word, "=0") {
				counts = append(counts, word)
			}
		}
		got[m[1]] = strings.Join(counts, " ")
	}
	for _, line := range want {
		host, counts, _ := strings.Cut(line, " ")
		if got[host] != counts {
			f.t.Errorf("%s: %q, want %q\n%s", host, got[host], counts, out)
		}
	}
}

// has checks what a file of a host holds.
func (f *fleet) has(host int, name, want string) {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.servers[host-1].Home, name))
	if err != nil || string(text) != want {
		f.t.Errorf("%s of web%d is %q, want %q: %v", name, host, text, want, err)
	}
}

func (f *fleet) hasNot(host int, name string) {
	f.t.Helper()
	if _, err := os.Lstat(filepath.Join(f.servers[host-1].Home, name)); !os.IsNotExist(err) {
		f.t.Errorf("%s of web%d is there: %v", name, host, err)
	}
}

// webRole is a role as those that install a server: what it needs, what it is set to with facts of the host, what it serves,
// and a handler that starts it again.
var webRole = map[string]string{
	"roles/web/defaults/main.yml":     "web_root: ~/web\nweb_greeting: hello\n",
	"roles/web/templates/web.conf.j2": "# {{ ansible_managed }}\nname {{ inventory_hostname }}\nuser {{ ansible_user_id }} on {{ ansible_system }}\nhome {{ ansible_env.HOME }}\nmoon {{ os }}\nhosts {{ groups['web'] | join(' ') }}\n",
	"roles/web/files/web.sh":          "#!/bin/sh\ntrap 'exit 0' TERM\necho $$ >pid\necho started >>starts\nwhile :; do sleep 0.1; done\n",
	"roles/web/tasks/main.yml": `
- name: directory
  file: {path: "{{ web_root }}", state: directory, mode: "0750"}
- name: settings
  template: {src: web.conf.j2, dest: "{{ web_root }}/web.conf", mode: "0640"}
  notify: restart web
- name: program
  copy: {src: web.sh, dest: "{{ web_root }}/web.sh", mode: "0755"}
  notify: restart web
- name: page
  copy: {content: "{{ web_greeting }} from {{ inventory_hostname }}\n", dest: "{{ web_root }}/index.html", mode: "0644"}
- name: rights
  stat: {path: "{{ web_root }}/web.conf"}
  register: rights
- assert: {that: ["rights.stat.mode == '0640'", "rights.stat.isreg"]}
`,
	"roles/web/handlers/main.yml": `
- name: restart web
  shell: |
    [ ! -f pid ] || kill "$(cat pid)"
    rm -f pid
    setsid ./web.sh </dev/null >/dev/null 2>&1 &
    while [ ! -s pid ]; do sleep 0.01; done
  args: {chdir: "{{ web_root }}"}
`,
}

// TestFleetRole installs a server on three hosts, changes nothing the second time, and restarts it where something changes.
func TestFleetRole(t *testing.T) {
	f := newFleet(t, 3)
	for name, text := range webRole {
		f.write(name, text)
	}
	t.Cleanup(func() {
		for _, s := range f.servers {
			endPID(filepath.Join(s.Home, "web/pid"))
		}
	})
	const site = "- hosts: web\n  roles: [web]\n"
	out := f.play(0, site)
	f.recap(out, "web1 ok=8 changed=5", "web2 ok=8 changed=5", "web3 ok=8 changed=5")
	if n := strings.Count(out, "RUNNING HANDLER"); n != 1 {
		t.Errorf("%d handlers ran\n%s", n, out)
	}
	for i := range f.servers {
		f.has(i+1, "web/starts", "started\n")
		f.has(i+1, "web/index.html", fmt.Sprintf("hello from web%d\n", i+1))
		f.has(i+1, "web/web.conf", fmt.Sprintf("# Ansible managed\nname web%d\nuser root on Linux\nhome %s\nmoon linux\nhosts web1 web2 web3\n", i+1, f.servers[i].Home))
		for name, mode := range map[string]os.FileMode{"web": 0o750 | os.ModeDir, "web/web.conf": 0o640, "web/web.sh": 0o755} {
			if info, err := os.Stat(filepath.Join(f.servers[i].Home, name)); err != nil || info.Mode() != mode {
				t.Errorf("%s of web%d: %v, %v", name, i+1, info, err)
			}
		}
	}
	f.recap(f.play(0, site), "web1 ok=7", "web2 ok=7", "web3 ok=7")
	f.write("host_vars/web2.yml", "web_greeting: good evening\n")
	if err := os.Remove(filepath.Join(f.servers[2].Home, "web/web.conf")); err != nil {
		t.Fatal(err)
	}
	f.recap(f.play(0, site), "web1 ok=7", "web2 ok=7 changed=1", "web3 ok=8 changed=2")
	f.has(1, "web/starts", "started\n")
	f.has(3, "web/starts", "started\nstarted\n")
}

// TestFleetSerial takes hosts one after the other. What fails on one of them is put right there, and the next goes on.
func TestFleetSerial(t *testing.T) {
	assault.Long(t)
	f := newFleet(t, 3)
	log := filepath.Join(f.dir, "log")
	out := f.play(0, `
- hosts: web
  serial: 1
  gather_facts: false
  tasks:
    - block:
        - shell: echo {{ inventory_hostname }} begins >>`+log+`
        - command: "{{ 'false' if inventory_hostname == 'web2' else 'true' }}"
      rescue:
        - shell: echo {{ inventory_hostname }} is put right >>`+log+`
      always:
        - shell: echo {{ inventory_hostname }} ends >>`+log+`
`)
	f.recap(out, "web1 ok=3 changed=3", "web2 ok=3 changed=3 rescued=1", "web3 ok=3 changed=3")
	text, err := os.ReadFile(log)
	if want := "web1 begins\nweb1 ends\nweb2 begins\nweb2 is put right\nweb2 ends\nweb3 begins\nweb3 ends\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFleetUnreachable has a host that cannot be reached among others, which continue without it; unless the playbook says that it
// does not matter.
func TestFleetUnreachable(t *testing.T) {
	f := newFleet(t, 3)
	f.servers[1].Deaf(true)
	const site = `
- hosts: web
  tasks:
    - copy: {content: "{{ inventory_hostname }} {{ ansible_system }}", dest: ~/made}
    - copy: {content: also, dest: ~/also}
`
	out := f.play(1, site)
	f.recap(out, "web1 ok=3 changed=2", "web2 unreachable=1", "web3 ok=3 changed=2")
	if !strings.Contains(out, "web2") || !strings.Contains(out, "UNREACHABLE!") {
		t.Error(out)
	}
	f.hasNot(2, "made")
	f.hasNot(2, "also")
	for _, text := range []string{site, strings.Replace(strings.Replace(site, "tasks:", "gather_facts: false\n  tasks:", 1), "{{ ansible_system }}", "{{ r.x | default }}", 1)} {
		f.write("site.yml", text)
		code, out := f.moon("plan", "--check", "-i", "hosts.ini", "site.yml")
		n, said := strings.Count(text, "copy:")+1-strings.Count(text, "gather_facts"), strings.Count(out, "web2 (127.0.0.1:")
		if code != 1 || said != 1 || !strings.Contains(out, fmt.Sprintf(", %d not reached\n", n)) || strings.Contains(out, "would fail") {
			t.Errorf("exit %d, the reason %d times\n%s", code, said, out)
		}
	}
	out = f.play(0, `
- hosts: web
  gather_facts: false
  ignore_unreachable: true
  tasks:
    - command: "true"
      register: r
    - debug: {msg: "{{ inventory_hostname }} {{ r.unreachable | default(false) }}"}
`)
	f.recap(out, "web1 ok=2 changed=1", "web2 ok=2 ignored=1", "web3 ok=2 changed=1")
	if !strings.Contains(out, "web2 True") || !strings.Contains(out, "web3 False") {
		t.Error(out)
	}
}

// TestFleetElsewhere delegates, runs once for all, and moves files between hosts and this machine.
func TestFleetElsewhere(t *testing.T) {
	assault.Long(t)
	f := newFleet(t, 3)
	f.write("files/here.txt", "from here\n")
	here := filepath.Join(f.dir, "log")
	out := f.play(0, `
- hosts: web
  gather_facts: false
  tasks:
    - name: for all
      shell: 'echo once >>~/once; echo token'
      run_once: true
      register: token
    - name: on another host
      shell: echo {{ inventory_hostname }} {{ token.stdout }} >>~/asked
      delegate_to: web3
    - name: here
      shell: echo {{ inventory_hostname }} $HOME >>`+here+`
      delegate_to: localhost
    - file: {path: sub, state: directory}
    - name: brought
      copy: {src: here.txt, dest: sub/there.txt, mode: "0600"}
    - name: moved there
      copy: {src: sub/there.txt, dest: ~/copied, remote_src: true}
    - name: back
      fetch: {src: ~/copied, dest: fetched}
    - name: its name, from the place of another
      shell: echo {{ hostvars['web1'].token.stdout }} >~/seen
      environment: {GREETING: hello}
    - name: words
      shell: printf %s "$GREETING {{ inventory_hostname }}" >env
      environment: {GREETING: hello}
`)
	f.recap(out, "web1 ok=9 changed=9", "web2 ok=8 changed=8", "web3 ok=8 changed=8")
	f.has(1, "once", "once\n")
	f.hasNot(2, "once")
	for i := range f.servers {
		name := fmt.Sprintf("web%d", i+1)
		f.has(i+1, "sub/there.txt", "from here\n")
		f.has(i+1, "copied", "from here\n")
		f.has(i+1, "env", "hello "+name)
		f.has(i+1, "seen", "token\n")
		text, err := os.ReadFile(filepath.Join(f.dir, "fetched", name, f.servers[i].Home, "copied"))
		if err != nil || string(text) != "from here\n" {
			t.Errorf("%q, %v", text, err)
		}
		for path, want := range map[string]string{filepath.Join(f.servers[2].Home, "asked"): name + " token\n", here: name + " " + filepath.Join(f.dir, "home") + "\n"} {
			if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s: %q, %v", path, text, err)
			}
		}
	}
}

// endPID ends the process that a file names, if there is one.
func endPID(path string) {
	var pid int
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	if _, err := fmt.Sscan(string(text), &pid); err == nil {
		_ = syscall.Kill(pid, syscall.SIGTERM) // or it has ended
	}
}

// TestFleetSavedEnv saves a plan that uses one variable of another machine's environment: that one is kept, others are not, and the plan that
// is applied is the one that was saved.
func TestFleetSavedEnv(t *testing.T) {
	f := newFleet(t, 1)
	f.write("site.yml", `
- hosts: web
  tasks:
    - shell: echo {{ ansible_env.HOME }} >> ~/made
`)
	if code, out := f.moon("plan", "site.yml", "-i", "hosts.ini", "-o", "saved.plan"); code != 0 {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	text, err := os.ReadFile(filepath.Join(f.dir, "saved.plan"))
	if err != nil {
		t.Fatal(err)
	}
	home := f.servers[0].Home
	if kept := string(text); !strings.Contains(kept, home) || strings.Contains(kept, "SSH_CONNECTION") {
		t.Errorf("the saved plan has\n%s", kept)
	}
	if code, out := f.moon("run", "--plan", "saved.plan", "--approve", "all"); code != 0 {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	f.has(1, "made", home+"\n")
}
