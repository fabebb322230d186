package sshtest_test

import (
	osexec "os/exec"
	"strconv"
	"strings"
	"testing"

	"moon/exec/remote/sshtest"
)

// TestStart logs into each of some servers with plain ssh, and meets an impostor.
func TestStart(t *testing.T) {
	servers := sshtest.Start(t, 2)
	ssh := func(s *sshtest.Server) (string, error) {
		argv := append(strings.Fields(s.Host.Args), "-o", "BatchMode=yes", "-p", strconv.Itoa(s.Host.Port), s.Host.Address, `echo "$HOME"`)
		out, err := osexec.Command("ssh", argv...).CombinedOutput()
		return string(out), err
	}
	for _, s := range servers {
		if out, err := ssh(s); err != nil || out != s.Home+"\n" {
			t.Errorf("%v, %q", err, out)
		}
	}
	servers[0].Impostor(t)
	if out, err := ssh(servers[0]); err == nil || !strings.Contains(out, "HOST IDENTIFICATION HAS CHANGED") {
		t.Errorf("%v, %q", err, out)
	}
}
