package remote_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/remote/sshtest"
	"moon/internal/assault"
)

// TestStoppedAgent stops the agent of a host while a step runs there. The step's timeout holds from this side, and one interrupt is
// enough: the step is lost, and not waited for. The next one connects again.
func TestStoppedAgent(t *testing.T) {
	for _, how := range []string{"timeout", "interrupt"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := sshtest.Start(t, 1)[0]
			s.Keep(t)
			pool := reaching(t)
			job := on(t, s.Host, "shell", args{"cmd": "echo $PPID up; sleep 600"})
			if how == "timeout" {
				job.Timeout = 2 * time.Second
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			done := make(chan exec.Result, 1)
			go func() { done <- pool.Run(ctx, job) }()
			says(t, job, "up")
			var pid int
			for word := range strings.FieldsSeq(printed(job)) {
				if word != "up" {
					pid = number(t, word)
				}
			}
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }() // or it has ended
			if how == "interrupt" {
				cancel(fault.Interrupt)
			}
			select {
			case r := <-done:
				if r.Outcome != events.Lost || !strings.Contains(r.Error, "does not answer") {
					t.Errorf("%s", show(r))
				}
			case <-time.After(2 * time.Minute):
				t.Fatal("it is waited for")
			}
			wantWorks(t, pool, s.Host)
		})
	}
}

// TestStoppedAgentHere is the same for an agent of another user of this machine.
func TestStoppedAgentHere(t *testing.T) {
	assault.Long(t)
	if os.Getuid() != 0 {
		t.Skip("needs to become somebody without a password")
	}
	ada, _ := newUser(t, "ada")
	pool := reaching(t)
	job := newJob(t, "/", "shell", args{"cmd": "echo $PPID up; sleep 600"})
	job.Become, job.Timeout = &exec.Become{User: ada.Username}, 10*time.Second
	done := make(chan exec.Result, 1)
	go func() { done <- pool.Run(t.Context(), job) }()
	says(t, job, "up")
	pid := number(t, strings.Fields(printed(job))[0])
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	select {
	case r := <-done:
		if r.Outcome != events.Lost || !strings.Contains(r.Error, ada.Username) {
			t.Errorf("%s", show(r))
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("it is waited for")
	}
	wantGone(t, []int{pid})
}

func number(t *testing.T, word string) int {
	t.Helper()
	n, err := strconv.Atoi(word)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
