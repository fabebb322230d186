package exec

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"moon/exec/process"
)

// ShellAs is what a shell where a job runs has beside the job.
type ShellAs struct {
	Set    map[string]string // more of its environment
	Notice []string          // lines that are shown before it

	// For another user:
	Prefix     []string            // what it runs behind: sudo and its options
	Env        []string            // instead of moon's own, below that of the job; nil: moon's own
	Credential *syscall.Credential // whom it runs as; nil: as moon, or as Prefix has it
	There      bool                // on another machine, where Prefix leads: the shell is that of who logs in
}

// ShellOf is the user's own shell where a job runs: in its directory, with its environment. What of that cannot be had is
// added to what is shown before it. How such a shell ends says nothing.
func ShellOf(job *Job, as ShellAs) *Foreground {
	inside := *job
	inside.Env = map[string]string{}
	maps.Copy(inside.Env, as.Set)
	notice := as.Notice
	for name, value := range job.Env {
		if len(as.Prefix) > 0 && job.Secrets.Has(value) { // everybody on the machine could read it among the words
			notice = append(notice, "   "+name+" is a secret, and is not given to another user's shell")
			continue
		}
		inside.Env[name] = value
	}
	if dir := nearest(job.Cwd); dir != job.Cwd && !as.There {
		notice = append(notice, fmt.Sprintf("   %s does not exist; this is %s", job.Cwd, dir))
		inside.Cwd = dir
	}
	a := &Attempt{Job: &inside}
	f := Shell(a.dir())
	f.env, f.notice, f.shell, f.as = a.environ(), notice, true, as.Credential
	if as.Env != nil {
		f.env = slices.Concat(as.Env, a.settings())
	}
	if len(as.Prefix) == 0 && as.Credential == nil {
		return f
	}
	// The directory may be closed to the other user, who must be notified if it was chosen.
	enter := `cd "$1" || cd || cd /; exec "$0"`
	if job.Roams {
		enter = `cd "$1" 2>/dev/null || cd || cd /; exec "$0"`
	}
	inner := []string{process.ShellPath, "-c", enter, f.argv[0], inside.Cwd}
	if as.There {
		inner = []string{process.ShellPath, "-c", enterThere, process.ShellPath, inside.Cwd}
	}
	f.argv = inner
	if len(as.Prefix) > 0 {
		f.argv = slices.Concat(as.Prefix, []string{"env"}, a.settings(), inner)
	}
	f.dir = "/"
	return f
}

// enterThere goes to a directory, of which only that machine knows whether it is there, and where a home is.
const enterThere = `case $1 in "" | "~") cd ;; "~/"*) cd "$HOME/${1#??}" ;; *) cd "$1" ;; esac || cd; exec "${SHELL:-$0}"`

// nearest is a directory, or the first above it that exists.
func nearest(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// tell shows the lines before a shell.
func tell(w io.Writer, lines []string) {
	if w != nil && len(lines) > 0 {
		_, _ = io.WriteString(w, "\n"+strings.Join(lines, "\n")+"\n") // a terminal that is gone has no reader
	}
}
