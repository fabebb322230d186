package background

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"moon/events"
)

// TestState follows a job through all that can become of it.
func TestState(t *testing.T) {
	dir := t.TempDir()
	j, err := New(func(string) string { return dir + "/jobs" }, "j1.1")
	if err != nil {
		t.Fatal(err)
	}
	state := func(want State) {
		t.Helper()
		if _, got, err := j.State(); err != nil || got != want {
			t.Errorf("state %d, %v; want %d", got, err, want)
		}
	}
	if _, _, err := j.State(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a job that was never started: %v", err)
	}
	lock, ok, err := j.Take()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, ok, err := j.Take(); ok || err != nil {
		t.Errorf("the job was taken twice: %v", err)
	}
	write := func(r Record) {
		t.Helper()
		if err := j.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	write(Record{At: time.Now()})
	state(Running)
	_ = lock.Close()
	state(Accepted) // it was never begun, and may be
	write(Record{Begun: true, PID: 1})
	state(Lost)
	if lock, _, err = j.Take(); err != nil {
		t.Fatal(err)
	}
	state(Running)
	rc := 3
	write(Record{Begun: true, Ended: &Ended{Outcome: events.Failed, RC: &rc, Fields: map[string]any{"n": 1, "list": []any{2, 2.5}}}})
	state(Done)
	_ = lock.Close()
	r, _, err := j.State()
	if err != nil || *r.Ended.RC != 3 || r.Ended.Fields["n"] != 1 || r.Ended.Fields["list"].([]any)[1] != 2.5 {
		t.Errorf("%+v %v", r.Ended, err)
	}
	j.Prune(time.Hour)
	state(Done)
	j.Prune(0)
	if left, err := os.ReadDir(dir + "/jobs"); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// TestNames refuses what could be the path of something else.
func TestNames(t *testing.T) {
	for _, id := range []string{"", "../x", "a/b", ".x", "x.lock", "a b"} {
		if _, err := New(func(string) string { return "/tmp" }, id); err == nil {
			t.Errorf("%q was taken for the id of a job", id)
		}
	}
	if _, err := New(func(string) string { return "here" }, "j1"); err == nil {
		t.Error("a relative directory was taken")
	}
}
