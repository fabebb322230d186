package process

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// enterGroup has the process start in a control group of its own, where there can be one.
func (c *child) enterGroup(sys *syscall.SysProcAttr) {
	if c.RunID == "" {
		return
	}
	if c.confined = cgroupsOf(c.RunID).takeGroup(); c.confined != nil {
		sys.UseCgroupFD, sys.CgroupFD = true, c.confined.dir
	}
}

// leaveGroup is for a process that could not be started. It reports whether it might be without its control group.
func (c *child) leaveGroup(sys *syscall.SysProcAttr) bool {
	if c.confined == nil {
		return false
	}
	cgroupsOf(c.RunID).putBack(c.confined)
	c.confined, sys.UseCgroupFD = nil, false
	return true
}

// releaseGroup lets go of the control group. What is in it is left alone.
func (c *child) releaseGroup() {
	if c.confined != nil {
		cgroupsOf(c.RunID).putBack(c.confined)
	}
}

// killEscaped kills what is left of an attempt that was asked to end: what has left the process group, which was killed
// before.
func (c *child) killEscaped() []orphan {
	// Gone already, or in the group that is killed anyway: not worth a mention.
	anyway := func(pid int) bool {
		group, err := syscall.Getpgid(pid)
		return err != nil || group == c.pid
	}
	switch {
	case c.confined != nil && c.confined.isEmpty():
		return nil
	case c.confined != nil:
		var list []orphan
		for _, e := range nameProcesses(c.confined.listProcesses()) {
			if !anyway(e.pid) {
				list = append(list, e)
			}
		}
		c.confined.killAll()
		return list
	case c.Attempt != "":
		return killMarked(c.Attempt, anyway)
	}
	return nil
}

// listLeft returns what is still running of an attempt whose process has ended.
func (c *child) listLeft() []orphan {
	switch {
	case c.confined != nil:
		return nameProcesses(c.confined.listProcesses())
	case c.Attempt != "":
		return nameProcesses(withMark(c.Attempt))
	}
	return nil
}

// EndRun lets go of what was kept for the processes of a run. None may be started afterwards.
func EndRun(run string) {
	runGroups.Lock()
	g := runGroups.of[run]
	delete(runGroups.of, run)
	runGroups.Unlock()
	if g == nil || g.own == "" {
		return
	}
	defer func() { _ = syscall.Close(g.lock) }()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.idle {
		c.closeFiles()
	}
	g.idle, g.dir = nil, ""
	removeTree(filepath.Join(g.own, cgroupName(run)))
}

// EndLeft kills what a moon that died has left running of a run, as far as it can be found: everything in its control
// groups, and what carries the mark of one of the attempts that ran then. It says what that was.
func EndLeft(run string, attempts []string) string {
	var list []orphan
	if mount, _ := cgroupMount(); mount != "" {
		_ = filepath.WalkDir(mount, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() || d.Name() != cgroupName(run) {
				return nil //nolint:nilerr // what may not be seen is not this user's
			}
			list = append(list, nameProcesses(pidsBelow(path))...)
			killGroup(path)
			for range 100 { // an empty group may be removed when the last process in it was reaped
				removeTree(path)
				if _, err := os.Lstat(path); err != nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			return fs.SkipDir
		})
	}
	for _, attempt := range attempts {
		list = append(list, killMarked(attempt, func(int) bool { return false })...)
	}
	return DescribeOrphans(list)
}

// nameProcesses gives processes their names. Those that have ended have none, and are left out.
func nameProcesses(pids []int) []orphan {
	var list []orphan
	for _, pid := range pids {
		if name := commandLine(pid); name != "" {
			list = append(list, orphan{pid, name})
		}
	}
	return list
}

// commandLine is the command line of a process; "" if it has ended.
func commandLine(pid int) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(bytes.ReplaceAll(text, []byte{0}, []byte{' '})))
}

// withMark are the processes that carry the mark of an attempt. What belongs to another user cannot be looked at, nor
// could it be killed.
func withMark(attempt string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && hasMark(pid, attempt) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func hasMark(pid int, attempt string) bool {
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil || pid == os.Getpid() {
		return false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(MarkVariable+"=")); ok {
			for mark := range strings.SplitSeq(string(value), ",") {
				if mark == attempt {
					return true
				}
			}
		}
	}
	return false
}

// killMarked kills the processes that carry a mark, and those that they start meanwhile. It returns them, but for those
// that are killed anyway.
func killMarked(attempt string, anyway func(pid int) bool) []orphan {
	var list []orphan
	seen := map[int]bool{}
	// Several rounds, since marked processes may start others; a round without a find is the last.
	for range 10 {
		found := 0
		for _, pid := range withMark(attempt) {
			name := commandLine(pid)
			if name == "" || !killIf(pid, func() bool { return hasMark(pid, attempt) }) || seen[pid] {
				continue
			}
			seen[pid] = true
			if found++; !anyway(pid) {
				list = append(list, orphan{pid, name})
			}
		}
		if found == 0 {
			break
		}
	}
	return list
}

// killIf kills a process if it is the one meant: its number may have passed to another.
func killIf(pid int, meant func() bool) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer func() { _ = syscall.Close(fd) }()
	// The descriptor is opened first: then a number that passes on cannot be meant by it.
	return meant() && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}
