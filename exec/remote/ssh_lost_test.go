package remote_test

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/remote"
	"moon/exec/remote/sshtest"
	"moon/internal/assault"
)

// sleeping starts a step on a host that ignores what is polite, with a process in the background, and gives their ids.
func sleeping(ctx context.Context, t *testing.T, pool *remote.Pool, h exec.Host) (pids []int, ended <-chan exec.Result) {
	t.Helper()
	job := on(t, h, "shell", args{"cmd": "trap '' INT TERM HUP; sleep 600 & echo $$ $! up; wait"})
	done := make(chan exec.Result, 1)
	go func() { done <- pool.Run(ctx, job) }()
	says(t, job, "up")
	for word := range strings.FieldsSeq(printed(job)) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, done
}

func wantGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		for end := time.Now().Add(5 * time.Minute); running(pid); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("process %d survives", pid)
			}
		}
	}
}

// wantWorks runs a step that goes well.
func wantWorks(t *testing.T, pool *remote.Pool, h exec.Host) {
	t.Helper()
	job := on(t, h, "command", args{"argv": []any{"echo", "well"}})
	if r := pool.Run(t.Context(), job); r.Outcome != events.Changed || printed(job) != "well\n" {
		t.Errorf("%s: %s, %q", h.Name, show(r), printed(job))
	}
}

// TestLost cuts connections in the middle of a step, from either end: the step is lost, what it had started is killed, and the
// next one connects again.
func TestLost(t *testing.T) {
	tests := []struct {
		name string
		cut  func(testing.TB, *sshtest.Server)
	}{
		{"sshd is killed", func(_ testing.TB, s *sshtest.Server) { s.Cut() }},
		{"ssh is killed", func(tb testing.TB, s *sshtest.Server) {
			tb.Helper()
			for _, pid := range children(tb, "ssh", "HostKeyAlias="+s.Host.Name) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // or it has ended
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sshtest.Start(t, 1)[0]
			s.Keep(t)
			pool := reaching(t)
			pids, ended := sleeping(t.Context(), t, pool, s.Host)
			tt.cut(t, s)
			r := <-ended
			if r.Outcome != events.Lost || !strings.Contains(r.Error, "web1 (127.0.0.1:") || !strings.Contains(r.Error, "how far it came is not known") {
				t.Errorf("%s", show(r))
			}
			wantGone(t, pids)
			wantWorks(t, pool, s.Host)
			if s.Dials() != 2 {
				t.Errorf("it was dialled %d times", s.Dials())
			}
		})
	}
}

// children are the processes of this one with a name, and a word among their arguments.
func children(tb testing.TB, name, word string) []int {
	tb.Helper()
	var list []int
	paths, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		tb.Fatal(err)
	}
	for _, path := range paths {
		text, _ := os.ReadFile(path) // or the thread has ended
		for field := range strings.FieldsSeq(string(text)) {
			line, _ := os.ReadFile("/proc/" + field + "/cmdline") // or the process has
			words := strings.Split(string(line), "\x00")
			if pid, err := strconv.Atoi(field); err == nil && words[0] == name && strings.Contains(string(line), word) {
				list = append(list, pid)
			}
		}
	}
	return list
}

// TestLostForGood has a host go away in the middle of a step and not come back: the step is lost, the next ones cannot reach
// it, and are told so without anybody trying again, until somebody asks for that.
func TestLostForGood(t *testing.T) {
	servers := sshtest.Start(t, 2)
	for _, s := range servers {
		s.Keep(t)
	}
	pool := reaching(t)
	pids, ended := sleeping(t.Context(), t, pool, servers[0].Host)
	servers[0].Deaf(true)
	servers[0].Cut()
	if r := <-ended; r.Outcome != events.Lost {
		t.Errorf("%s", show(r))
	}
	wantGone(t, pids)
	dials := 0
	for range 3 {
		r := pool.Run(t.Context(), on(t, servers[0].Host, "command", args{"argv": []any{"true"}}))
		if r.Outcome != events.Unreachable || r.Class != fault.Transient || !strings.HasPrefix(r.Error, "web1 (127.0.0.1:") || !strings.Contains(r.Error, "cannot be reached: ssh: ") {
			t.Errorf("%s", show(r))
		}
		if dials == 0 {
			dials = servers[0].Dials()
		}
	}
	if dials < 3 || servers[0].Dials() != dials {
		t.Errorf("dialled %d times, and %d later", dials, servers[0].Dials())
	}
	wantWorks(t, pool, servers[1].Host)
	servers[0].Deaf(false)
	pool.Redial(servers[0].Host)
	wantWorks(t, pool, servers[0].Host)
}

// TestUnreachable opens several hosts of which some cannot be reached, each for another reason. What lasts is tried once.
func TestUnreachable(t *testing.T) {
	servers := sshtest.Start(t, 4)
	servers[1].Keep(t)
	servers[0].Impostor(t)
	servers[2].Config(t, "AuthorizedKeysFile none")
	wrongKey := servers[2].Host
	nobody := servers[3].Host
	nobody.User = "nobody-of-that-name"
	unread := exec.Host{Name: "unread", Args: "-o 'unclosed"}
	unknown := exec.Host{Name: "no-such-host.invalid", Args: servers[1].Host.Args}
	want := map[exec.Host]string{
		servers[0].Host: "Host key verification failed. (its key is not the one that is known: ", wrongKey: "(see which keys are offered with `ssh ", nobody: "Permission denied",
		unread: "arguments for ssh cannot be read", unknown: "resolve hostname",
	}
	pool := reaching(t)
	list := []exec.Host{servers[0].Host, servers[1].Host, wrongKey, nobody, unread, unknown}
	failed := pool.Open(t.Context(), list)
	for h, words := range want {
		var away *remote.UnreachableError
		if !errors.As(failed[h], &away) || !strings.Contains(away.Error(), words) || !away.Fatal && h != unknown {
			t.Errorf("%s: %v", h.Name, failed[h])
		}
	}
	if len(failed) != len(want) {
		t.Errorf("%v", failed)
	}
	for _, i := range []int{0, 2, 3} {
		if servers[i].Dials() != 1 {
			t.Errorf("%s was dialled %d times", servers[i].Host.Name, servers[i].Dials())
		}
	}
	wantWorks(t, pool, servers[1].Host)
	r := pool.Run(t.Context(), on(t, servers[0].Host, "command", args{"argv": []any{"true"}}))
	if r.Outcome != events.Unreachable || r.Class != fault.Fatal {
		t.Errorf("%s", show(r))
	}
}

// TestCancelledThere ends a step on a host: its whole group ends, and the connection stays.
func TestCancelledThere(t *testing.T) {
	s := sshtest.Start(t, 1)[0]
	s.Keep(t)
	pool := reaching(t)
	pool.Local.Grace = 200 * time.Millisecond
	ctx, cancel := context.WithCancelCause(t.Context())
	pids, ended := sleeping(ctx, t, pool, s.Host)
	cancel(fault.Interrupt)
	if r := <-ended; r.Outcome != events.Cancelled {
		t.Errorf("%s", show(r))
	}
	wantGone(t, pids)
	wantWorks(t, pool, s.Host)
	if s.Dials() != 1 {
		t.Errorf("it was dialled %d times", s.Dials())
	}
}

// TestGivenUp cancels a step that waits for a host to answer, and ends the run while it does.
func TestGivenUp(t *testing.T) {
	s := sshtest.Start(t, 1)[0]
	s.Mute(true)
	pool := reaching(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan exec.Result, 1)
	go func() { done <- pool.Run(ctx, on(t, s.Host, "command", args{"argv": []any{"true"}})) }()
	for s.Dials() == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel(fault.Interrupt)
	if r := <-done; r.Outcome != events.Cancelled {
		t.Errorf("%s", show(r))
	}
	pool.Close() // and does not wait for the time that ssh has
	if pids := children(t, "ssh", "HostKeyAlias="+s.Host.Name); len(pids) > 0 {
		t.Errorf("ssh is still there: %v", pids)
	}
}

// TestKilledNear kills the whole process that has the connections, and with that everything on the hosts ends.
func TestKilledNear(t *testing.T) {
	assault.Long(t)
	s := sshtest.Start(t, 1)[0]
	s.Keep(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := osexec.Command(self, "reach", s.Host.Address, strconv.Itoa(s.Host.Port), s.Host.Args, "trap '' INT TERM HUP; sleep 600 & echo $$ $! up; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }() // it is killed
	var text strings.Builder
	buf := make([]byte, 1000)
	for !strings.Contains(text.String(), "up") {
		n, err := out.Read(buf)
		if err != nil {
			t.Fatalf("it said %q: %v", &text, err)
		}
		text.Write(buf[:n])
	}
	var pids []int
	for word := range strings.FieldsSeq(text.String()) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	if len(pids) != 2 || !running(pids[0]) {
		t.Fatalf("%q", &text)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wantGone(t, pids)
}
