package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"moon/internal/app"
	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// appears waits until a file has been written, as what is on its way has no other sign.
func appears(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(fakes.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
	}
	t.Fatal(path, "does not appear")
}

// start begins moon as a process of its own.
func (f *fleet) start(args ...string) (*exec.Cmd, *os.File) {
	f.t.Helper()
	self, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	moon := filepath.Join(f.dir, "moon")
	if err := os.Symlink(self, moon); err != nil && !os.IsExist(err) {
		f.t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(f.dir, "out"))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = out.Close() })
	cmd := exec.Command(moon, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = f.dir, out, out
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	return cmd, out
}

// wholeOf is what a process of moon has printed.
func wholeOf(t *testing.T, out *os.File) string {
	t.Helper()
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFleetInterrupted stops a run: what runs on the hosts is ended with all it has started. A moon that is killed leaves nothing
// there either.
func TestFleetInterrupted(t *testing.T) {
	assault.Long(t)
	f := newFleet(t, 2)
	f.write("site.yml", `
- hosts: web
  gather_facts: false
  tasks:
    - shell: 'echo $$ >pid; sleep 1000 & echo $! >child; wait'
`)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		cmd, out := f.start("run", "site.yml", "-i", "hosts.ini")
		for _, s := range f.servers {
			appears(t, filepath.Join(s.Home, "pid"))
			appears(t, filepath.Join(s.Home, "child"))
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // its exit status says how
		if code := cmd.ProcessState.ExitCode(); sig == syscall.SIGINT && code != app.ExitInterrupted {
			t.Errorf("%d\n%s", code, wholeOf(t, out))
		}
		for _, s := range f.servers {
			for _, name := range []string{"pid", "child"} {
				fakes.AwaitEnd(t, filepath.Join(s.Home, name))
				if err := os.Remove(filepath.Join(s.Home, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestFleetInventories reaches hosts by what their inventories say, in both forms, two names of one machine among them.
func TestFleetInventories(t *testing.T) {
	f := newFleet(t, 2)
	one, two := f.servers[0].Host, f.servers[1].Host
	dir := strings.Fields(one.Args)[1]
	dir = filepath.Dir(dir)
	f.write("hosts.yml", fmt.Sprintf(`
all:
  vars:
    ansible_ssh_common_args: "-o UserKnownHostsFile=%[1]s/known_hosts -o GlobalKnownHostsFile=/dev/null -o IdentitiesOnly=yes -o IdentityAgent=none"
    ansible_ssh_private_key_file: %[1]s/key
    ansible_host: 127.0.0.1
    address: 127.0.0.1
  children:
    web:
      hosts:
        first: {ansible_port: %[2]d, ansible_user: root, ansible_ssh_extra_args: -o HostKeyAlias=web1}
        again: {ansible_port: "{{ port }}", port: %[2]d, ansible_host: "{{ address }}", ansible_ssh_extra_args: -o HostKeyAlias=web1}
        second: {ansible_port: %[3]d, ansible_ssh_extra_args: -o HostKeyAlias=web2}
`, dir, one.Port, two.Port))
	f.write("hosts.ini", fmt.Sprintf(`
[web]
first ansible_port=%[2]d ansible_user=root ansible_ssh_extra_args='-o HostKeyAlias=web1'
again ansible_port="{{ port }}" port=%[2]d ansible_ssh_extra_args='-o HostKeyAlias=web1'
second ansible_port=%[3]d ansible_ssh_extra_args='-o HostKeyAlias=web2'
[web:vars]
ansible_host=127.0.0.1
ansible_ssh_private_key_file=%[1]s/key
ansible_ssh_common_args='-o UserKnownHostsFile=%[1]s/known_hosts -o GlobalKnownHostsFile=/dev/null -o IdentitiesOnly=yes -o IdentityAgent=none'
`, dir, one.Port, two.Port))
	for _, inventory := range []string{"hosts.ini", "hosts.yml"} {
		out := f.play(0, "- hosts: web\n  tasks:\n    - shell: echo {{ inventory_hostname }} {{ ansible_env.HOME }} >>~/names\n", "-i", inventory)
		f.recap(out, "first ok=2 changed=1", "again ok=2 changed=1", "second ok=2 changed=1")
	}
	f.has(2, "names", strings.Repeat("second "+f.servers[1].Home+"\n", 2))
	text, err := os.ReadFile(filepath.Join(f.servers[0].Home, "names"))
	if err != nil || strings.Count(string(text), "first ") != 2 || strings.Count(string(text), "again ") != 2 {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFleetStrangers refuses hosts whose key nobody knows, and those that have another one, in words that say so.
func TestFleetStrangers(t *testing.T) {
	f := newFleet(t, 2)
	f.servers[0].Impostor(t)
	f.write("hosts.ini", "web1 "+hostVars(f.servers[0])+"\nweb2 "+strings.Replace(hostVars(f.servers[1]), "HostKeyAlias=web2", "HostKeyAlias=stranger", 1)+"\n")
	out := f.play(1, "- hosts: all\n  gather_facts: false\n  tasks:\n    - command: touch ~/made\n")
	f.recap(out, "web1 unreachable=1", "web2 unreachable=1")
	if n := strings.Count(out, "Host key verification failed"); n < 2 {
		t.Errorf("it is said %d times\n%s", n, out)
	}
	f.hasNot(1, "made")
}

// TestFleetFacts plans with the facts of hosts, of each its own under both of its names, and without where nobody is to connect.
func TestFleetFacts(t *testing.T) {
	f := newFleet(t, 2)
	f.write("site.yml", "- hosts: web\n  tasks:\n    - debug: {msg: \"{{ home }} {{ ansible_env.HOME }} {{ ansible_facts.env.HOME }} {{ facts.os }}\"}\n    - debug: {msg: linux}\n      when: linux\n")
	want := func(out, text string) {
		t.Helper()
		for _, s := range f.servers {
			if line := strings.ReplaceAll(text, "HOME", s.Home); !strings.Contains(out, line) {
				t.Errorf("no %q in\n%s", line, out)
			}
		}
	}
	code, out := f.moon("plan", "site.yml", "-i", "hosts.ini", "--flat")
	if code != 0 {
		t.Fatalf("%d\n%s", code, out)
	}
	want(out, "HOME HOME HOME linux")
	dials := f.servers[0].Dials()
	code, out = f.moon("plan", "site.yml", "-i", "hosts.ini", "--no-connect")
	if code != 0 || strings.Contains(out, f.servers[0].Home) {
		t.Errorf("%d\n%s", code, out)
	}
	if n := f.servers[0].Dials(); n != dials {
		t.Errorf("it has connected %d times", n-dials)
	}
	for _, flags := range [][]string{nil, {"--no-connect"}} {
		code, out = f.moon(append([]string{"run", "site.yml", "-i", "hosts.ini", "-o", "ansible"}, flags...)...)
		if code != 0 {
			t.Fatalf("%d\n%s", code, out)
		}
		want(out, "HOME HOME HOME linux")
		f.recap(out, "web1 ok=3", "web2 ok=3")
	}
}

// TestFleetPredicted predicts what would change on hosts by looking there, and nowhere else.
func TestFleetPredicted(t *testing.T) {
	f := newFleet(t, 2)
	if err := os.WriteFile(filepath.Join(f.servers[0].Home, "made"), []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f.write("site.yml", "- hosts: web\n  gather_facts: false\n  tasks:\n    - copy: {content: \"text\\n\", dest: ~/made}\n")
	code, out := f.moon("plan", "site.yml", "-i", "hosts.ini", "--check", "--format", "json")
	if code != 0 {
		t.Fatalf("%d\n%s", code, out)
	}
	if n := strings.Count(out, `"kind": "create"`); n != 1 || strings.Contains(out, filepath.Join(f.dir, "home")) {
		t.Errorf("%d files would be made\n%s", n, out)
	}
	code, out = f.moon("run", "site.yml", "-i", "hosts.ini", "--check", "-o", "ansible")
	if code != 0 {
		t.Fatalf("%d\n%s", code, out)
	}
	f.recap(out, "web1 ok=1", "web2 ok=1 changed=1")
	f.hasNot(2, "made")
	dials := f.servers[0].Dials() + f.servers[1].Dials()
	code, out = f.moon("plan", "site.yml", "-i", "hosts.ini", "--check", "--no-connect")
	if n := f.servers[0].Dials() + f.servers[1].Dials() - dials; n > 0 || code != 0 || !strings.Contains(out, "unpredictable: <host> is not asked") {
		t.Errorf("%d, and it has connected %d times\n%s", code, n, out)
	}
}

// TestFleetOtherSystem has a host that no moon is here for: it is out of reach, in the plan and in the run, with a way out, and the
// others go on.
func TestFleetOtherSystem(t *testing.T) {
	assault.Long(t)
	f := newFleet(t, 2)
	bin := filepath.Join(f.servers[1].Home, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "uname"), []byte("#!/bin/sh\necho Linux mips\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.servers[1].Setenv(t, "PATH", bin+":/usr/bin:/bin")
	agents := filepath.Join(f.dir, "agents")
	t.Setenv("MOON_AGENTS", agents)
	t.Setenv("MOON_ANSIBLE_EXIT", "1")
	out := f.play(app.AnsibleUnreachable, "- hosts: web\n  tasks:\n    - copy: {content: x, dest: ~/made}\n")
	f.recap(out, "web1 ok=2 changed=1", "web2 unreachable=1")
	want := "it is linux-mips, and there is no moon for that here; put one of this version at " + agents + "/linux-mips/moon (`GOOS=linux GOARCH=mips go build` makes it of moon's sources)"
	if !strings.Contains(out, "warning: the facts of web2 are not known yet: ") || strings.Count(out, want) != 2 {
		t.Errorf("%d times %q\n%s", strings.Count(out, want), want, out)
	}
	f.has(1, "made", "x")
	f.hasNot(2, "made")
}

// TestFleetAwaited waits for a host that is away, and gives up where it does not come back.
func TestFleetAwaited(t *testing.T) {
	assault.Long(t)
	f := newFleet(t, 2)
	f.servers[1].Deaf(true)
	f.write("site.yml", `
- hosts: web
  gather_facts: false
  tasks:
    - command: touch {{ begun }}
      delegate_to: localhost
      run_once: true
    - wait_for_connection: {timeout: 60, sleep: 0.1}
    - command: echo here
`)
	begun := filepath.Join(f.dir, "begun")
	cmd, out := f.start("run", "site.yml", "-i", "hosts.ini", "-o", "ansible", "-e", "begun="+begun)
	for end := time.Now().Add(fakes.Patience); time.Now().Before(end) && f.servers[1].Dials() < 2; time.Sleep(10 * time.Millisecond) {
	}
	f.servers[1].Deaf(false)
	_ = cmd.Wait() // its exit status says how
	text := wholeOf(t, out)
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("%d\n%s", code, text)
	}
	f.recap(text, "web1 ok=3 changed=2", "web2 ok=2 changed=1")

	f.servers[1].Deaf(true)
	out2 := f.play(1, "- hosts: web\n  gather_facts: false\n  tasks:\n    - wait_for_connection: {timeout: 1, sleep: 0.1}\n", "-l", "web2")
	f.recap(out2, "web2 failed=1")
	if !strings.Contains(out2, "waited 1s for web2: ") {
		t.Error(out2)
	}
}

// TestFleetReboot starts a host again: it goes away in the middle, stays away for some tries, and is back as another start of itself.
// Where the command fails, or nothing goes down, the step fails.
func TestFleetReboot(t *testing.T) {
	assault.Long(t)
	f := newFleet(t, 3)
	for _, s := range f.servers {
		f.put(s, "start", "first\n")
	}
	f.write("site.yml", `
- hosts: web
  gather_facts: false
  tasks:
    - reboot:
        boot_time_command: cat start
        reboot_command: "{{ how[inventory_hostname] }}"
        test_command: touch tested
        reboot_timeout: "{{ 2 if inventory_hostname == 'web3' else 60 }}"
        connect_timeout: 1
      vars:
        how: {web1: 'echo x >going; sleep 1000', web2: 'echo no power >&2; exit 7', web3: 'true'}
      register: r
    - copy: {dest: after, content: "{{ r.rebooted }} {{ r.elapsed is number }}"}
`)
	cmd, out := f.start("run", "site.yml", "-i", "hosts.ini", "-o", "text")
	appears(t, filepath.Join(f.servers[0].Home, "going"))
	dials := f.servers[0].Dials()
	f.servers[0].Deaf(true)
	f.servers[0].Cut()
	for end := time.Now().Add(fakes.Patience); time.Now().Before(end) && f.servers[0].Dials() < dials+2; time.Sleep(10 * time.Millisecond) {
	}
	f.put(f.servers[0], "start", "second\n")
	f.servers[0].Deaf(false)
	_ = cmd.Wait() // its exit status says how
	text := wholeOf(t, out)
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("%d\n%s", code, text)
	}
	f.has(1, "tested", "")
	f.has(1, "after", "True True")
	f.hasNot(2, "after")
	f.hasNot(3, "after")
	for _, want := range []string{"the machine was not started again: exit status 7: no power", "waited 2s for web3 to come back: it has not gone down yet"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}

	f.write("here.yml", "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - reboot:\n")
	if code, text := f.moon("run", "here.yml"); code != 1 || !strings.Contains(text, "would end the run") {
		t.Errorf("%d\n%s", code, text)
	}
}

// TestFleetBecome runs steps of hosts as others: of a user who logs in there with and without a password for sudo.
func TestFleetBecome(t *testing.T) {
	p := newPeople(t)
	f := newFleet(t, 3)
	p.sudoers(t, "ADA ALL=(ALL) PASSWD: ALL\n")
	f.write("hosts.ini", "[web]\nweb1 "+hostVars(f.servers[0])+" ansible_user="+p.ada.Username+"\nweb2 "+hostVars(f.servers[1])+" ansible_user="+p.ada.Username+"\nweb3 "+hostVars(f.servers[2])+"\n")
	const site = `
- hosts: web
  gather_facts: false
  become: true
  become_user: BOB
  tasks:
    - command: whoami
      register: me
    - assert: {that: me.stdout == 'BOB'}
    - copy: {content: "{{ inventory_hostname }}", dest: "~/{{ inventory_hostname }}", mode: "0600"}
    - copy: {src: "~/{{ inventory_hostname }}", dest: "~/copy of {{ inventory_hostname }}", remote_src: true}
    - stat: {path: "~BOB/copy of {{ inventory_hostname }}"}
      register: made
    - assert: {that: [made.stat.pw_name == 'BOB', made.stat.exists]}
    - fetch: {src: "~/{{ inventory_hostname }}", dest: "FETCHED/", flat: true}
`
	text := strings.NewReplacer("BOB", p.bob.Username, "FETCHED", filepath.Join(f.dir, "fetched")).Replace(site)
	made := func() {
		t.Helper()
		for i := range f.servers {
			name := fmt.Sprintf("web%d", i+1)
			for _, path := range []string{filepath.Join(p.bob.HomeDir, name), filepath.Join(p.bob.HomeDir, "copy of "+name), filepath.Join(f.dir, "fetched", name)} {
				if got, err := os.ReadFile(path); err != nil || string(got) != name {
					t.Errorf("%s: %q, %v", path, got, err)
				}
				_ = os.Remove(path) // for the next
			}
		}
	}
	out := f.play(1, text)
	f.recap(out, "web1 failed=1", "web2 failed=1", "web3 ok=7 changed=4")
	if !strings.Contains(out, "password") || strings.Contains(out, p.ada.password) {
		t.Error(out)
	}
	_ = os.Remove(filepath.Join(p.bob.HomeDir, "web3"))
	_ = os.Remove(filepath.Join(p.bob.HomeDir, "copy of web3"))
	_ = os.Remove(filepath.Join(f.dir, "fetched", "web3"))

	f.write("password", p.ada.password+"\n")
	f.recap(f.play(0, text, "--become-password-file", filepath.Join(f.dir, "password")), "web1 ok=7 changed=4", "web2 ok=7 changed=4", "web3 ok=7 changed=4")
	made()
	f.write("group_vars/web.yml", fmt.Sprintf("ansible_become_password: %q\n", p.ada.password))
	out = f.play(0, text)
	f.recap(out, "web1 ok=7 changed=4", "web2 ok=7 changed=4", "web3 ok=7 changed=4")
	if strings.Contains(out, p.ada.password) {
		t.Error("the password is shown")
	}
	made()
}
