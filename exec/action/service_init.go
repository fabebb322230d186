package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"moon/exec"
	"moon/exec/spec"
	"moon/internal/pattern"
	"moon/internal/suggest"
)

// initScripts calls scripts in /etc/init.d, and has links to them in the directories of the runlevels.
type initScripts struct {
	args *spec.ServiceArgs
	name string
}

const initDir = "/etc/init.d"

func (*initScripts) rereadUnits(context.Context, *exec.Attempt) error {
	return noSystemd("daemon_reload")
}

func (s *initScripts) readState(ctx context.Context, a *exec.Attempt) (*serviceState, error) {
	if err := onlySystemd(s.args); err != nil {
		return nil, err
	}
	script := filepath.Join(initDir, s.name)
	info, err := os.Stat(script)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular():
		var names []string
		entries, _ := os.ReadDir(initDir) // none is an answer, too
		for _, e := range entries {
			names = append(names, e.Name())
		}
		hint := suggest.DidYouMean(s.name, names)
		if hint == "" {
			hint = "systemd does not run here, and " + script + " does not exist"
		}
		return nil, noService(s.name, hint)
	case err != nil:
		return nil, err
	case info.Mode()&0o111 == 0:
		return nil, fmt.Errorf("%s is not executable", script)
	}
	is := &serviceState{enabled: s.isEnabled()}
	// Whether it runs is of interest only if the step wants it to run or stop: a status may be slow.
	if is.running, err = isRunning(s.args); err != nil || s.args.Pattern != "" || s.args.State == "" {
		return is, err
	}
	is.running, err = s.askStatus(ctx, a)
	return is, err
}

// The exit statuses of an init script that is asked for its status, as the Linux Standard Base has them.
const (
	initRunning = 0
	initDeadPID = 1
	initDeadSub = 2
	initStopped = 3
)

var initUsage = pattern.New(`(?i)\busage:`)

func (s *initScripts) askStatus(ctx context.Context, a *exec.Attempt) (bool, error) {
	said, err := a.AskTool(ctx, s.buildCommand(a, "status"))
	if err != nil {
		return false, err
	}
	text := said.Stdout + said.Stderr
	// Old scripts without `status` print their usage, and end with what looks like a state.
	if said.Code != initRunning && initUsage.MatchString(text) {
		return false, fmt.Errorf("%s/%s does not tell whether it is running; `pattern` gives a part of its command line to look for",
			initDir, s.name)
	}
	switch said.Code {
	case initRunning:
		return true, nil
	case initDeadPID, initDeadSub, initStopped:
		return false, nil
	}
	return false, packageError(initDir+"/"+s.name+" status", said, "`pattern` gives a part of its command line to look for")
}

// buildCommand returns a call of the init script, with no more of moon's environment than the machine would give it when it starts.
func (s *initScripts) buildCommand(a *exec.Attempt, words ...string) exec.Tool {
	argv := []string{"env", "-i", "TERM=dumb"}
	// An init script must not find more here than at boot: not moon's own variables either.
	for _, name := range []string{"PATH", "LANG"} {
		if _, own := a.Env[name]; !own {
			argv = append(argv, name+"="+os.Getenv(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		argv = append(argv, name+"="+a.Env[name])
	}
	return exec.NewTool(append(append(argv, filepath.Join(initDir, s.name)), words...)...)
}

func (s *initScripts) runVerb(ctx context.Context, a *exec.Attempt, verb string) error {
	switch verb {
	case "enable":
		return s.enableService(ctx, a)
	case "disable":
		return s.disableService(ctx, a)
	}
	return tellService(ctx, a, s.buildCommand(a, append([]string{verb}, s.args.Words...)...), initDir+"/"+s.name+" "+verb)
}

func (s *initScripts) listRunlevels() []string {
	if len(s.args.Runlevels) > 0 {
		return s.args.Runlevels
	}
	return []string{"2", "3", "4", "5"}
}

// runlevelDir is the directory of a runlevel; Red Hat has them under rc.d.
func runlevelDir(level string) string {
	if dir := "/etc/rc.d/rc" + level + ".d"; isPresent(dir) {
		return dir
	}
	return "/etc/rc" + level + ".d"
}

// listLinks returns the links to the script in a runlevel: S with a number starts it, K stops it.
func (s *initScripts) listLinks(level, letter string) []string {
	var links []string
	entries, _ := os.ReadDir(runlevelDir(level)) // none is an answer, too
	for _, e := range entries {
		name := e.Name()
		// S20ssh: a letter and two digits, then the name.
		if strings.HasPrefix(name, letter) && len(name) > 3 && name[3:] == s.name {
			links = append(links, filepath.Join(runlevelDir(level), name))
		}
	}
	return links
}

// isEnabled reports whether a runlevel starts it; all of them must if the step names them.
func (s *initScripts) isEnabled() bool {
	starts := func(level string) bool { return len(s.listLinks(level, "S")) > 0 }
	if len(s.args.Runlevels) > 0 {
		return !slices.ContainsFunc(s.args.Runlevels, func(level string) bool { return !starts(level) })
	}
	return slices.ContainsFunc(s.listRunlevels(), starts)
}

func (s *initScripts) isKnown() bool {
	for _, level := range []string{"0", "1", "2", "3", "4", "5", "6"} {
		if len(s.listLinks(level, "S"))+len(s.listLinks(level, "K")) > 0 {
			return true
		}
	}
	return false
}

func (s *initScripts) enableService(ctx context.Context, a *exec.Attempt) error {
	switch {
	case a.Installed("update-rc.d"):
		if !s.isKnown() {
			if err := tellService(ctx, a, exec.NewTool("update-rc.d", s.name, "defaults"), "update-rc.d"); err != nil || s.isEnabled() {
				return err
			}
		}
		return tellService(ctx, a, exec.NewTool(append([]string{"update-rc.d", s.name, "enable"}, s.args.Runlevels...)...), "update-rc.d")
	case a.Installed("chkconfig"):
		if err := tellService(ctx, a, exec.NewTool("chkconfig", "--add", s.name), "chkconfig"); err != nil {
			return err
		}
		return tellService(ctx, a, exec.NewTool("chkconfig", "--level", strings.Join(s.listRunlevels(), ""), s.name, "on"), "chkconfig")
	}
	return s.makeLinks("K", "S20")
}

func (s *initScripts) disableService(ctx context.Context, a *exec.Attempt) error {
	switch {
	case a.Installed("update-rc.d"):
		return tellService(ctx, a, exec.NewTool(append([]string{"update-rc.d", s.name, "disable"}, s.args.Runlevels...)...), "update-rc.d")
	case a.Installed("chkconfig"):
		return tellService(ctx, a, exec.NewTool("chkconfig", "--level", strings.Join(s.listRunlevels(), ""), s.name, "off"), "chkconfig")
	}
	return s.makeLinks("S", "K80")
}

// makeLinks makes the links itself, where nothing else does, in the place of the opposite ones.
func (s *initScripts) makeLinks(old, now string) error {
	for _, level := range s.listRunlevels() {
		dir := runlevelDir(level)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for _, path := range s.listLinks(level, old) {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
		// A link that is there may have another number on purpose.
		if len(s.listLinks(level, now[:1])) > 0 {
			continue
		}
		if err := os.Symlink(filepath.Join(initDir, s.name), filepath.Join(dir, now+s.name)); err != nil {
			return err
		}
	}
	return nil
}

// isRunning looks for the pattern of the step among the command lines of all processes, but moon's own.
func isRunning(args *spec.ServiceArgs) (bool, error) {
	if args.Pattern == "" {
		return false, nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		// A process that has ended meanwhile has no such file, and is not the one.
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && bytes.Contains(bytes.ReplaceAll(line, []byte{0}, []byte{' '}), []byte(args.Pattern)) {
			return true, nil
		}
	}
	return false, nil
}
