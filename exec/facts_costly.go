package exec

import (
	"bytes"
	"context"
	osexec "os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// costly are facts that a program must be asked for, and the question. All answer with their version on the first line.
var costly = map[string][]string{
	"docker_version":  {"docker", "--version"},
	"podman_version":  {"podman", "--version"},
	"git_version":     {"git", "--version"},
	"systemd_version": {"systemctl", "--version"},
	"go_version":      {"go", "version"},
	"node_version":    {"node", "--version"},
}

// costlyTimeout bounds how long a program may think about its own version.
const costlyTimeout = 2 * time.Second

var versionNumber = regexp.MustCompile(`\d+(\.\d+)*`)

// CostlyFacts returns the facts that take a process to find out, each with the function that does, at its first call
// only. The fact of a program that is not there, or does not answer in two seconds, is "".
func CostlyFacts() map[string]func() any {
	facts := make(map[string]func() any, len(costly))
	for name, argv := range costly {
		facts[name] = sync.OnceValue(func() any { return askVersion(argv) })
	}
	return facts
}

// askVersion starts a program in a group of its own and ends all of it when the time is over.
func askVersion(argv []string) string {
	path, err := osexec.LookPath(argv[0])
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), costlyTimeout)
	defer cancel()
	cmd := osexec.CommandContext(ctx, path, argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second // what the program left behind may hold its output open
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	return string(versionNumber.Find(line))
}
