package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"moon/nats/command"
	"moon/nats/serve"
)

// asMoon has this binary be moon-nats.
const asMoon = "TEST_AS_MOON_NATS"

func TestMain(m *testing.M) {
	// Another user's agent is started with a fresh environment.
	if at, err := strconv.Atoi(os.Getenv(dieAt)); err == nil {
		os.Exit(mortal(at))
	}
	if os.Getenv(asMoon) != "" || len(os.Args) > 1 && os.Args[1] == "agent" {
		os.Exit(command.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// site is a server, a directory for playbooks and logs, and state directories that stand for machines.
type site struct {
	t   *testing.T
	dir string
	url string
	env []string
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	server, err := serve.New(serve.Options{Listen: "127.0.0.1:0", Dir: filepath.Join(s.dir, "server")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Shutdown(); server.WaitForShutdown() })
	s.url = server.ClientURL()
	return s
}

// port is one that nothing listens on.
func port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// playbook writes one whose steps append to the log of the site.
func (s *site) playbook(text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, "playbook.yml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "LOG", filepath.Join(s.dir, "log"))), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// cmd is moon-nats on a machine.
func (s *site) cmd(machine string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), asMoon+"=1", "MOON_NATS="+s.url, "XDG_STATE_HOME="+filepath.Join(s.dir, machine), "HOME="+s.dir, "MOON_NATS_LEASE=1s")
	c.Env = append(c.Env, s.env...)
	c.WaitDelay = 20 * time.Second
	return c
}

// do runs moon-nats to its end, which is expected to be with an exit code.
func (s *site) do(machine string, code int, args ...string) string {
	s.t.Helper()
	var out bytes.Buffer
	c := s.cmd(machine, args...)
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if got := c.ProcessState.ExitCode(); got != code {
		s.t.Fatalf("moon-nats %s: exit %d, want %d (%v)\n%s", strings.Join(args, " "), got, code, err, out.String())
	}
	return out.String()
}

// begin starts moon-nats; what it prints is in the buffer when it has ended.
func (s *site) begin(machine string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	out := &bytes.Buffer{}
	c := s.cmd(machine, args...)
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Process.Kill() })
	return c, out
}

// log is what the steps have written, in order.
func (s *site) log() []string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return strings.Fields(string(text))
}

// until waits for a condition.
func (s *site) until(what string, holds func() bool) {
	s.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return
		}
	}
	s.t.Fatalf("never: %s; the log is %v", what, s.log())
}

// journal is that of the only run of a machine.
func (s *site) journal(machine string) string {
	s.t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.dir, machine, "moon-nats/moon/runs", s.id(), "journal.jsonl"))
	if err != nil || len(paths) != 1 {
		s.t.Fatalf("%s has the journals %v, %v", machine, paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// id is that of the run of the site, or "".
func (s *site) id() string {
	s.t.Helper()
	var out []byte
	s.until("an answer of the servers", func() (is bool) {
		var err error
		out, err = s.cmd("d", "runs").CombinedOutput()
		return err == nil
	})
	for line := range strings.Lines(string(out)) {
		if id, _, _ := strings.Cut(line, " "); strings.Contains(line, s.dir) {
			return id
		}
	}
	return ""
}

// starts counts how often each step was started, and how often of that its host could not be reached, so that nothing ran.
func (s *site) starts(machine string) (started, unreached map[string]int) {
	s.t.Helper()
	started, unreached = map[string]int{}, map[string]int{}
	var out string
	id := s.id()
	s.until("the events", func() bool {
		text, err := s.cmd(machine, "show", id, "--events").Output()
		out = string(text)
		return err == nil
	})
	for line := range strings.Lines(out) {
		var e struct {
			Type, Name  string
			Unreachable bool
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.t.Fatalf("%v: %s", err, line)
		}
		switch e.Type {
		case "step.started":
			started[e.Name]++
		case "step.failed":
			if e.Unreachable {
				unreached[e.Name]++
			}
		}
	}
	return started, unreached
}

// lines is a playbook of so many steps, each of which writes its name into the log and takes some time.
func lines(n int, seconds string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- name: s%02d\n  shell: echo s%02d >> LOG; echo out of s%02d; sleep %s\n", i, i, i, seconds)
	}
	return b.String()
}

// try runs moon-nats to its end, however that is.
func (s *site) try(machine string, args ...string) string {
	out, _ := s.cmd(machine, args...).CombinedOutput()
	return string(out)
}
