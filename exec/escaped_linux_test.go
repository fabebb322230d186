package exec_test

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"moon/events"
	"moon/exec/exectest"
	"moon/exec/fault"
	"moon/exec/process"
	"moon/internal/assault"
)

// cgroupsHere reports whether moon can make control groups on this machine.
func cgroupsHere(t *testing.T) (own string, ok bool) {
	t.Helper()
	for _, own := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		text, _ := os.ReadFile("/proc/self/cgroup")
		for line := range strings.Lines(string(text)) {
			path, found := strings.CutPrefix(strings.TrimSpace(line), "0::")
			dir := filepath.Join(own, path)
			if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); !found || err != nil {
				continue
			}
			probe := filepath.Join(dir, "probe-of-moons-tests")
			if os.Mkdir(probe, 0o755) == nil && os.Remove(probe) == nil {
				return dir, true
			}
		}
	}
	return "", false
}

// noGroups begins the name of a run that is too long for a control group, so that there is none.
var noGroups = strings.Repeat("x", 300)

// waitFor waits until something holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for range 3000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it never came")
}

// TestEscapees stops steps that have started something outside of their process group: nothing of it survives, and what it
// was is said.
func TestEscapees(t *testing.T) {
	_, grouped := cgroupsHere(t)
	tests := []struct {
		name, cmd string
		sleeping  int  // processes that must be there before
		onlyIn    bool // a control group: nothing else tells whose it is
		says      int  // how many escapees are named
	}{
		{"setsid", "setsid sleep MARK & echo up; sleep MARK", 2, false, 1},
		{"twice", "(setsid sh -c 'sleep MARK & wait' &) & echo up; sleep MARK", 2, false, 2},
		{"ignores all", "setsid sh -c \"trap '' INT TERM HUP; echo up; while :; do sleep MARK; done\" & sleep MARK", 2, false, 2},
		{"holds the output", "setsid sleep MARK & exec sleep MARK & echo up; wait", 2, false, 1},
		{"forgets its environment", "setsid env -i sleep MARK & echo up; sleep MARK", 2, true, 1},
		{"stays", "sleep MARK & (sleep MARK & wait) & echo up; sleep MARK", 3, false, 0},
	}
	for i, group := range []string{fmt.Sprintf("test-%d", os.Getpid()), noGroups} {
		t.Cleanup(func() { process.EndRun(group) })
		for k, tt := range tests {
			mark := newMark()
			t.Run(fmt.Sprintf("%s %d", tt.name, i), func(t *testing.T) {
				if !grouped && i == 0 || tt.onlyIn && i > 0 {
					t.Skip("only with control groups")
				}
				t.Parallel()
				assault.Tried(t, "escapes from the process group", 1)
				job := exectest.NewJob(t, "shell", exectest.Args{"cmd": strings.ReplaceAll(tt.cmd, "MARK", mark)})
				job.Attempt = fmt.Sprintf("%s/step-%d.1", group, k)
				r, _ := exectest.CancelWhen(t, job, "up\n", 0, func(cancel context.CancelCauseFunc) {
					waitFor(t, func() bool { // all of them, and none that is still setsid or env on its way to it
						return len(survivors(t, "sleep\x00"+mark)) == tt.sleeping && len(survivors(t, "setsid\x00sleep\x00"+mark)) == 0 && len(survivors(t, "-i\x00sleep\x00"+mark)) == 0
					})
					cancel(fault.Expired)
				})
				exectest.WantOutcome(t, r, events.Timeout, "timed out")
				wantNone(t, "sleep\x00"+mark)
				said := strings.Join(r.Warnings, "\n")
				if n := strings.Count(said, "sleep "+mark); n != tt.says || n > 0 && !strings.HasPrefix(said, "killed with it, although not in its group any more: ") {
					t.Errorf("it says %q, want %d", said, tt.says)
				}
			})
		}
	}
}

// TestDaemonLeavesTheGroup lets a step start a daemon and end well: it is left alone, goes where it would be without moon,
// and moon's groups are gone with the run.
func TestDaemonLeavesTheGroup(t *testing.T) {
	own, ok := cgroupsHere(t)
	if !ok {
		t.Skip("no control groups here")
	}
	mark := newMark()
	group := fmt.Sprintf("daemon-%d", os.Getpid())
	for i := range 3 {
		job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "setsid sleep " + mark + " > /dev/null 2>&1 & true"})
		job.Attempt = fmt.Sprintf("%s/step-%d.1", group, i)
		if r := exectest.RunJob(t, job); len(r.Warnings) > 0 {
			t.Errorf("warnings %q", r.Warnings)
		}
	}
	if _, err := os.Stat(filepath.Join(own, "moon-"+group, "1")); err != nil {
		t.Error("the steps had no group:", err)
	}
	process.EndRun(group)
	if _, err := os.Stat(filepath.Join(own, "moon-"+group)); err == nil {
		t.Error("the groups of the run are left")
	}
	waitFor(t, func() bool { return len(survivors(t, "sleep\x00"+mark)) == 3 })
	for _, pid := range survivors(t, "sleep\x00"+mark) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestHolderIsNamed lets a step end well whose daemon holds its output.
func TestHolderIsNamed(t *testing.T) {
	for _, group := range []string{fmt.Sprintf("holder-%d", os.Getpid()), noGroups} {
		mark := newMark()
		job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "setsid sleep " + mark + " & echo started"})
		job.Attempt = group + "/step-0001.1"
		r := exectest.RunJob(t, job)
		if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "left running: ") || !strings.Contains(r.Warnings[0], " sleep "+mark+"; it still held the output") {
			t.Errorf("warnings %q", r.Warnings)
		}
		process.EndRun(group)
		pids := survivors(t, "sleep\x00"+mark)
		if len(pids) != 1 {
			t.Errorf("%d daemons, want 1 alive", len(pids))
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// TestForsaken finds what a moon that was killed has left running, in its groups or by its marks, and leaves alone what
// carries another mark.
func TestForsaken(t *testing.T) {
	mark := newMark()
	start := func(attempt string) *osexec.Cmd {
		cmd := osexec.CommandContext(t.Context(), "sleep", mark)
		cmd.Env = append(os.Environ(), "MOON_ATTEMPT=other/step-1.1,"+attempt)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	lost, kept := start("gone/step-0003.1"), start("gone/step-0002.1")
	defer func() { _ = kept.Process.Kill(); _ = kept.Wait() }()
	said := process.EndLeft("gone", []string{"gone/step-0003.1", "gone/step-0004.1"})
	if want := fmt.Sprintf("%d sleep %s", lost.Process.Pid, mark); said != want {
		t.Errorf("it says %q, want %q", said, want)
	}
	if err := lost.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Error("it lives on:", err)
	}
	if err := kept.Process.Signal(syscall.Signal(0)); err != nil {
		t.Error("what was not meant is gone:", err)
	}
}
