package process

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cgroups are the control groups of one run, below moon's own: moon-RUN/1, 2, …, as many as processes ran at once. A
// process runs in one of them from its start, and with it all that it starts, whatever else those do to get away.
//
//	take ─▶ start in it ─▶ ended: move what is in it to moon's own ─▶ put back
//	                    └▶ stopped: kill what is in it ─────────────▶ remove
//
// Using them again is what makes them cheap: to make and remove one takes as long as half a step that does nothing.
type cgroups struct {
	own  string // moon's own
	dir  string // moon-RUN in it; "": there can be none
	lock int    // that directory, locked as long as moon lives

	mu   sync.Mutex
	idle []*cgroup
	made int
}

type cgroup struct {
	path   string
	dir    int  // the open directory, to start processes in
	events int  // the open cgroup.events
	killed bool // once; it must not be used again: Linux 6.18 kills at birth what is started in it from outside
}

var runGroups = struct {
	sync.Mutex
	of map[string]*cgroups
}{of: map[string]*cgroups{}}

// cgroupsOf are the control groups of a run.
func cgroupsOf(run string) *cgroups {
	runGroups.Lock()
	defer runGroups.Unlock()
	g := runGroups.of[run]
	if g == nil {
		g = newCgroups(run)
		runGroups.of[run] = g
	}
	return g
}

// newCgroups makes the directory, where moon may: as root, or in a subtree that was delegated to the user.
func newCgroups(run string) *cgroups {
	own := ownCgroup()
	if own == "" {
		return &cgroups{}
	}
	g := &cgroups{own: own, dir: filepath.Join(own, cgroupName(run))}
	var ok bool
	// Until it is locked, another moon that tidies up takes it for forsaken.
	for range 20 {
		if err := os.Mkdir(g.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return &cgroups{}
		}
		if g.lock, ok = lockDir(g.dir); ok {
			if isAt(g.lock, g.dir) {
				break
			}
			_ = syscall.Close(g.lock)
			ok = false
		}
		time.Sleep(time.Millisecond)
	}
	if !ok {
		return &cgroups{}
	}
	// Each run tidies up after those that were killed; the lock says who is alive.
	removeForsaken(own)
	return g
}

const cgroupPrefix = "moon-"

func cgroupName(run string) string { return cgroupPrefix + run }

// lockDir opens a directory and locks it, unless another process has.
func lockDir(dir string) (fd int, ok bool) {
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, false
	}
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		_ = syscall.Close(fd)
		return -1, false
	}
	return fd, true
}

// isAt reports whether an open directory is still the one at a path.
func isAt(fd int, path string) bool {
	var open, there unix.Stat_t
	return unix.Fstat(fd, &open) == nil && unix.Stat(path, &there) == nil && open.Ino == there.Ino && open.Dev == there.Dev
}

// removeForsaken removes the groups of runs whose moon was killed, as far as nothing is left in them.
func removeForsaken(own string) {
	all, err := filepath.Glob(filepath.Join(own, cgroupPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range all {
		if fd, ok := lockDir(dir); ok {
			removeTree(dir)
			_ = syscall.Close(fd)
		}
	}
}

// ownCgroup is the directory of moon's own control group of version 2, "" if there is none to be seen.
func ownCgroup() string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		// A path that leads up is that of another namespace: the group cannot be seen from here.
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok && !strings.HasPrefix(path, "/..") {
			if mount, root := cgroupMount(); mount != "" {
				if rest, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rest) {
					return filepath.Join(mount, rest)
				}
			}
		}
	}
	return ""
}

// cgroupMount is where version 2 is mounted, and which part of its tree.
func cgroupMount() (mount, root string) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", ""
	}
	for line := range strings.Lines(string(text)) {
		front, back, _ := strings.Cut(line, " - ")
		if words := strings.Fields(front); strings.HasPrefix(back, "cgroup2 ") && len(words) > 4 {
			return words[4], words[3]
		}
	}
	return "", ""
}

// takeGroup gives a group that nobody uses; nil if there can be none.
func (g *cgroups) takeGroup() *cgroup {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dir == "" {
		return nil
	}
	if n := len(g.idle); n > 0 {
		c := g.idle[n-1]
		g.idle = g.idle[:n-1]
		return c
	}
	c := &cgroup{path: filepath.Join(g.dir, strconv.Itoa(g.made+1))}
	err := os.Mkdir(c.path, 0o755)
	// A group of that name may be left from a moon that had the same run.
	if err == nil || errors.Is(err, fs.ErrExist) {
		if c.dir, err = unix.Open(c.path, unix.O_DIRECTORY|unix.O_PATH|unix.O_CLOEXEC, 0); err == nil {
			if c.events, err = unix.Open(filepath.Join(c.path, "cgroup.events"), unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
				g.made++
				return c
			}
			_ = syscall.Close(c.dir)
		}
	}
	// Once it failed it will fail again, and steps are run without groups then.
	g.dir = ""
	return nil
}

// markUnusable says that processes cannot be started in the groups after all.
func (g *cgroups) markUnusable() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dir = ""
}

// putBack gives a group back. One that was killed, or cannot be emptied, is not used again.
func (g *cgroups) putBack(c *cgroup) {
	if c.killed || !c.isEmpty() && !g.moveOut(c) {
		c.closeFiles()
		removeTree(c.path)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.idle = append(g.idle, c)
}

// moveOut moves what a step has left running to where it would be without moon.
func (g *cgroups) moveOut(c *cgroup) bool {
	to, err := os.OpenFile(filepath.Join(g.own, "cgroup.procs"), os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	defer func() { _ = to.Close() }() // each line was taken or not
	for range 100 {                   // they may start others meanwhile
		for _, pid := range c.listProcesses() {
			_, _ = to.WriteString(strconv.Itoa(pid))
		}
		if c.isEmpty() {
			return true
		}
	}
	return false
}

func (c *cgroup) closeFiles() { _, _ = syscall.Close(c.dir), syscall.Close(c.events) }

// isEmpty reports whether no process is in the group or below it.
func (c *cgroup) isEmpty() bool {
	var buf [256]byte
	n, err := unix.Pread(c.events, buf[:], 0)
	return err == nil && bytes.Contains(buf[:n], []byte("populated 0"))
}

// listProcesses returns the processes in the group and below it, where a step that is a moon has its own.
func (c *cgroup) listProcesses() []int { return pidsBelow(c.path) }

func pidsBelow(dir string) []int {
	var pids []int
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // it was removed meanwhile
		}
		text, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
		return nil
	})
	return pids
}

// killAll ends all that is in the group and below it, and waits until it is gone.
func (c *cgroup) killAll() {
	c.killed = true
	killGroup(c.path)
	for end := time.Now().Add(time.Second); !c.isEmpty() && time.Now().Before(end); {
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(c.events), Events: unix.POLLPRI}}, 10)
	}
}

// killGroup kills all in a control group at once, or one by one where the kernel cannot (before 5.14).
func killGroup(path string) {
	if os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0) == nil {
		return
	}
	for range 10 {
		// Children may be born while the list is read, so it is read until it stays empty.
		pids := pidsBelow(path)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(pids) == 0 {
			return
		}
	}
}

// removeTree removes a control group with those below it, as far as they are empty.
func removeTree(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			removeTree(filepath.Join(dir, e.Name()))
		}
	}
	_ = os.Remove(dir)
}
