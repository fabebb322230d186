package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"moon/exec/fault"

	"golang.org/x/sys/unix"
)

// The statuses a shell gives for what it cannot run.
const (
	RCNotExecutable = 126
	rcNotFound      = 127
)

func notStarted(rc int, format string, args ...any) error {
	return fault.CommandError{Message: fmt.Sprintf(format, args...), RC: &rc, Class: fault.Fatal}
}

// String words an exit as the error of a step.
func (e Exit) String() string {
	if e.Signal != 0 {
		name := unix.SignalName(e.Signal)
		if name == "" {
			name = fmt.Sprintf("signal %d", e.Signal)
		}
		return "killed by " + name
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// Find looks the command up as the step's own PATH has it.
func (p *Command) Find() (string, error) {
	name := p.Argv[0]
	if strings.Contains(name, "/") {
		if filepath.IsAbs(name) {
			return name, nil
		}
		return filepath.Join(p.Dir, name), nil
	}
	found := ""
	for _, dir := range filepath.SplitList(p.lookupEnv("PATH")) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.Dir, dir)
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			continue
		}
		// A shell, too, continues with the next directory after a file that is not executable.
		if info.Mode()&0o111 != 0 {
			return path, nil
		}
		found = path
	}
	if found != "" {
		return "", notStarted(RCNotExecutable, "%s is not executable", found)
	}
	if err := checkDir(p.Dir); err != nil {
		return "", err
	}
	return "", notStarted(rcNotFound, "command not found: %s", name)
}

func (p *Command) lookupEnv(name string) string {
	value := ""
	for _, entry := range p.Env {
		// Of a variable that is set twice the last counts.
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notStarted(rcNotFound, "cwd %s does not exist", dir)
	case err != nil:
		return notStarted(rcNotFound, "cwd: %s", fault.Describe(err))
	case !info.IsDir():
		return notStarted(rcNotFound, "cwd %s is not a directory", dir)
	}
	return nil
}

// startError finds out what the kernel's one word was about.
func (p *Command) startError(path string, err error) error {
	// A missing directory gives the same error as a missing program.
	if err := checkDir(p.Dir); err != nil {
		return err
	}
	_, gone := os.Stat(path)
	switch {
	case gone != nil && errors.Is(err, fs.ErrNotExist):
		return notStarted(rcNotFound, "command not found: %s", p.Argv[0])
	case errors.Is(err, fs.ErrNotExist):
		return notStarted(rcNotFound, "%s: the interpreter that its first line names does not exist", path)
	case errors.Is(err, fs.ErrPermission):
		return notStarted(RCNotExecutable, "%s is not executable", path)
	case errors.Is(err, syscall.ENOEXEC):
		return notStarted(RCNotExecutable, "%s is not a program; a script needs a first line like #!/bin/sh", path)
	case errors.Is(err, syscall.E2BIG):
		return notStarted(RCNotExecutable, "%s: the arguments and the environment are too long", p.Argv[0])
	}
	e := fault.CommandError{Message: "start " + p.Argv[0] + ": " + fault.Describe(err), Class: fault.Fatal}
	if fault.IsTransient(err) {
		e.Class = fault.Transient
	}
	return e
}
