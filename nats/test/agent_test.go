package test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/nats-io/nats.go"

	"moon/nats/link"
)

// agent starts one on a host, and waits until it is ready.
func (s *site) agent(args ...string) (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	path := filepath.Join(s.dir, fmt.Sprintf("agent-%d", time.Now().UnixNano()))
	f, err := os.Create(path)
	if err != nil {
		s.t.Fatal(err)
	}
	c := s.cmd("host", append([]string{"agent"}, args...)...)
	c.Stdout, c.Stderr = f, f
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	var said bytes.Buffer
	s.until("an agent that is ready", func() bool {
		text, _ := os.ReadFile(path)
		said.Reset()
		said.Write(text)
		return bytes.Contains(text, []byte("ready: "))
	})
	return c, &said
}

// inventory writes one of hosts that call home.
func (s *site) inventory(hosts string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, "hosts.ini")
	if err := os.WriteFile(path, []byte("[all:vars]\nansible_connection=nats\n[g]\n"+hosts+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// file is what one of the site has, or "".
func (s *site) file(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.dir, name))
	return string(text)
}

// alive reports whether a process of this machine has a text among its words.
func alive(words string) bool {
	out, _ := exec.Command("pgrep", "-f", "--", words).Output()
	return len(out) > 0
}

// TestAgents runs a play on two hosts that call home.
func TestAgents(t *testing.T) {
	s := newSite(t)
	s.agent("--name", "h1")
	s.agent("--name=h2.example.com") // as its address has it
	tasks := `
- hosts: g
  tasks:
    - copy: {content: "{{ inventory_hostname }} is {{ ansible_facts.system }}\n", dest: "DIR/copied-{{ inventory_hostname }}"}
    - template: {src: t.j2, dest: "DIR/made-{{ inventory_hostname }}"}
    - shell: echo $0 $HOME $MOON_NATS$MOON_SELF; exit 3
      register: r
      failed_when: r.rc != 3
    - shell: head -c 5000000 /dev/zero | tr '\0' x; echo end >&2
      register: big
    - assert: {that: ["big.stdout | length == 5000000", "big.stderr == 'end'"]}
    - copy: {content: "{{ r.stdout }}", dest: "DIR/said-{{ inventory_hostname }}"}
`
	if os.Getuid() == 0 {
		tasks += "    - shell: id -un > /tmp/moon-$$; cat /tmp/moon-$$; rm /tmp/moon-$$\n      become: true\n      become_user: daemon\n      register: who\n" +
			"    - assert: {that: who.stdout == 'daemon'}\n"
	}
	if err := os.WriteFile(filepath.Join(s.dir, "t.j2"), []byte("made for {{ inventory_hostname }}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := s.playbook(strings.ReplaceAll(tasks, "DIR", s.dir))
	s.do("a", 0, "run", "-i", s.inventory("h1\nh2 ansible_host=h2.example.com"), p)
	for _, host := range []string{"h1", "h2"} {
		if got := s.file("copied-" + host); got != host+" is Linux\n" {
			t.Errorf("%s was copied %q", host, got)
		}
		if got := s.file("made-" + host); got != "made for "+host+"\n" {
			t.Errorf("%s was made %q", host, got)
		}
		if got := s.file("said-" + host); got != "/bin/sh "+s.dir {
			t.Errorf("a step of %s has the environment %q: the agent's own addresses are not for it", host, got)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, ".cache/moon")); !os.IsNotExist(err) {
		t.Errorf("the agents are the same moon, and it was copied: %v", err)
	}
	// A host without an agent is unreachable, as one without sshd.
	out := s.do("a", 1, "run", "-i", s.inventory("h3"), p)
	if !strings.Contains(out, "h3 cannot be reached: moon-nats: h3: connection refused: no agent of this name is connected") {
		t.Errorf("a host without an agent:\n%s", out)
	}
}

// TestAgentInterrupt interrupts a play while a step runs, which ends on the host, and in order.
func TestAgentInterrupt(t *testing.T) {
	s := newSite(t)
	s.agent("--name", "h1")
	p := s.playbook("- hosts: g\n  gather_facts: false\n  tasks:\n    - name: long\n      shell: trap 'echo stopped >> LOG; exit 1' INT TERM; echo begun >> LOG; for i in $(seq 300); do sleep 0.1; done; echo over >> LOG\n")
	run, out := s.begin("a", "run", "-i", s.inventory("h1"), p)
	s.until("the step", func() bool { return len(s.log()) == 1 })
	_ = run.Process.Signal(syscall.SIGINT)
	_ = run.Wait()
	if got := s.log(); !slices.Equal(got, []string{"begun", "stopped"}) {
		t.Errorf("the log is %v\n%s", got, out)
	}
}

// TestAgentKilled kills an agent while a step runs. The step ends on the host, it is lost for the run, and the other host goes on; with a new
// agent the run is resumed, and no step ran that the journal does not know of.
func TestAgentKilled(t *testing.T) {
	s := newSite(t)
	one, _ := s.agent("--name", "h1")
	s.agent("--name", "h2")
	mark := fmt.Sprintf("%d.125", 3000+os.Getpid())
	p := s.playbook("- hosts: g\n  gather_facts: false\n  strategy: free\n  tasks:\n" +
		"    - name: first\n      shell: echo first-{{ inventory_hostname }} >> LOG\n" +
		"    - name: second\n      shell: echo second-{{ inventory_hostname }} >> LOG; [ {{ inventory_hostname }} = h2 ] || [ -e LOG.again ] || sleep " + mark + "\n" +
		"    - name: third\n      shell: echo third-{{ inventory_hostname }} >> LOG\n")
	run, out := s.begin("a", "run", "-i", s.inventory("h1\nh2"), p)
	s.until("the second step of h1, and all of h2", func() bool {
		return slices.Contains(s.log(), "second-h1") && slices.Contains(s.log(), "third-h2")
	})
	_ = one.Process.Kill()
	_ = one.Wait()
	s.until("the end of what it had started", func() bool { return !alive("sleep " + mark) })
	_ = run.Wait()
	text := out.String()
	if code := run.ProcessState.ExitCode(); code == 0 {
		t.Errorf("the run ended well:\n%s", text)
	}
	if !strings.Contains(text, "nothing was heard for 5s") {
		t.Errorf("the run does not say why h1 was lost:\n%s", text)
	}
	if slices.Contains(s.log(), "third-h1") {
		t.Errorf("h1 went on: %v", s.log())
	}
	if err := os.WriteFile(filepath.Join(s.dir, "log.again"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.agent("--name", "h1")
	s.do("b", 0, "resume", s.id(), "--no-tui", "--lost", "retry")
	got := s.log()
	slices.Sort(got)
	if want := []string{"first-h1", "first-h2", "second-h1", "second-h1", "second-h2", "third-h1", "third-h2"}; !slices.Equal(got, want) {
		t.Errorf("the steps ran as %v, want %v", got, want)
	}
}

// TestAgentEnds has an agent end in order, with what it has started, and the next of its name begin; while it lives there is no second.
func TestAgentEnds(t *testing.T) {
	s := newSite(t)
	one, _ := s.agent("--name", "h1")
	if out := s.do("other", 2, "agent", "--name", "h1"); !strings.Contains(out, "h1 has an agent already: ") {
		t.Errorf("a second agent:\n%s", out)
	}
	mark := fmt.Sprintf("%d.25", 3000+os.Getpid())
	l := s.cmd("a", "connect", "h1", "/bin/sh", "-c", "echo begun >> "+s.dir+"/log; sleep "+mark)
	var said bytes.Buffer
	l.Stderr = &said
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	s.until("the session", func() bool { return len(s.log()) == 1 })
	_ = one.Process.Signal(syscall.SIGTERM)
	if err := one.Wait(); err != nil {
		t.Errorf("the agent: %v", err)
	}
	_ = l.Wait()
	if alive("sleep " + mark) {
		t.Error("the agent has ended, and what it started has not")
	}
	if code := l.ProcessState.ExitCode(); code != 255 || !strings.Contains(said.String(), "the agent has ended") {
		t.Errorf("the session ended with %d: %s", code, &said)
	}
	s.agent("--name", "h1")
}

// TestAgentReboot has a play restart a host and wait for its agent. What stands for the restart is that of the agent.
func TestAgentReboot(t *testing.T) {
	s := newSite(t)
	one, _ := s.agent("--name", "h1")
	if err := os.WriteFile(filepath.Join(s.dir, "boot"), []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := fmt.Sprintf("sh -c 'echo second > %s/boot; kill -TERM %d'", s.dir, one.Process.Pid)
	p := s.playbook("- hosts: g\n  gather_facts: false\n  tasks:\n    - reboot:\n        boot_time_command: cat " + s.dir + "/boot\n" +
		"        reboot_command: \"" + command + "\"\n        reboot_timeout: 30\n    - shell: cat " + s.dir + "/boot >> LOG\n")
	run, out := s.begin("a", "run", "-i", s.inventory("h1"), p)
	_ = one.Wait() // by its own host
	time.Sleep(time.Second)
	s.agent("--name", "h1")
	if err := run.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := s.log(); !slices.Equal(got, []string{"second"}) {
		t.Errorf("the log is %v\n%s", got, out)
	}
}

// TestSession has a session carry what programs read and print, and how they end; and lose neither when the servers go and come.
func TestSession(t *testing.T) {
	s := newSite(t)
	s.agent("--name", "h1")
	session := func(in string, argv ...string) (out, errs string, code int) {
		var o, e bytes.Buffer
		c := s.cmd("a", append([]string{"connect", "h1"}, argv...)...)
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader(in), &o, &e
		_ = c.Run()
		return o.String(), e.String(), c.ProcessState.ExitCode()
	}
	if out, errs, code := session("given", "/bin/sh", "-c", "cat; echo said >&2; exit 7"); out != "given" || errs != "said\n" || code != 7 {
		t.Errorf("%q, %q, %d", out, errs, code)
	}
	if _, _, code := session("", "/bin/sh", "-c", "kill -9 $$"); code != 137 {
		t.Errorf("killed: %d", code)
	}
	if _, errs, code := session("", "/no/such/program"); code != 127 || !strings.Contains(errs, "no such file") {
		t.Errorf("no program: %q, %d", errs, code)
	}
	long := strings.Repeat("0123456789abcdef", 500_000)
	if out, _, code := session("", "echo", "--nats", "x", "--lease=1"); out != "--nats x --lease=1\n" || code != 0 {
		t.Errorf("the flags of a command are its own: %q, %d", out, code)
	}
	if out, _, code := session(long, "cat"); out != long || code != 0 {
		t.Errorf("of %d bytes came %d, %d", len(long), len(out), code)
	}
	// Who prints goes on only as what is printed is taken.
	c := s.cmd("a", "connect", "h1", "/bin/sh", "-c", "head -c 30000000 /dev/zero; echo over >> "+s.dir+"/log")
	pipe, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if len(s.log()) > 0 {
		t.Error("30 MB were printed, and nothing was taken")
	}
	_ = pipe.Close() // and its end is found
	_ = c.Wait()
	s.until("the end of the program", func() bool { return !alive("echo over >> " + s.dir) })
}

// TestSessionOverRestarts moves some megabytes while the server is killed and started again.
func TestSessionOverRestarts(t *testing.T) {
	s := &site{t: t, dir: t.TempDir()}
	at := port(t)
	s.url = "nats://" + at
	start := func() *exec.Cmd {
		c, _ := s.begin("srv", "serve", "--listen", at, "--dir", filepath.Join(s.dir, "server"))
		return c
	}
	server := start()
	s.agent("--name", "h1")
	long := strings.Repeat("0123456789abcde\n", 20_000)
	var out bytes.Buffer
	c := s.cmd("a", "connect", "h1", "/bin/sh", "-c", "while read l; do echo $l; case $((n = n + 1)) in *00) sleep 0.02 ;; esac; done")
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(long), &out, os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		time.Sleep(500 * time.Millisecond)
		_ = server.Process.Kill()
		_ = server.Wait()
		server = start()
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if out.String() != long {
		t.Errorf("of %d bytes came %d, or others", len(long), out.Len())
	}
}

// TestAgentPermissions has an agent be that of its own host and no other, and sessions be opened by those who may.
func TestAgentPermissions(t *testing.T) {
	s, as := newGuardedSite(t)
	on := func(user string) *site { c := *s; c.url = as(user); return &c }
	on("web1").agent("--name", "web1")
	if out := on("web1").do("x", 2, "agent", "--name", "web2"); !strings.Contains(out, "web1 may not be the agent of web2") {
		t.Errorf("web1 as web2:\n%s", out)
	}
	if out := on("runner").do("r", 0, "connect", "web1", "echo", "here"); out != "here\n" {
		t.Errorf("the runner: %q", out)
	}
	for _, user := range []string{"ada", "watcher"} {
		if out := on(user).do("x", 255, "connect", "web1", "echo", "here"); !strings.Contains(out, "permission denied: the servers do not let "+user) {
			t.Errorf("%s opened a session: %s", user, out)
		}
		if got := attempt(t, as(user), func(c *nats.Conn) { _, _ = c.SubscribeSync("moon.sessions.>") }); !strings.Contains(got, "permissions violation") {
			t.Errorf("%s may read sessions: %s", user, got)
		}
	}
	for _, subject := range []string{link.ToAgent("web2", "open"), link.ToAgent("web1", "open"), link.FromAgent("web2", "x"), link.Control("x", "web1"), link.Journal("x")} {
		if got := attempt(t, as("web1"), func(c *nats.Conn) { _ = c.Publish(subject, []byte("{}")) }); !strings.Contains(got, "permissions violation") {
			t.Errorf("web1 may publish to %s: %s", subject, got)
		}
	}
	for _, subject := range []string{"moon.agents.>", "moon.sessions.>", "moon.runs.>", link.ToAgent("web2", "open")} {
		if got := attempt(t, as("web1"), func(c *nats.Conn) { _, _ = c.SubscribeSync(subject) }); !strings.Contains(got, "permissions violation") {
			t.Errorf("web1 may read %s: %s", subject, got)
		}
	}
}

// TestSessionTerminal has a program on a host get a terminal, with the size of the one here.
func TestSessionTerminal(t *testing.T) {
	s := newSite(t)
	s.agent("--name", "h1")
	c := s.cmd("a", "connect", "-t", "h1", "/bin/sh", "-c", "tty > "+s.dir+"/tty; echo size $(stty size); read x; echo got $x $(stty size); kill -TERM $$")
	m, err := pty.StartWithSize(c, &pty.Winsize{Rows: 33, Cols: 99})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var said bytes.Buffer
	var mu sync.Mutex
	go func() {
		buf := make([]byte, 1000)
		for {
			n, err := m.Read(buf)
			mu.Lock()
			said.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	says := func(text string) {
		s.until(text, func() bool { mu.Lock(); defer mu.Unlock(); return strings.Contains(said.String(), text) })
	}
	says("size 33 99")
	if err := pty.Setsize(m, &pty.Winsize{Rows: 20, Cols: 70}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // nothing says that the size has arrived
	if _, err := m.WriteString("typed\r"); err != nil {
		t.Fatal(err)
	}
	says("got typed 20 70")
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d", code)
	}
	if got := s.file("tty"); !strings.HasPrefix(got, "/dev/pts/") {
		t.Errorf("its terminal is %q", got)
	}
}
