package remote_test

import (
	"strings"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/remote"
	"moon/exec/remote/sshtest"
)

// reaching are connections to hosts, over the real ssh.
func reaching(t *testing.T) *remote.Pool {
	t.Helper()
	pool := &remote.Pool{Build: "test"}
	t.Cleanup(pool.Close)
	return pool
}

// on is a job on a host.
func on(t *testing.T, h exec.Host, action string, in args) *exec.Job {
	t.Helper()
	job := newJob(t, "/", action, in)
	job.Become, job.Host, job.Roams = nil, &h, true
	return job
}

func hosts(servers []*sshtest.Server) []exec.Host {
	list := make([]exec.Host, len(servers))
	for i, s := range servers {
		list[i] = s.Host
	}
	return list
}

// TestHosts runs steps on several hosts. The first connection brings moon there, the next finds it.
func TestHosts(t *testing.T) {
	servers := sshtest.Start(t, 3)
	for range 2 {
		pool := reaching(t)
		if failed := pool.Open(t.Context(), hosts(servers)); len(failed) > 0 {
			t.Fatal(failed)
		}
		for i, s := range servers {
			job := on(t, s.Host, "shell", args{"cmd": `echo "$HOME" $PWD; echo to err >&2; exit 3`})
			r := pool.Run(t.Context(), job)
			if r.Outcome != events.Failed || r.RC == nil || *r.RC != 3 || !strings.HasPrefix(printed(job), s.Home+" "+s.Home) || !strings.HasSuffix(printed(job), "to err\n") {
				t.Errorf("web%d: %s, %q", i+1, show(r), printed(job))
			}
		}
		pool.Close()
	}
	for _, s := range servers {
		if s.Dials() != 2 {
			t.Errorf("%s was dialled %d times", s.Host.Name, s.Dials())
		}
	}
}
