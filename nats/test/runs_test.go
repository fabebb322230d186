package test

import (
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestOtherMachine runs a playbook on one machine, follows it from another, and finds all of it there afterwards: values that are too large
// for the journal, output, the plan.
func TestOtherMachine(t *testing.T) {
	s := newSite(t)
	p := s.playbook("- name: large\n  shell: echo large >> LOG; seq 1 30000; sleep 1\n  register: r\n" +
		"- name: use {{ r.stdout_lines | length }}\n  shell: echo used{{ r.stdout_lines | length }} >> LOG\n")
	run, out := s.begin("a", "run", p)
	s.until("the run in the stream", func() bool { return strings.Contains(s.do("b", 0, "runs"), "in progress") })
	followed := s.do("b", 0, "attach", "-v")
	if err := run.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(followed, "| 29999\n") || !strings.Contains(followed, "step 2/2  use 30000") || !strings.Contains(followed, "done in") {
		t.Errorf("followed:\n%s", followed)
	}
	if s.journal("a") != s.journal("b") {
		t.Errorf("the journals differ:\n%s\n%s", s.journal("a"), s.journal("b"))
	}
	if got := s.do("c", 0, "show", "--output", "large"); len(strings.Fields(got)) != 30000 {
		t.Errorf("a third machine has %d lines", len(strings.Fields(got)))
	}
	if got := s.do("c", 0, "runs"); !strings.Contains(got, "2/2  done") {
		t.Errorf("the runs are\n%s", got)
	}
	if got := s.log(); !slices.Equal(got, []string{"large", "used30000"}) {
		t.Errorf("the log is %v", got)
	}
}

// TestLastWords has a run print just before it ends: all of it is in the stream, and before the step is said to have ended.
func TestLastWords(t *testing.T) {
	s := newSite(t)
	s.do("a", 0, "run", s.playbook("- name: short\n  shell: echo out; echo err >&2\n- name: failing\n  shell: seq 1 9; false\n  ignore_errors: true\n- name: last\n  shell: seq 1 20000\n"))
	for step, want := range map[string]int{"short": 2, "failing": 9, "last": 20000} {
		if got := s.do("b", 0, "show", "--output", step); len(strings.Fields(got)) != want {
			t.Errorf("another machine has %d words of %s, want %d", len(strings.Fields(got)), step, want)
		}
	}
	if s.journal("a") != s.journal("b") {
		t.Error("the journals differ")
	}
}

// TestCommandsFromElsewhere pauses, skips and continues a run from another machine; who did it is in the journal.
func TestCommandsFromElsewhere(t *testing.T) {
	s := newSite(t)
	run, out := s.begin("a", "run", s.playbook(lines(4, "0.5")))
	s.until("the first step", func() bool { return len(s.log()) == 1 })
	s.do("b", 0, "attach", "--send", "pause", "--send", "skip=s02")
	s.do("b", 0, "attach", "--send", "continue")
	if err := run.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := s.log(); !slices.Equal(got, []string{"s00", "s01", "s03"}) {
		t.Errorf("the log is %v", got)
	}
	if j := s.journal("a"); !strings.Contains(j, `(attach)"`) {
		t.Errorf("nobody sent a command:\n%s", j)
	}
	if got := s.do("b", 2, "attach", "--send", "pause"); !strings.Contains(got, "is not in progress (done)") {
		t.Errorf("afterwards: %s", got)
	}
	s.do("b", 0, "forget", s.id())
	if got := s.do("c", 0, "runs"); got != "" {
		t.Errorf("the stream still has\n%s", got)
	}
}

// TestKilledAndResumed kills the process of a run, and continues the run on another machine when its lease is over.
func TestKilledAndResumed(t *testing.T) {
	s := newSite(t)
	run, _ := s.begin("a", "run", s.playbook(lines(5, "0.2")))
	s.until("two steps", func() bool { return len(s.log()) == 2 })
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	s.until("the end of the lease", func() bool { return strings.Contains(s.do("b", 0, "runs"), "its process is gone") })
	if got := s.do("b", 2, "resume", "--no-tui"); !strings.Contains(got, "was lost: progress unknown") {
		t.Errorf("it was not asked what became of the step:\n%s", got)
	}
	s.do("b", 0, "resume", "--no-tui", "--lost", "retry")
	if got := s.log(); !slices.Equal(got, []string{"s00", "s01", "s01", "s02", "s03", "s04"}) {
		t.Errorf("the log is %v", got)
	}
	if got := s.do("a", 0, "runs"); !strings.Contains(got, "5/5  done") {
		t.Errorf("the first machine sees\n%s", got)
	}
}

// TestFencedWriter stops a process without killing it, takes its run, and lets it go on: it starts nothing more.
func TestFencedWriter(t *testing.T) {
	s := newSite(t)
	s.env = append(s.env, "MOON_NATS_LEASE=20s") // it is refused because of the lease, however slow this machine is
	run, out := s.begin("a", "run", s.playbook(lines(6, "0.3")))
	s.until("two steps", func() bool { return len(s.log()) == 2 })
	if err := run.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if got := s.do("b", 5, "resume", "--no-tui"); !strings.Contains(got, "--take takes it from there") {
		t.Errorf("a run was taken that has a process:\n%s", got)
	}
	taken, took := s.begin("b", "resume", "--no-tui", "--take", "--lost", "retry")
	s.until("a step of the other", func() bool { return len(s.log()) == 4 })
	if err := run.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	if err := taken.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, took)
	}
	if !strings.Contains(out.String(), "another process has taken run") {
		t.Errorf("the first process says\n%s", out)
	}
	if got := s.log(); !slices.Equal(got, []string{"s00", "s01", "s01", "s02", "s03", "s04", "s05"}) {
		t.Errorf("the log is %v", got)
	}
}

// TestWorkerTakesOver has two workers wait for a run whose process is killed: one of them resumes it.
func TestWorkerTakesOver(t *testing.T) {
	s := newSite(t)
	run, _ := s.begin("a", "run", s.playbook(lines(5, "0.2")))
	s.until("two steps", func() bool { return len(s.log()) == 2 })
	for _, machine := range []string{"b", "c"} {
		s.begin(machine, "worker", "--lost", "retry")
	}
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	s.until("the last step", func() bool { return slices.Contains(s.log(), "s04") })
	s.until("the end", func() bool { return strings.Contains(s.do("d", 0, "runs"), "5/5  done") })
	time.Sleep(time.Second) // a second worker would have begun by now
	if got := s.log(); !slices.Equal(got, []string{"s00", "s01", "s01", "s02", "s03", "s04"}) {
		t.Errorf("the log is %v", got)
	}
}

// TestServerComesBack ends the server in the middle of a run, and starts it again: the run waits, and loses nothing.
func TestServerComesBack(t *testing.T) {
	s := newSite(t)
	at := port(t)
	s.url = "nats://" + at
	server, _ := s.begin("srv", "serve", "--listen", at, "--dir", s.dir+"/other")
	s.until("the server", func() bool { return !strings.Contains(s.try("a", "runs"), "no servers") })
	run, out := s.begin("a", "run", s.playbook(lines(5, "0.1")))
	s.until("two steps", func() bool { return len(s.log()) == 2 })
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	time.Sleep(time.Second)
	if got := s.log(); len(got) > 3 {
		t.Errorf("steps were started that no stream knows of: %v", got)
	}
	s.begin("srv", "serve", "--listen", at, "--dir", s.dir+"/other")
	if err := run.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := s.log(); !slices.Equal(got, []string{"s00", "s01", "s02", "s03", "s04"}) {
		t.Errorf("the log is %v", got)
	}
	s.do("b", 0, "show")
	if s.journal("a") != s.journal("b") {
		t.Error("the journals differ")
	}
}

// TestReplanFromElsewhere has the machine that executes a run read its edited playbook again, for a user at another.
func TestReplanFromElsewhere(t *testing.T) {
	s := newSite(t)
	p := s.playbook("- name: first\n  shell: echo first >> LOG\n- name: second\n  shell: echo wrong >> LOG; false\n")
	run := s.cmd("a", "tui", p)
	run.Env = append(run.Env, "TERM=xterm-256color")
	tty, err := pty.StartWithSize(run, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill(); _ = run.Wait() })
	go func() { _, _ = io.Copy(io.Discard, tty) }()
	s.until("the run", func() bool { return strings.Contains(s.do("d", 0, "runs"), "in progress") })
	s.do("b", 0, "attach", "--send", "approve=all", "--send", "continue")
	s.until("the failure", func() bool { return slices.Contains(s.log(), "wrong") })
	s.playbook("- name: first\n  shel: echo first >> LOG\n")
	s.until("it is paused", func() bool {
		return strings.Contains(s.try("b", "attach", "--send", "replan"), "the playbook has errors")
	})
	s.playbook("- name: first\n  shell: echo first >> LOG\n- name: second\n  shell: echo right >> LOG\n- name: third\n  shell: echo third >> LOG\n")
	s.do("b", 0, "attach", "--send", "replan", "--send", "approve=all", "--send", "continue")
	s.until("the end", func() bool { return slices.Contains(s.log(), "third") })
	if got := s.log(); !slices.Equal(got, []string{"first", "wrong", "right", "third"}) {
		t.Errorf("the log is %v", got)
	}
}
