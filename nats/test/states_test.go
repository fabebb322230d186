package test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hosted is a playbook whose tasks run on the host web1, which is this machine under another name, and on the machine itself.
func (s *site) hosted(names ...string) (args []string) {
	s.t.Helper()
	inventory := filepath.Join(s.dir, "hosts.ini")
	if err := os.WriteFile(inventory, []byte("web1 ansible_connection=local\nweb2 ansible_connection=local\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range names {
		host, file, _ := strings.Cut(name, ":")
		b.WriteString("- hosts: " + host + "\n  gather_facts: false\n  tasks:\n  - name: " + file + "\n    ")
		if file, slow := strings.CutSuffix(file, "!"); slow {
			b.WriteString("shell: echo " + file + " >> LOG; while ! test -e " + s.path("go") + "; do sleep 0.05; done\n")
			continue
		}
		b.WriteString("copy: {content: x, dest: " + s.path(file) + "}\n")
	}
	return []string{"-i", inventory, s.playbook(b.String())}
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

// has reports whether there is a file.
func (s *site) has(name string) bool {
	_, err := os.Stat(s.path(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// made is what a machine says has been made.
func (s *site) made(machine string, args ...string) string {
	return s.do(machine, 0, append([]string{"state", s.path("playbook.yml")}, args...)...)
}

// TestStatesAreShared makes things on a host from one machine. The playbook loses a task, and a run on another machine removes what it had
// made; what was made on the machine itself stays the concern of the first.
func TestStatesAreShared(t *testing.T) {
	s := newSite(t)
	s.do("a", 0, append([]string{"run"}, s.hosted("web1:one", "web1:two", "localhost:own", "web2:three")...)...)
	if got := s.made("b"); strings.Contains(got, "own") || strings.Count(got, "created") != 3 {
		t.Errorf("another machine sees\n%s", got)
	}
	if got := s.made("a"); strings.Count(got, "created") != 4 {
		t.Errorf("the first machine sees\n%s", got)
	}
	s.do("b", 0, append([]string{"run", "--orphans", "remove", "--approve", "all"}, s.hosted("web1:one")...)...)
	if !s.has("one") || s.has("two") || s.has("three") || !s.has("own") {
		t.Errorf("there are one %v, two %v, three %v, own %v", s.has("one"), s.has("two"), s.has("three"), s.has("own"))
	}
	if got := s.made("c"); strings.Count(got, "created") != 1 || !strings.Contains(got, "/one") {
		t.Errorf("a third machine sees\n%s", got)
	}
	if got := s.made("a"); strings.Count(got, "created") != 2 || !strings.Contains(got, "/own") {
		t.Errorf("the first machine sees\n%s", got)
	}
	got := s.made("c", "--history")
	for _, want := range []string{"created file " + s.path("two"), "removed file " + s.path("two"), "web2", " on "} {
		if !strings.Contains(got, want) {
			t.Errorf("the history does not say %q:\n%s", want, got)
		}
	}
	// What a person changes counts everywhere, too, and can be taken back where it was done.
	s.do("c", 0, "state", "rm", s.path("playbook.yml"), s.path("one"))
	if got := s.made("b"); !strings.Contains(got, "nothing is recorded") {
		t.Errorf("it is dropped, and another machine sees\n%s", got)
	}
	kept := strings.Fields(s.do("c", 0, "state", "restore", s.path("playbook.yml")))
	s.do("c", 0, "state", "restore", s.path("playbook.yml"), kept[len(kept)-3])
	if got := s.made("b"); strings.Count(got, "created") != 1 || !strings.Contains(got, "/one") {
		t.Errorf("it is restored, and another machine sees\n%s", got)
	}
	if got := s.made("a"); !strings.Contains(got, "/own") {
		t.Errorf("the state of another machine took with it what was made on this one:\n%s", got)
	}
}

// TestDestroyIsInTheStream removes from another machine what a run has made, in a run that is in the stream like any other.
func TestDestroyIsInTheStream(t *testing.T) {
	s := newSite(t)
	args := s.hosted("web1:one", "web2:two")
	s.do("a", 0, append([]string{"run"}, args...)...)
	s.do("b", 0, append([]string{"destroy", "--approve", "all"}, args...)...)
	if s.has("one") || s.has("two") {
		t.Error("it is still there")
	}
	if got := s.do("c", 0, "runs"); strings.Count(got, "2/2  done") != 2 {
		t.Errorf("the runs are\n%s", got)
	}
	if got := s.made("a"); !strings.Contains(got, "nothing is recorded") {
		t.Errorf("the first machine sees\n%s", got)
	}
}

// TestStateAfterKill kills the process of a run right after the stream has what a step has made, and before the disk or the journal say
// anything more: another machine knows it, and a resume records it once.
func TestStateAfterKill(t *testing.T) {
	s := newSite(t)
	s.env = append(s.env, dieAfterState+"=2")
	args := s.hosted("web1:one", "web1:two", "web1:three")
	run, out := s.begin("a", append([]string{"run"}, args...)...)
	if err := run.Wait(); err == nil || run.ProcessState.Exited() {
		t.Fatalf("it was not killed: %v\n%s", err, out)
	}
	s.env = nil
	if got := s.made("b"); strings.Count(got, "created") != 2 || !s.has("two") {
		t.Errorf("another machine sees\n%s", got)
	}
	s.until("the end of the lease", func() bool { return strings.Contains(s.do("b", 0, "runs"), "its process is gone") })
	s.do("b", 0, "resume", "--no-tui", "--lost", "retry")
	if got := s.made("a"); strings.Count(got, "created") != 3 {
		t.Errorf("the first machine sees\n%s", got)
	}
	if got := s.made("c", "--history"); strings.Count(got, "created file") != 3 {
		t.Errorf("it was not recorded once each:\n%s", got)
	}
}

// TestFencedState has two runs of a playbook at once on two machines, which do not see each other's lock. The one that records second says
// who was first, and decides nothing more; resumed, it records what it had made.
func TestFencedState(t *testing.T) {
	s := newSite(t)
	long := []string{"web1:wait!", "web1:late", "web1:begun", "web1:never"}
	slow, out := s.begin("a", append([]string{"run"}, s.hosted(long...)...)...)
	s.until("the first step", func() bool { return len(s.log()) == 1 })
	// Other hosts are not in the way.
	s.do("b", 0, append([]string{"run"}, s.hosted("web2:other")...)...)
	s.do("b", 0, append([]string{"run"}, s.hosted("web1:early")...)...)
	if err := os.WriteFile(s.path("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = slow.Wait()
	if !strings.Contains(out.String(), "has recorded something of web1") || slow.ProcessState.ExitCode() == 0 {
		t.Errorf("the second writer ended with %d, and says\n%s", slow.ProcessState.ExitCode(), out)
	}
	if s.has("never") {
		t.Error("a step was started after that")
	}
	if got := s.made("c"); strings.Contains(got, "/late") || !strings.Contains(got, "/early") {
		t.Errorf("recorded is\n%s", got)
	}
	id := ""
	for line := range strings.Lines(s.do("a", 0, "runs")) {
		if !strings.Contains(line, "done") {
			id, _, _ = strings.Cut(line, " ")
		}
	}
	s.hosted(long...) // the file is as it was
	s.do("a", 0, "resume", id, "--no-tui", "--retry-failed")
	if got := s.made("c"); !strings.Contains(got, "/late") || !strings.Contains(got, "/early") || !strings.Contains(got, "/never") {
		t.Errorf("after the resume recorded is\n%s", got)
	}
}

// TestStateIsMovedToTheStream takes states that are only on two machines: one as it was before there was a stream, the other from a stream
// that is gone. None of what they know is lost.
func TestStateIsMovedToTheStream(t *testing.T) {
	s := newSite(t)
	for _, of := range [][]string{{"a", "one"}, {"b", "two"}} {
		machine, file := of[0], of[1]
		gone := newSite(t)
		gone.dir = s.dir
		gone.do(machine, 0, append([]string{"run"}, s.hosted("web1:"+file, "localhost:own")...)...)
		gone.made(machine)
		time.Sleep(time.Second) // streams of one second look the same
	}
	files, err := filepath.Glob(s.path("a/moon-nats/moon/state/*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the states are %v, %v", files, err)
	}
	text := regexp.MustCompile(`,"log":"\w+","seq":\d+`).ReplaceAllString(string(readFile(t, files[0])), "")
	if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil || strings.Contains(text, "seq") {
		t.Fatal(err, text)
	}
	if got := s.made("a"); !strings.Contains(got, "/one") || !strings.Contains(got, "/own") {
		t.Errorf("the first machine sees\n%s", got)
	}
	if got := s.made("c"); !strings.Contains(got, "/one") || strings.Contains(got, "own") {
		t.Errorf("a third machine sees\n%s", got)
	}
	s.made("b")
	for _, machine := range []string{"a", "b", "c"} {
		if got := s.made(machine); !strings.Contains(got, "/one") || !strings.Contains(got, "/two") {
			t.Errorf("%s sees\n%s", machine, got)
		}
	}
}

// TestStatePermissions has users do what the configuration lets them: a watcher sees what runs have made, and records nothing.
func TestStatePermissions(t *testing.T) {
	s, as := newGuardedSite(t)
	s.url = as("runner")
	s.do("a", 0, append([]string{"run"}, s.hosted("web1:one")...)...)
	for _, user := range []string{"watcher", "ada", "submitter"} {
		on := *s
		on.url = as(user)
		if got := on.made(user); strings.Count(got, "created") != 1 {
			t.Errorf("%s sees\n%s", user, got)
		}
		if got := on.made(user, "--history"); !strings.Contains(got, "runner on ") {
			t.Errorf("%s sees the history\n%s", user, got)
		}
		if got := on.do(user, 5, "state", "rm", s.path("playbook.yml"), s.path("one")); !strings.Contains(got, user+" may not do this") {
			t.Errorf("%s has changed what is recorded:\n%s", user, got)
		}
	}
	web1 := *s
	web1.url = as("web1")
	if got := web1.try("w", "state", s.path("playbook.yml")); strings.Contains(got, "created") {
		t.Errorf("a host sees\n%s", got)
	}
	if got := s.made("b"); strings.Count(got, "created") != 1 {
		t.Errorf("at last there is\n%s", got)
	}
}

// dieAfterState is the variable that has moon-nats, as the tests run it, crash after the stream has taken so many states.
const dieAfterState = "TEST_DIE_AFTER_STATE"

// crashAt ends this process as a loss of power does, when it is called for the nth time.
func crashAt(n int) func() {
	return func() {
		if n--; n == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
}
