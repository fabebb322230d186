package remote_test

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/fsys"
	"moon/exec/remote"
	"moon/exec/remote/sshtest"
	"moon/exec/way"
)

// TestSynchronize copies between this machine and hosts that are reached by ssh and by another way: what is predicted is done, and a
// second time nothing.
func TestSynchronize(t *testing.T) {
	if _, err := osexec.LookPath("rsync"); err != nil {
		t.Skip("rsync is not installed")
	}
	ssh := sshtest.Start(t, 1)[0].Host
	for name, h := range map[string]exec.Host{
		"ssh": ssh,
		// env stands for docker exec: it runs the words that follow it.
		"way": {Name: "box", Way: way.New("docker", []string{"env", "BOX=it's here"})},
	} {
		t.Run(name, func(t *testing.T) { checkSynchronize(t, reaching(t), h) })
	}
}

func checkSynchronize(t *testing.T, pool *remote.Pool, h exec.Host) {
	t.Helper()
	dir := t.TempDir()
	here, there := filepath.Join(dir, "here"), filepath.Join(dir, "the 'other' side")
	for _, name := range []string{"here/a", "here/deep/b c", "the 'other' side/old"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		exectest.WriteFile(t, filepath.Join(dir, name), "text", 0o640)
	}
	for _, tt := range []struct {
		in      args
		summary string
	}{
		{args{"src": here + "/", "dest": there, "delete": true, "rsync_opts": "--omit-dir-times"}, "3 new, 1 deleted"},
		{args{"src": there + "/deep/", "dest": here + "/again", "mode": "pull", "rsync_opts": []any{"--exclude='b c'"}}, "1 new"},
	} {
		dry := pool.Dry(fsys.NewOverlay()).Run(t.Context(), on(t, h, "synchronize", tt.in))
		if dry.Outcome != events.Changed || dry.Diff.Summary != tt.summary {
			t.Errorf("%v would be %s, %+v", tt.in, show(dry), dry.Diff)
		}
		if r := pool.Run(t.Context(), on(t, h, "synchronize", tt.in)); r.Outcome != events.Changed || r.Diff.Summary != tt.summary {
			t.Errorf("%v is %s, %+v", tt.in, show(r), r.Diff)
		}
		if r := pool.Run(t.Context(), on(t, h, "synchronize", tt.in)); r.Outcome != events.OK || r.Fields["msg"] != "" {
			t.Errorf("%v again is %s, %v", tt.in, show(r), r.Fields)
		}
	}
	for name, is := range map[string]bool{"the 'other' side/deep/b c": true, "the 'other' side/old": false, "here/again": true, "here/again/b c": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != is {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Both ends are there.
	local := on(t, h, "synchronize", args{"src": here + "/a", "dest": there + "/copy", "local": true})
	if r := pool.Run(t.Context(), local); r.Outcome != events.Changed || strings.Contains(r.Fields["cmd"].(string), "--rsh") {
		t.Errorf("on the host: %s, %v", show(r), r.Fields)
	}
	missing := args{"src": dir + "/nowhere", "dest": there}
	if r := pool.Run(t.Context(), on(t, h, "synchronize", missing)); r.Outcome != events.Failed || !strings.Contains(r.Error, "nowhere\" failed: No such file") || *r.RC != 23 {
		t.Errorf("a source that is not there: %s", show(r))
	}
	if r := pool.Dry(fsys.NewOverlay()).Run(t.Context(), on(t, h, "synchronize", missing)); r.Diff == nil || r.Diff.Kind != events.ChangeUnknown {
		t.Errorf("a source that is not there would be %s", show(r))
	}
	for _, refused := range []struct {
		change func(*exec.Job)
		says   string
	}{
		{func(job *exec.Job) { job.Background = &exec.Background{} }, "does not run in the background"},
		{func(job *exec.Job) { job.OnlyIf = "true" }, "cannot have `creates`"},
		{func(job *exec.Job) { job.Become = &exec.Become{User: "nobody", Method: "su"} }, "rsync cannot be started with su"},
	} {
		job := on(t, h, "synchronize", args{"src": here + "/", "dest": there})
		refused.change(job)
		if r := pool.Run(t.Context(), job); r.Outcome != events.Failed || !strings.Contains(r.Error, refused.says) {
			t.Errorf("%s, not %s", show(r), refused.says)
		}
	}
}

// TestSynchronizeAway says that a host cannot be reached as for any other step.
func TestSynchronizeAway(t *testing.T) {
	job := on(t, exec.Host{Name: "gone", Way: way.New("docker", []string{"false"})}, "synchronize", args{"src": "/etc/hostname", "dest": "/nowhere"})
	if r := reaching(t).Run(t.Context(), job); r.Outcome != events.Unreachable {
		t.Errorf("%s", show(r))
	}
}
