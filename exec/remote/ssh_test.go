package remote_test

import (
	"slices"
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

// TestHosts runs steps on several hosts. The first connection brings moon there, the next finds it, as it would find the one that other
// tests have put there ahead.
func TestHosts(t *testing.T) {
	servers := sshtest.Start(t, 3)
	servers[2].Keep(t)
	ahead := servers[2].Kept(t)
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
	if brought := servers[0].Kept(t); len(brought) != 1 || len(ahead) != 1 || strings.TrimPrefix(brought[0], servers[0].Home) != strings.TrimPrefix(ahead[0], servers[2].Home) {
		t.Errorf("%v was brought, %v is there ahead", brought, ahead)
	}
	if kept := servers[2].Kept(t); !slices.Equal(kept, ahead) {
		t.Errorf("%v is there, not only %v", kept, ahead)
	}
	for _, s := range servers {
		if s.Dials() != 2 {
			t.Errorf("%s was dialled %d times", s.Host.Name, s.Dials())
		}
	}
}
