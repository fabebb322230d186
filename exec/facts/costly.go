package facts

import (
	"bytes"
	"context"
	osexec "os/exec"
	"sync"
	"time"

	"moon/exec/process"
	"moon/internal/pattern"
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

var versionNumber = pattern.New(`\d+(\.\d+)*`)

// Costly returns the facts that take a process to find out, each with the function that does, at its first call
// only. The fact of a program that is not there, or does not answer in two seconds, is "".
func Costly() map[string]func() any {
	facts := make(map[string]func() any, len(costly))
	for name, argv := range costly {
		facts[name] = sync.OnceValue(func() any { return askVersion(argv) })
	}
	return facts
}

// askVersion asks a program, if it is there.
func askVersion(argv []string) string {
	path, err := osexec.LookPath(argv[0])
	if err != nil {
		return ""
	}
	out, err := (&process.Asker{Timeout: costlyTimeout}).Run(context.Background(), path, argv[1:]...)
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	return string(versionNumber.Find(line))
}
