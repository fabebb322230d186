package remote_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/remote"
)

// TestFetchOverALane fetches a file of several pieces, and again, and predicts it.
func TestFetchOverAConnection(t *testing.T) {
	pool, _ := connected(t, exec.Local{})
	dir := t.TempDir()
	content := bytes.Repeat([]byte("0123456789abcde\n"), 100_000)
	if err := os.WriteFile(filepath.Join(dir, "large"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	job := func() *exec.Job {
		j := newJob(t, dir, "fetch", args{"src": filepath.Join(dir, "large"), "dest": filepath.Join(dir, "got")})
		j.HostName = "web1"
		return j
	}
	here := filepath.Join(dir, "got/web1", dir, "large")
	r := pool.Dry(nil).Run(t.Context(), job())
	if _, err := os.Stat(here); r.Outcome != events.Changed || err == nil {
		t.Errorf("predicted %v %s", r.Outcome, r.Error)
	}
	for _, want := range []events.Outcome{events.Changed, events.OK} {
		r := pool.Run(t.Context(), job())
		if r.Outcome != want || r.Fields["dest"] != here {
			t.Errorf("%v %s %v, want %v", r.Outcome, r.Error, r.Fields, want)
		}
		if got, err := os.ReadFile(here); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes came, %v", len(got), err)
		}
	}
	left, err := os.ReadDir(filepath.Dir(here))
	if err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

// TestPutByStrangers has an agent write where its job fetches nothing, or only goes through the motions.
func TestPutByStrangers(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		job *exec.Job
		dry bool
	}{
		{newJob(t, dir, "slurp", args{"src": dir + "/x"}), false},
		{newJob(t, dir, "fetch", args{"src": dir + "/x", "dest": dir + "/y", "flat": true}), true},
	} {
		if err := remote.PutPiece(c.job, c.dry, []byte("x")); err == nil {
			t.Errorf("%s, dry %v: it may write", c.job.Action, c.dry)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v was written", left)
	}
	if err := remote.PutPiece(newJob(t, dir, "fetch", args{"src": dir + "/x", "dest": dir + "/y", "flat": true}), false, []byte("x")); err != nil {
		t.Error(err)
	}
}
