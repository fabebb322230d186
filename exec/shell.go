package exec

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ShellOf is the user's own shell where a job runs: in its directory, with its environment and what is set beside, and,
// where the job has a Prefix, behind that. Notice is shown before it; what of the place cannot be had is added to it. How
// such a shell ends says nothing.
func ShellOf(job *Job, set map[string]string, notice []string) *Foreground {
	inside := *job
	inside.Env = maps.Clone(set)
	for name, value := range job.Env {
		if len(job.Prefix) > 0 && job.Secrets.Has(value) { // everybody on the machine could read it among the words
			notice = append(notice, name+" is a secret, and is not given to another user's shell")
			continue
		}
		inside.Env[name] = value
	}
	if dir := nearest(job.Cwd); dir != job.Cwd {
		notice = append(notice, fmt.Sprintf("%s does not exist; this is %s", job.Cwd, dir))
		inside.Cwd = dir
	}
	a := &attempt{Job: &inside}
	f := Shell(a.dir())
	f.env, f.notice, f.shell = a.environ(), notice, true
	if len(job.Prefix) > 0 {
		// The directory may be closed to the other user.
		in := []string{shellPath, "-c", `[ -x . ] || cd || cd /; exec "$0"`}
		f.argv = slices.Concat(job.Prefix, []string{"env"}, a.settings(), in, f.argv)
	}
	return f
}

// nearest is a directory, or the first above it that exists.
func nearest(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// inFront runs a shell in a process group of its own that has the terminal meanwhile: an interrupt typed there is none of
// moon, which would stop the run. Where there is no terminal it just runs.
func inFront(cmd *osexec.Cmd) error {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return cmd.Run()
	}
	defer func() { _ = tty.Close() }() // nothing was written
	fd := int(tty.Fd())
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return cmd.Run()
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: fd}
	err = cmd.Run()
	// Whoever takes the terminal back is in the background at that moment, and would be stopped for it.
	signal.Ignore(syscall.SIGTTOU)
	back := unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, unix.Getpgrp())
	signal.Reset(syscall.SIGTTOU)
	return errors.Join(err, back)
}

// tell shows the lines before a shell.
func tell(w io.Writer, lines []string) {
	if w != nil && len(lines) > 0 {
		_, _ = io.WriteString(w, "\n"+strings.Join(lines, "\n")+"\n") // a terminal that is gone has no reader
	}
}
