package exectest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"moon/events"
	"moon/events/steplog"
	"moon/exec"
	_ "moon/exec/action" // jobs have actions
	"moon/exec/spec"
)

// Args are the arguments of an action, as a playbook has them.
type Args = map[string]any

// Names answers conditions and expressions from a map.
type Names map[string]any

// Render puts in the values whose names stand alone.
func (f Names) Render(text, _ string) (string, error) {
	for name, value := range f {
		text = strings.ReplaceAll(text, "{{ "+name+" }}", fmt.Sprint(value))
	}
	if strings.Contains(text, "{{") {
		return "", errors.New("undefined name")
	}
	return text, nil
}

// Holds is the value of a condition.
func (f Names) Holds(condition string) (bool, error) {
	v, ok := f[condition].(bool)
	if !ok {
		return false, fmt.Errorf("%s is not a condition", condition)
	}
	return v, nil
}

// Value is the value of an expression.
func (f Names) Value(expression string) (any, error) {
	v, ok := f[expression]
	if !ok {
		return nil, fmt.Errorf("%s is not defined", expression)
	}
	return v, nil
}

// NewJob decodes arguments and makes a job in a new directory, with its output there too.
func NewJob(tb testing.TB, action string, in Args) *exec.Job {
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
	return &exec.Job{Action: a.Name, Args: decoded, Raw: in, Cwd: dir, Output: w, Names: Names{}, Diff: true, Trusted: true}
}

// RunJob carries a job out on this machine.
func RunJob(tb testing.TB, job *exec.Job) exec.Result {
	tb.Helper()
	return exec.Local{Grace: 500 * time.Millisecond}.Run(tb.Context(), job)
}

// PredictJob is what a dry run says a job would change.
func PredictJob(tb testing.TB, job *exec.Job) (events.Diff, error) {
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

// Stdout is what a job has printed.
func Stdout(job *exec.Job) string {
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

// WantOutcome compares how a job ended; errorText is a part of the error, "" for none.
func WantOutcome(tb testing.TB, r exec.Result, outcome events.Outcome, errorText string) {
	tb.Helper()
	if r.Outcome != outcome || (r.Error == "") != (errorText == "") || !strings.Contains(r.Error, errorText) {
		tb.Errorf("outcome %v, error %q; want %v, %q", r.Outcome, r.Error, outcome, errorText)
	}
}

// WantRC compares the exit status of a job.
func WantRC(tb testing.TB, r exec.Result, rc int) {
	tb.Helper()
	switch {
	case r.RC == nil:
		tb.Errorf("no rc, want %d (error %q)", rc, r.Error)
	case *r.RC != rc:
		tb.Errorf("rc = %d, want %d (error %q)", *r.RC, rc, r.Error)
	}
}

// WriteFile writes a file and the directories above it.
func WriteFile(tb testing.TB, path, content string, mode os.FileMode) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	// Nothing is started meanwhile: a process that another test starts would have the file open for a moment, and a program cannot be started
	// that is open for writing.
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(content), 0o600)
	syscall.ForkLock.RUnlock()
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		tb.Fatal(err)
	}
}

// ReadFile is the content of a file.
func ReadFile(tb testing.TB, path string) string {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Error(err)
	}
	return string(b)
}

// MakeFile writes a file into the directory of a test.
func MakeFile(name, content string, mode fs.FileMode) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		WriteFile(t, filepath.Join(dir, name), content, mode)
	}
}

// MakeDir makes a directory in that of a test.
func MakeDir(name string, mode fs.FileMode) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
}

// MakeTree makes a directory t with files in it and a link.
func MakeTree(t *testing.T, dir string) {
	t.Helper()
	WriteFile(t, filepath.Join(dir, "t", "a"), "a", 0o755)
	WriteFile(t, filepath.Join(dir, "t", "b", "c"), "c", 0o600)
	if err := os.Symlink("../a", filepath.Join(dir, "t", "b", "l")); err != nil {
		t.Fatal(err)
	}
}

// CancelWhen runs a job and stops it with the cause once its output has the word.
func CancelWhen(tb testing.TB, job *exec.Job, word string, grace time.Duration,
	stop func(cancel context.CancelCauseFunc),
) (exec.Result, time.Duration) {
	tb.Helper()
	ctx, cancel := context.WithCancelCause(tb.Context())
	defer cancel(nil)
	done := make(chan exec.Result, 1)
	go func() { done <- exec.Local{Grace: grace}.Run(ctx, job) }()
	for !strings.Contains(Stdout(job), word) {
		select {
		case r := <-done:
			tb.Fatalf("ended by itself: %+v", r)
		case <-time.After(time.Millisecond):
		}
	}
	start := time.Now()
	stop(cancel)
	return <-done, time.Since(start)
}

// SetUmask sets the umask of this process and gives back the old one.
func SetUmask(mask int) int { return syscall.Umask(mask) }

// MakePipe makes a named pipe, which a careless open would wait on for ever.
func MakePipe(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, "p"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// PreferSystem gives a search path with the programs of the system right after its first few directories, which have commands of the tests.
// What stands in for programs on a developer's machine, like the scripts that choose one of several Pythons, takes up to a second a call.
func PreferSystem(path string, own int) string {
	system := []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"}
	others := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return slices.Contains(system, dir) })
	own = min(own, len(others))
	return strings.Join(slices.Concat(others[:own], system, others[own:]), string(filepath.ListSeparator))
}
