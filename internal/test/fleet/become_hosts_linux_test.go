package fleet

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/internal/assault"
	"moon/internal/test/fakes"
)

// methodsSite does some work as another user, in each way that the hosts have.
const methodsSite = `
- hosts: web
  gather_facts: false
  become: true
  become_user: BOB
  tasks:
    - shell: 'id -un; echo up >~/up-{{ inventory_hostname }}; while [ ! -e ~/go ]; do sleep 0.05; done'
      register: me
    - assert: {that: me.stdout == 'BOB'}
    - copy: {content: "{{ inventory_hostname }}", dest: "~/{{ inventory_hostname }}", mode: "0600"}
    - command: id -un
      become: false
      register: me
    - assert: {that: me.stdout == 'ADA'}
`

// TestFleetBecomeTyped becomes another user by su, doas and sudo, each on a host of its own, the last behind another host. The
// password is typed on a terminal, and nobody sees it.
func TestFleetBecomeTyped(t *testing.T) {
	assault.Long(t)
	p := newPeople(t)
	f := newFleet(t, 3)
	p.sudoers(t, "Defaults:ADA timestamp_timeout=0\nADA ALL=(ALL) ALL\n")
	p.doas(t, "permit ADA as BOB\n")
	config := strings.Fields(f.servers[2].Host.Args)[1]
	conf, err := os.OpenFile(config, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	host := "Host %s\nHostName 127.0.0.1\nPort %d\nHostKeyAlias %s\n"
	_, err = fmt.Fprintf(conf, host+"User root\n"+host+"ProxyJump gate\n", "gate", f.servers[0].Host.Port, "web1", "behind", f.servers[2].Host.Port, "web3")
	if err != nil || conf.Close() != nil {
		t.Fatal(err)
	}
	f.write("hosts.ini", fmt.Sprintf("[web]\nweb1 ansible_become_method=su %s\nweb2 ansible_become_method=doas %s\nweb3 ansible_host=behind ansible_ssh_common_args='-F %s'\n[web:vars]\nansible_user=%s\n",
		hostVars(f.servers[0]), hostVars(f.servers[1]), config, p.ada.Username))
	site := strings.NewReplacer("ADA", p.ada.Username, "BOB", p.bob.Username).Replace(methodsSite)

	// Nobody gives one, and a wrong one is given.
	out := f.play(1, site)
	f.recap(out, "web1 failed=1", "web2 failed=1", "web3 failed=1")
	for _, method := range []string{"su", "doas", "sudo"} {
		if want := fmt.Sprintf("cannot become %s with %s: it asks for a password", p.bob.Username, method); !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	f.write("wrong", "not that\n")
	out = f.play(1, site, "--become-password-file", filepath.Join(f.dir, "wrong"))
	f.recap(out, "web1 failed=1", "web2 failed=1", "web3 failed=1")
	if n := strings.Count(out, "the password is wrong"); n < 3 || strings.Contains(out, "not that") {
		t.Errorf("it is said %d times\n%s", n, out)
	}

	// su asks for the password of whom it becomes, which the host's variables have.
	f.write("host_vars/web1.yml", fmt.Sprintf("ansible_become_password: %q\n", p.bob.password))
	dials := f.servers[0].Dials()
	c := fakes.OpenTerminal(t, 200, 40, []string{"XDG_STATE_HOME=" + filepath.Join(f.dir, "state")}, "run", filepath.Join(f.dir, "site.yml"), "-i", filepath.Join(f.dir, "hosts.ini"), "-o", "ansible", "-K")
	c.See("BECOME password:")
	c.Press(p.ada.password+"\r", "PLAY [web]")
	for i := range f.servers {
		appears(t, filepath.Join(p.bob.HomeDir, fmt.Sprintf("up-web%d", i+1)))
	}
	for _, password := range []string{p.ada.password, p.bob.password} {
		if seen := visible(password); len(seen) > 0 {
			t.Errorf("the password can be seen in %v", seen)
		}
	}
	touch(t, filepath.Join(p.bob.HomeDir, "go"))
	code, left := c.End()
	if code != 0 {
		t.Errorf("exit %d\n%s", code, left)
	}
	f.recap(left, "web1 ok=5 changed=3", "web2 ok=5 changed=3", "web3 ok=5 changed=3")
	if n := f.servers[0].Dials() - dials; n != 2 {
		t.Errorf("web1, which is also the way to web3, was dialled %d times", n)
	}
	for i := range f.servers {
		name := fmt.Sprintf("web%d", i+1)
		if text, err := os.ReadFile(filepath.Join(p.bob.HomeDir, name)); err != nil || string(text) != name {
			t.Errorf("%q, %v", text, err)
		}
	}
	err = filepath.WalkDir(filepath.Join(f.dir, "state"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, password := range []string{p.ada.password, p.bob.password} {
			if strings.Contains(string(text), password) {
				t.Errorf("a password is in %s", path)
			}
		}
		return err
	})
	if err != nil || strings.Contains(left, p.ada.password) {
		t.Errorf("%v\n%s", err, left)
	}
}

// TestFleetPasswordOnScreen has hosts whose sudo takes a password that nobody gave ahead. The screen makes room for the question;
// who has mistyped is asked again, who gives none can try the step once more, and the other host is not asked about.
func TestFleetPasswordOnScreen(t *testing.T) {
	assault.Long(t)
	p := newPeople(t)
	f := newFleet(t, 2)
	p.sudoers(t, "Defaults:ADA timestamp_timeout=0\nADA ALL=(ALL) ALL\n")
	f.write("hosts.ini", fmt.Sprintf("[web]\nweb1 %s\nweb2 %s\n[web:vars]\nansible_user=%s\n", hostVars(f.servers[0]), hostVars(f.servers[1]), p.ada.Username))
	f.write("site.yml", strings.ReplaceAll(`
- hosts: web
  gather_facts: false
  serial: 1
  become: true
  become_user: BOB
  tasks:
    - name: who
      shell: id -un >~/who-{{ inventory_hostname }}
`, "BOB", p.bob.Username))
	c := fakes.OpenTerminal(t, 120, 40, []string{"XDG_STATE_HOME=" + filepath.Join(f.dir, "state")}, "tui", "-i", filepath.Join(f.dir, "hosts.ini"), filepath.Join(f.dir, "site.yml"))
	question := fmt.Sprintf("password of %s on web1 for sudo:", p.ada.Username)
	c.See(question)
	c.AwaitQuestion()
	c.Press("not that\r", "that is not the password")
	c.AwaitQuestion()
	c.Press("\r", "REVIEW")
	c.Press("A", "2 approved")
	c.Press("c", question)
	c.AwaitQuestion()
	c.Press("\r", "PAUSED on failure", "cannot become")
	c.Press("r", question)
	c.AwaitQuestion()
	c.Press(p.ada.password+"\r", "PAUSED after a retry")
	c.Press("c", "DONE")
	c.Press("q")
	code, left := c.End()
	if code != 0 || strings.Contains(left, p.ada.password) {
		t.Errorf("exit %d\n%s", code, left)
	}
	for i := range f.servers {
		name := fmt.Sprintf("who-web%d", i+1)
		if text, err := os.ReadFile(filepath.Join(p.bob.HomeDir, name)); err != nil || string(text) != p.bob.Username+"\n" {
			t.Errorf("%q, %v", text, err)
		}
	}
}
