package exec_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/fault"
)

// TestMain gives every test the umask that expectations of modes assume.
func TestMain(m *testing.M) {
	exectest.SetUmask(0o022)
	os.Exit(m.Run())
}

func TestGuards(t *testing.T) {
	dir := t.TempDir()
	there, gone := filepath.Join(dir, "there"), filepath.Join(dir, "gone")
	exectest.WriteFile(t, there, "", 0o644)
	tests := []struct {
		name    string
		set     func(*exec.Job)
		outcome events.Outcome
		reason  events.SkipReason
		detail  string
		dry     events.Outcome
	}{
		{"creates", func(j *exec.Job) { j.Creates = there }, events.Skipped, "creates", there + " exists", events.Skipped},
		{"creates, not there", func(j *exec.Job) { j.Creates = gone }, events.Changed, "", "", events.OK},
		{"removes", func(j *exec.Job) { j.Removes = gone }, events.Skipped, "removes", gone + " does not exist", events.Skipped},
		{"removes, there", func(j *exec.Job) { j.Removes = there }, events.Changed, "", "", events.OK},
		{"unless", func(j *exec.Job) { j.Unless = "echo noise; true" }, events.Skipped, "unless", "`echo noise; true` succeeded", events.OK},
		{"unless fails", func(j *exec.Job) { j.Unless = "exit 3" }, events.Changed, "", "", events.OK},
		{"onlyif", func(j *exec.Job) { j.OnlyIf = "test -e nothing" }, events.Skipped, "onlyif", "`test -e nothing` failed", events.OK},
		{"onlyif succeeds", func(j *exec.Job) { j.OnlyIf = "test $V = v"; j.Env = map[string]string{"V": "v"} }, events.Changed, "", "", events.OK},
		{"no_log", func(j *exec.Job) { j.OnlyIf = "false # secret"; j.NoLog = true }, events.Skipped, "onlyif", "the command failed", events.OK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "echo ran"})
			tt.set(job)
			r := exectest.RunJob(t, job)
			if r.Outcome != tt.outcome || r.Reason != tt.reason || r.Detail != tt.detail {
				t.Errorf("%v, %q, %q; want %v, %q, %q", r.Outcome, r.Reason, r.Detail, tt.outcome, tt.reason, tt.detail)
			}
			if ran := exectest.Stdout(job) == "ran\n"; ran != (tt.outcome == events.Changed) {
				t.Errorf("output %q", exectest.Stdout(job))
			}
			job = exectest.NewJob(t, "shell", exectest.Args{"cmd": "echo ran"})
			tt.set(job)
			if r := (exec.DryRun{}).Run(t.Context(), job); r.Outcome != tt.dry || exectest.Stdout(job) != "" {
				t.Errorf("dry run: %v, output %q", r.Outcome, exectest.Stdout(job))
			}
		})
	}
}

func TestGuardTimeout(t *testing.T) {
	job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "echo ran"})
	job.Unless, job.Timeout = "sleep 10", 50*time.Millisecond
	r := exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.Timeout, "unless: timed out after 50ms")
}

func TestDryRunNeverRuns(t *testing.T) {
	for action, in := range map[string]exectest.Args{
		"shell": {"cmd": "echo ran"}, "command": {"cmd": "echo ran"}, "wait": {"cmd": "echo ran"},
		"assert": {"command": exectest.Args{"cmd": "echo ran"}},
	} {
		job := exectest.NewJob(t, action, in)
		r := exec.DryRun{}.Run(t.Context(), job)
		if r.Outcome != events.OK || r.Diff == nil || r.Diff.Kind != events.ChangeUnknown || exectest.Stdout(job) != "" {
			t.Errorf("%s: %+v", action, r)
		}
	}
}

func TestUnknownAction(t *testing.T) {
	r := exec.Local{}.Run(t.Context(), &exec.Job{Action: "frobnicate"})
	exectest.WantOutcome(t, r, events.Failed, "action frobnicate does not exist")
}

func TestStoppedBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fault.Interrupt)
	job := exectest.NewJob(t, "shell", exectest.Args{"cmd": "echo ran"})
	r := exec.Local{}.Run(ctx, job)
	exectest.WantOutcome(t, r, events.Cancelled, "interrupted")
	if r.RC != nil || exectest.Stdout(job) != "" {
		t.Errorf("rc %v, output %q", r.RC, exectest.Stdout(job))
	}
}
