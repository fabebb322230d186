package exec_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/fault"
	"moon/exec/process"
	"moon/exec/spec"
	"moon/internal/assault"
)

// TestHelper is a process of the tests rather than a test: a child of its own kind for those that need one that sh
// cannot be.
func TestHelper(*testing.T) {
	switch os.Getenv("MOON_TEST_HELPER") {
	case "flood":
		n, _ := strconv.ParseInt(os.Getenv("MOON_TEST_BYTES"), 10, 64)
		line := bytes.Repeat([]byte("a line of output of a usual length, more or less, 55 B\n"), 1200)
		for n > 0 {
			k, err := os.Stdout.Write(line[:min(int64(len(line)), n)])
			if err != nil {
				os.Exit(1)
			}
			n -= int64(k)
		}
		os.Exit(0)
	case "terminal":
		inTerminal()
		os.Exit(0)
	case "run": // moon itself, to be killed
		a, _ := spec.Lookup("shell")
		decoded, _ := a.Decode(exectest.Args{"cmd": "echo $$ > pid; exec sleep 300"})
		exec.Local{}.Run(context.Background(), &exec.Job{
			Action: "shell", Args: decoded, Cwd: os.Getenv("MOON_TEST_DIR"), Output: steplog.NewDiscard(),
		})
		os.Exit(0)
	}
}

func helper(tb testing.TB, what string) exectest.Args {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return exectest.Args{"argv": []any{"/usr/bin/env", "MOON_TEST_HELPER=" + what, self, "-test.run=^TestHelper$"}}
}

// survivors are the processes whose command line has the mark.
func survivors(tb testing.TB, mark string) []int {
	tb.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		tb.Skip("no /proc")
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		stat, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if bytes.Contains(line, []byte(mark)) && !bytes.Contains(stat, []byte(") Z ")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// wantNone waits a moment for killed processes to go.
func wantNone(tb testing.TB, mark string) {
	tb.Helper()
	var left []int
	for range 100 {
		if left = survivors(tb, mark); len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	tb.Errorf("%d processes survived: %v", len(left), left)
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

var marks int

// newMark is a number of seconds for sleep that no other process has.
func newMark() string {
	marks++
	return fmt.Sprintf("%d.%04d", 300+os.Getpid(), marks)
}

func TestStop(t *testing.T) {
	interrupt := func(cancel context.CancelCauseFunc) { cancel(fault.Interrupt) }
	expire := func(cancel context.CancelCauseFunc) { cancel(fault.Expired) }
	tests := []struct {
		name    string
		cmd     string // MARK is replaced
		stop    func(context.CancelCauseFunc)
		outcome events.Outcome
		err     string
		rc      int
		out     string
		within  time.Duration
		atLeast time.Duration
	}{
		// dash loses a SIGINT that comes just before it replaces itself by its last command, so up must come later.
		{"interrupt", "(sleep 0.05; echo up) & exec sleep MARK", interrupt, events.Cancelled, "interrupted", 130, "up\n", 300 * time.Millisecond, 0},
		{"children", "sleep MARK & sleep MARK & (sleep MARK; true) & echo up; wait", interrupt, events.Cancelled, "interrupted", 130, "up\n", 400 * time.Millisecond, 0},
		{
			"ends well", "trap 'kill %1; echo bye; exit 0' INT; sleep MARK & echo up; wait", interrupt, events.Changed, "", 0, "up\nbye\n",
			400 * time.Millisecond, 0,
		},
		{
			"INT ignored", "trap '' INT; echo up; sleep MARK; sleep MARK", interrupt, events.Cancelled, "interrupted", 143, "up\n",
			700 * time.Millisecond, 200 * time.Millisecond,
		},
		{
			"INT and TERM ignored", "trap '' INT TERM; echo up; while :; do sleep MARK; done", interrupt, events.Cancelled, "interrupted", 137, "up\n",
			1500 * time.Millisecond, time.Second,
		},
		{"expired", "echo up; sleep MARK", expire, events.Timeout, "timed out", 143, "up\n", 300 * time.Millisecond, 0},
		{
			"expired, TERM ignored", "trap '' TERM; echo up; while :; do sleep MARK; done", expire, events.Timeout, "timed out", 137, "up\n",
			1500 * time.Millisecond, time.Second,
		},
		{"stopped process", "echo up; kill -STOP $$", expire, events.Timeout, "timed out", 143, "up\n", 300 * time.Millisecond, 0},
	}
	for _, tt := range tests {
		mark := newMark()
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			job := exectest.NewJob(t, "shell", exectest.Args{"cmd": strings.ReplaceAll(tt.cmd, "MARK", mark)})
			r, took := exectest.CancelWhen(t, job, "up\n", time.Second, tt.stop)
			exectest.WantOutcome(t, r, tt.outcome, tt.err)
			exectest.WantRC(t, r, tt.rc)
			if got := exectest.Stdout(job); got != tt.out {
				t.Errorf("stdout %q, want %q", got, tt.out)
			}
			// Under load anything may take longer; what must not be is the next rung of the ladder.
			if took > tt.within+500*time.Millisecond || took < tt.atLeast {
				t.Errorf("took %v, want %v to %v", took, tt.atLeast, tt.within)
			}
			wantNone(t, "sleep\x00"+mark)
		})
	}
}

func TestNow(t *testing.T) {
	mark := newMark()
	job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "trap '' INT TERM; sleep " + mark + " & echo up; while :; do sleep " + mark + "; done"})
	now := make(chan struct{})
	job.Now = now
	r, took := exectest.CancelWhen(t, job, "up\n", time.Minute, func(cancel context.CancelCauseFunc) { cancel(fault.Interrupt); close(now) })
	exectest.WantOutcome(t, r, events.Cancelled, "interrupted")
	exectest.WantRC(t, r, 137)
	if took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	wantNone(t, "sleep\x00"+mark)
}

// TestNobodySurvives interrupts steps with children that ignore it: none is left.
func TestNobodySurvives(t *testing.T) {
	mark := newMark()
	script := "trap '' INT; sleep " + mark + " & (trap '' TERM; sleep " + mark + " & wait) & echo up; sleep " + mark
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	defer process.EndRun("survivors")
	n := assault.Rounds(50, 200)
	assault.Tried(t, "interrupts of steps whose children ignore them", n)
	for i := range n {
		job := exectest.NewJob(t, "shell", exectest.Args{"cmd": script})
		if i%2 == 0 {
			job.Attempt = fmt.Sprintf("survivors/step-%d.1", i)
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			r, _ := exectest.CancelWhen(t, job, "up\n", 100*time.Millisecond, func(cancel context.CancelCauseFunc) { cancel(fault.Interrupt) })
			exectest.WantOutcome(t, r, events.Cancelled, "interrupted")
		})
	}
	wg.Wait()
	wantNone(t, "sleep\x00"+mark)
}

func TestDaemonLivesOn(t *testing.T) {
	mark := newMark()
	job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "sleep " + mark + " & echo started"})
	start := time.Now()
	r := exectest.RunJob(t, job)
	took := time.Since(start)
	exectest.WantOutcome(t, r, events.Changed, "")
	if took < 400*time.Millisecond || took > 2*time.Second {
		t.Errorf("took %v, want about 500ms", took)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "still held the output") {
		t.Errorf("warnings %q", r.Warnings)
	}
	if got := exectest.Stdout(job); got != "started\n" {
		t.Errorf("stdout %q", got)
	}
	pids := survivors(t, "sleep\x00"+mark)
	if len(pids) != 1 {
		t.Fatalf("%d daemons, want 1 alive", len(pids))
	}
	_ = syscall.Kill(pids[0], syscall.SIGKILL)

	// One that let go of the output is not waited for at all.
	job = exectest.NewJob(t, "shell", exectest.Args{"cmd": "sleep " + mark + " > /dev/null 2>&1 & echo started"})
	start = time.Now()
	r = exectest.RunJob(t, job)
	if took := time.Since(start); took > 400*time.Millisecond || len(r.Warnings) > 0 {
		t.Errorf("took %v, warnings %q", took, r.Warnings)
	}
	for _, pid := range survivors(t, "sleep\x00"+mark) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestLastWordsOfTheLeader has a leader that fills the pipe and ends while its child holds the pipe open: nothing the
// leader wrote may be lost.
func TestLastWordsOfTheLeader(t *testing.T) {
	mark := newMark()
	job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "sleep " + mark + " & head -c 60000 /dev/zero | tr '\\0' x; echo end"})
	r := exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.Changed, "")
	if got := exectest.Stdout(job); len(got) != 60004 || !strings.HasSuffix(got, "xend\n") {
		t.Errorf("%d bytes, ending in %q", len(got), got[max(0, len(got)-10):])
	}
	for _, pid := range survivors(t, "sleep\x00"+mark) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestFlood(t *testing.T) {
	const size = 100 << 20
	job := exectest.NewJob(t, "command", helper(t, "flood"))
	dir := t.TempDir()
	job.Output = steplog.NewWriter(dir, "flood", nil)
	job.Env = map[string]string{"MOON_TEST_BYTES": strconv.Itoa(size)}
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Changed, "")
	if err := job.Output.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "flood.out"))
	if out, _ := job.Output.Bytes(); err != nil || info.Size() != size || out != size {
		t.Errorf("%d bytes kept, %d counted, %v", info.Size(), out, err)
	}
}

// TestFullDisk checks that a step is not broken by output that cannot be stored.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "head -c 1000000 /dev/zero; touch done"})
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, "p.out")); err != nil {
		t.Fatal(err)
	}
	job.Output = steplog.NewWriter(dir, "p", nil)
	r := exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.Changed, "")
	if _, err := os.Stat(filepath.Join(job.Cwd, "done")); err != nil || job.Output.Err() == nil || len(r.Warnings) != 1 {
		t.Errorf("step: %v, writer: %v, warnings %q", err, job.Output.Err(), r.Warnings)
	}
	job.Output.Close()
}

// TestNoLeaks runs many short steps and counts open files and goroutines.
func TestNoLeaks(t *testing.T) {
	files := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc")
		}
		return len(entries)
	}
	work := func() {
		job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "echo x; exit 1", "stdin": "y"})
		exectest.RunJob(t, job)
		job.Output.Close()
		exectest.RunJob(t, exectest.NewJob(t, "command", exectest.Args{"cmd": "nosuchcommand"}))
	}
	work()
	before := files()
	for range 50 {
		work()
	}
	if after := files(); after > before+2 {
		t.Errorf("%d files open, %d before", after, before)
	}
}

// TestParentDies kills a moon that runs a step: the step must not outlive it.
func TestParentDies(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("Linux only")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	moon, err := os.StartProcess(self, []string{self, "-test.run=^TestHelper$"}, &os.ProcAttr{
		Env: append(os.Environ(), "MOON_TEST_HELPER=run", "MOON_TEST_DIR="+dir), Files: []*os.File{nil, nil, nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	for pid == 0 {
		time.Sleep(5 * time.Millisecond)
		text, _ := os.ReadFile(filepath.Join(dir, "pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	moon.Kill()
	moon.Wait()
	for range 200 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("process %d outlived its moon", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func BenchmarkTrue(b *testing.B) {
	a, _ := spec.Lookup("shell")
	decoded, _ := a.Decode(exectest.Args{"cmd": "true"})
	dir := b.TempDir()
	for name, attempt := range map[string]string{"free": "", "confined": "bench-true/step.1"} {
		b.Run(name, func(b *testing.B) {
			defer process.EndRun("bench-true")
			best := time.Hour
			for b.Loop() {
				begin := time.Now()
				w := steplog.NewWriter(dir, "p", nil)
				exec.Local{}.Run(context.Background(), &exec.Job{Action: "shell", Args: decoded, Cwd: "/", Output: w, Attempt: attempt})
				w.Close()
				best = min(best, time.Since(begin))
			}
			b.ReportMetric(float64(best.Microseconds()), "best-µs")
		})
	}
}

// BenchmarkBareShell is what the kernel and sh take for the same.
func BenchmarkBareShell(b *testing.B) {
	for b.Loop() {
		p, err := os.StartProcess("/bin/sh", []string{"/bin/sh", "-c", "true"}, &os.ProcAttr{Files: []*os.File{nil, nil, nil}})
		if err != nil {
			b.Fatal(err)
		}
		p.Wait()
	}
}

// BenchmarkFlood is a step that prints 1 GiB.
func BenchmarkFlood(b *testing.B) {
	const size = 1 << 30
	b.SetBytes(size)
	for b.Loop() {
		job := exectest.NewJob(b, "command", helper(b, "flood"))
		job.Output = steplog.NewWriter(b.TempDir(), "flood", func() {})
		job.Env = map[string]string{"MOON_TEST_BYTES": strconv.Itoa(size)}
		exectest.WantOutcome(b, exectest.RunJob(b, job), events.Changed, "")
		if err := job.Output.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
