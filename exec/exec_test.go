package exec_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/exec"
	_ "moon/exec/action"
	"moon/exec/fault"
	"moon/exec/spec"
)

// TestMain gives every test the umask that expectations of modes assume.
func TestMain(m *testing.M) {
	setUmask(0o022)
	os.Exit(m.Run())
}

type args = map[string]any

// fakeNames answers conditions and expressions from a map.
type fakeNames map[string]any

func (f fakeNames) Render(text, _ string) (string, error) {
	for name, value := range f {
		text = strings.ReplaceAll(text, "{{ "+name+" }}", fmt.Sprint(value))
	}
	if strings.Contains(text, "{{") {
		return "", errors.New("undefined name")
	}
	return text, nil
}

func (f fakeNames) Holds(condition string) (bool, error) {
	v, ok := f[condition].(bool)
	if !ok {
		return false, fmt.Errorf("%s is not a condition", condition)
	}
	return v, nil
}

func (f fakeNames) Value(expression string) (any, error) {
	v, ok := f[expression]
	if !ok {
		return nil, fmt.Errorf("%s is not defined", expression)
	}
	return v, nil
}

// newJob decodes arguments and makes a job in a new directory, with its output there too.
func newJob(tb testing.TB, action string, in args) *exec.Job {
	tb.Helper()
	a, ok := spec.Lookup(action)
	if !ok {
		tb.Fatalf("no action %s", action)
	}
	decoded, problems := a.Decode(in)
	if len(problems) > 0 {
		tb.Fatalf("%s %v: %v", action, in, problems)
	}
	dir := tb.TempDir()
	w := steplog.NewWriter(dir, "step", nil)
	w.Keep(1 << 20)
	tb.Cleanup(func() {
		if err := w.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &exec.Job{Action: a.Name, Args: decoded, Raw: in, Cwd: dir, Output: w, Names: fakeNames{}, Diff: true, Trusted: true}
}

func run(tb testing.TB, job *exec.Job) exec.Result {
	tb.Helper()
	return exec.Local{Grace: 500 * time.Millisecond}.Run(tb.Context(), job)
}

// check is what a dry run says a job would change.
func check(tb testing.TB, job *exec.Job) (events.Diff, error) {
	tb.Helper()
	switch r := (exec.DryRun{}).Run(tb.Context(), job); {
	case r.Error != "":
		return events.Diff{}, errors.New(r.Error)
	case r.Outcome == events.Skipped || r.Diff == nil:
		return events.Diff{Kind: events.ChangeNone, Summary: r.Detail}, nil
	default:
		return *r.Diff, nil
	}
}

func stdout(job *exec.Job) string {
	out, _, _ := job.Output.Kept()
	if out.Text == nil && out.InFile { // only what is short is held in memory
		text, _, err := steplog.Read(job.Cwd, "step")
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	return string(out.Text)
}

func want(tb testing.TB, r exec.Result, outcome events.Outcome, errorText string) {
	tb.Helper()
	if r.Outcome != outcome || (r.Error == "") != (errorText == "") || !strings.Contains(r.Error, errorText) {
		tb.Errorf("outcome %v, error %q; want %v, %q", r.Outcome, r.Error, outcome, errorText)
	}
}

func wantRC(tb testing.TB, r exec.Result, rc int) {
	tb.Helper()
	switch {
	case r.RC == nil:
		tb.Errorf("no rc, want %d (error %q)", rc, r.Error)
	case *r.RC != rc:
		tb.Errorf("rc = %d, want %d (error %q)", *r.RC, rc, r.Error)
	}
}

func write(tb testing.TB, path, content string, mode os.FileMode) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		tb.Fatal(err)
	}
}

func read(tb testing.TB, path string) string {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Error(err)
	}
	return string(b)
}

func TestGuards(t *testing.T) {
	dir := t.TempDir()
	there, gone := filepath.Join(dir, "there"), filepath.Join(dir, "gone")
	write(t, there, "", 0o644)
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
			job := newJob(t, "shell", args{"cmd": "echo ran"})
			tt.set(job)
			r := run(t, job)
			if r.Outcome != tt.outcome || r.Reason != tt.reason || r.Detail != tt.detail {
				t.Errorf("%v, %q, %q; want %v, %q, %q", r.Outcome, r.Reason, r.Detail, tt.outcome, tt.reason, tt.detail)
			}
			if ran := stdout(job) == "ran\n"; ran != (tt.outcome == events.Changed) {
				t.Errorf("output %q", stdout(job))
			}
			job = newJob(t, "shell", args{"cmd": "echo ran"})
			tt.set(job)
			if r := (exec.DryRun{}).Run(t.Context(), job); r.Outcome != tt.dry || stdout(job) != "" {
				t.Errorf("dry run: %v, output %q", r.Outcome, stdout(job))
			}
		})
	}
}

func TestGuardTimeout(t *testing.T) {
	job := newJob(t, "shell", args{"cmd": "echo ran"})
	job.Unless, job.Timeout = "sleep 10", 50*time.Millisecond
	r := run(t, job)
	want(t, r, events.Timeout, "unless: timed out after 50ms")
}

func TestDryRunNeverRuns(t *testing.T) {
	for action, in := range map[string]args{
		"shell": {"cmd": "echo ran"}, "command": {"cmd": "echo ran"}, "wait": {"cmd": "echo ran"},
		"assert": {"command": args{"cmd": "echo ran"}},
	} {
		job := newJob(t, action, in)
		r := exec.DryRun{}.Run(t.Context(), job)
		if r.Outcome != events.OK || r.Diff == nil || r.Diff.Kind != events.ChangeUnknown || stdout(job) != "" {
			t.Errorf("%s: %+v", action, r)
		}
	}
}

func TestUnknownAction(t *testing.T) {
	r := exec.Local{}.Run(t.Context(), &exec.Job{Action: "frobnicate"})
	want(t, r, events.Failed, "action frobnicate does not exist")
}

func TestStoppedBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fault.Interrupt)
	job := newJob(t, "shell", args{"cmd": "echo ran"})
	r := exec.Local{}.Run(ctx, job)
	want(t, r, events.Cancelled, "interrupted")
	if r.RC != nil || stdout(job) != "" {
		t.Errorf("rc %v, output %q", r.RC, stdout(job))
	}
}
