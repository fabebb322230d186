package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// benchTasks are 50 tasks as playbooks have them: five of each of ten kinds.
func benchTasks() string {
	kinds := []string{
		"command: \"true\"\n      changed_when: false",
		"file: {path: \"{{ place }}/d%[1]d\", state: directory, mode: \"0755\"}",
		"copy: {src: small, dest: \"{{ place }}/small%[1]d\", mode: \"0644\"}",
		"template: {src: t.j2, dest: \"{{ place }}/t%[1]d\", mode: \"0644\"}",
		"stat: {path: \"{{ place }}/small2\"}\n      register: st%[1]d",
		"lineinfile: {path: \"{{ place }}/lines\", line: \"line %[1]d\", create: true, mode: \"0644\"}",
		"shell: echo {{ inventory_hostname }} >{{ place }}/s%[1]d",
		"copy: {content: \"{{ inventory_hostname }}\\n\", dest: \"{{ place }}/c%[1]d\", mode: \"0600\"}",
		"file: {path: \"{{ place }}/t3\", mode: \"0640\"}",
		"command: test -e {{ place }}/d1\n      changed_when: false",
	}
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, "    - name: task %d\n      "+strings.ReplaceAll(kinds[i%len(kinds)], "%[1]d", fmt.Sprint(i))+"\n", i)
	}
	return b.String()
}

// TestHostsAgainstAnsible runs 50 tasks on 20 hosts over ssh with moon and with ansible-playbook, and says what each takes. It is
// started by `make bench-hosts`, takes minutes, and asserts nothing but that both do it: figures are for docs/performance.md.
func TestHostsAgainstAnsible(t *testing.T) {
	if os.Getenv("BENCH") != "hosts" {
		t.Skip("it is started by make bench-hosts")
	}
	ansible, err := exec.LookPath("ansible-playbook")
	if err != nil {
		t.Skip("no ansible-playbook here")
	}
	const hosts = 20
	f := newFleet(t, hosts)
	moon := filepath.Join(f.dir, "moon")
	agents := filepath.Join(f.dir, "agents") // beside moon, as in a release
	for _, argv := range [][]string{
		{"go", "build", "-o", moon, "."}, {"make", "agents", "AGENTS=" + agents, "SYSTEMS=" + runtime.GOOS + "-" + runtime.GOARCH},
	} {
		build := exec.Command(argv[0], argv[1:]...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0", "HOME="+os.Getenv("REAL_HOME"))
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	packed, err := exec.Command("sh", "-c", "gzip -c "+agents+"/*/moon | wc -c").Output()
	t.Logf("an agent is %s bytes, packed (%v)", strings.TrimSpace(string(packed)), err)
	f.write("files/small", strings.Repeat("a small file\n", 20))
	f.write("templates/t.j2", "{{ inventory_hostname }} is one of {{ groups['web'] | length }}\n")
	head := "- hosts: web\n  gather_facts: false\n  vars: {place: \"{{ home_of[inventory_hostname] }}/%s\", home_of: {" // where ~ is differs for ansible, which asks the password file
	for _, s := range f.servers {
		head += fmt.Sprintf("%s: %q, ", s.Host.Name, s.Home)
	}
	head += "}}\n  tasks:\n    - file: {path: \"{{ place }}\", state: directory}\n"
	f.write("ansible.cfg", fmt.Sprintf("[defaults]\nforks = %d\ninterpreter_python = /usr/bin/python3\n[ssh_connection]\npipelining = True\nssh_args = -o ControlMaster=auto -o ControlPersist=600s\n", hosts))
	for _, who := range []string{"moon", "ansible"} {
		f.write(who+"-one.yml", fmt.Sprintf(head, who))
		f.write(who+"-all.yml", fmt.Sprintf(head, who)+benchTasks())
	}
	took := func(what string, argv ...string) time.Duration {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = f.dir
		cmd.Env = append(os.Environ(), "ANSIBLE_CONFIG="+filepath.Join(f.dir, "ansible.cfg"))
		began := time.Now()
		out, err := cmd.CombinedOutput()
		wall := time.Since(began)
		if err != nil {
			t.Fatalf("%s: %v\n%s", what, err, out)
		}
		t.Logf("%-55s %8.2f s wall, %7.2f s of processor", what, wall.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
		return wall
	}
	run := func(name string) []string {
		return []string{moon, "run", name, "-i", "hosts.ini", "--forks", fmt.Sprint(hosts), "-o", "ansible"}
	}
	took("moon, one task, with a copy of moon to bring", run("moon-one.yml")...)
	if os.Getenv("BENCH_ANSIBLE") == "no" {
		return
	}
	one := took("moon, one task, connections to make", run("moon-one.yml")...)
	all := took("moon, 50 tasks more, connections to make", run("moon-all.yml")...)
	again := took("moon, the same again, nothing to change", run("moon-all.yml")...)
	play := func(name string) []string { return []string{ansible, "-i", "hosts.ini", name} }
	took("ansible-playbook, one task, connections to make", play("ansible-one.yml")...)
	ansibleOne := took("ansible-playbook, one task, connections open", play("ansible-one.yml")...)
	ansibleAll := took("ansible-playbook, 50 tasks more, connections open", play("ansible-all.yml")...)
	ansibleAgain := took("ansible-playbook, the same again, nothing to change", play("ansible-all.yml")...)
	t.Logf("whole runs: %.1f×; again: %.1f×; the 50 tasks alone: %.1f×", ansibleAll.Seconds()/all.Seconds(), ansibleAgain.Seconds()/again.Seconds(),
		(ansibleAll-ansibleOne).Seconds()/(all-one).Seconds())
	for i := range f.servers { // both have done the same
		a, err := os.ReadFile(filepath.Join(f.servers[i].Home, "ansible/lines"))
		b, err2 := os.ReadFile(filepath.Join(f.servers[i].Home, "moon/lines"))
		if err != nil || err2 != nil || string(a) != string(b) || strings.Count(string(a), "\n") != 5 {
			t.Errorf("%q, %q", a, b)
		}
	}
}
