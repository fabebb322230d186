package exec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/fsys"
)

// TestPredictions draws steps over a small tree, goes through them in a dry run and then carries them out: each does what
// was predicted of it, when all before it had only been predicted too.
func TestPredictions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp(t.TempDir(), "") //nolint:usetesting // one for each draw
		if err != nil {
			rt.Fatal(err)
		}
		lay(t, root)
		var steps []drawn
		for range rapid.IntRange(2, 8).Draw(rt, "steps") {
			steps = append(steps, drawStep(rt, root))
		}
		dry := exec.DryRun{Overlay: fsys.NewOverlay()}
		predicted := make([]exec.Result, len(steps))
		for i, s := range steps {
			predicted[i] = dry.Run(t.Context(), exectest.NewJob(t, s.action, s.in))
		}
		for i, s := range steps {
			f, r := predicted[i], exectest.RunJob(t, exectest.NewJob(t, s.action, s.in))
			if r.Outcome == events.Failed {
				if f.Outcome == events.Changed {
					rt.Fatalf("step %d, %s %v: predicted %+v, failed: %s", i+1, s.action, s.in, *f.Diff, r.Error)
				}
				return // what comes after a failure was predicted for another course of things
			}
			if f.Outcome == events.Failed || f.Outcome != r.Outcome || *f.Diff != *r.Diff {
				rt.Fatalf("step %d, %s %v: predicted %s %+v %s\nbut it was %s %+v", i+1, s.action, s.in, f.Outcome, f.Diff, f.Error, r.Outcome, r.Diff)
			}
		}
	})
}

type drawn struct {
	action string
	in     exectest.Args
}

// lay makes the tree that the steps work on.
func lay(t *testing.T, root string) {
	t.Helper()
	exectest.WriteFile(t, filepath.Join(root, "there/file"), "one\ntwo\n", 0o644)
	exectest.WriteFile(t, filepath.Join(root, "there/deep/other"), "three\n", 0o600)
	exectest.WriteFile(t, filepath.Join(root, "src/a"), "a\n", 0o644)
	exectest.WriteFile(t, filepath.Join(root, "src/sub/b"), "b\n", 0o755)
	if err := os.Symlink("file", filepath.Join(root, "there/link")); err != nil {
		t.Fatal(err)
	}
}

func drawStep(rt *rapid.T, root string) drawn {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(rt, label) }
	path := filepath.Join(root, pick("path", "there", "there/file", "there/link", "there/deep", "there/deep/other", "new", "new/file", "new/deep/file", "other"))
	mode := pick("mode", "", "0640", "u=rwX,go=rX", "0700")
	with := func(in exectest.Args) exectest.Args {
		if mode != "" {
			in["mode"] = mode
		}
		return in
	}
	line := fmt.Sprintf("line %s\n", pick("text", "x", "y"))
	switch action := pick("action", "mkdir", "mkdir", "content", "file", "touchless", "absent", "link", "hard", "recurse", "copy", "tree", "lineinfile", "lineinfile", "blockinfile", "replace"); action {
	case "mkdir":
		return drawn{"file", with(exectest.Args{"path": path, "state": "directory"})}
	case "content":
		return drawn{"file", with(exectest.Args{"path": path, "content": line})}
	case "file":
		return drawn{"file", with(exectest.Args{"path": path, "state": "file"})}
	case "touchless":
		return drawn{"file", exectest.Args{"path": path, "state": "perms", "mode": "0600"}}
	case "absent":
		return drawn{"file", exectest.Args{"path": path, "state": "absent"}}
	case "link":
		return drawn{"file", exectest.Args{"path": path, "state": "link", "src": filepath.Join(root, pick("target", "there", "there/file", "new")), "force": true}}
	case "hard":
		return drawn{"file", exectest.Args{"path": path, "state": "hard", "src": filepath.Join(root, pick("target", "there/file", "src/a"))}}
	case "recurse":
		return drawn{"file", exectest.Args{"path": path, "state": "directory", "recurse": true, "mode": "u=rwX,g=rX,o="}}
	case "copy":
		return drawn{"copy", with(exectest.Args{"content": line, "dest": path})}
	case "tree":
		return drawn{"copy", exectest.Args{"src": filepath.Join(root, pick("src", "src", "src/")), "dest": path}}
	case "lineinfile":
		return drawn{"lineinfile", exectest.Args{"path": path, "line": pick("line", "four", "two"), "create": true}}
	case "blockinfile":
		return drawn{"blockinfile", exectest.Args{"path": path, "block": line, "state": pick("state", "present", "absent"), "create": true}}
	default:
		return drawn{"replace", exectest.Args{"path": path, "regexp": "o", "replace": "0"}}
	}
}

// TestBesideEachOther makes two directories with a common one above them, in the other order than predicted: each is made as it
// was predicted, whichever brings the common one along.
func TestBesideEachOther(t *testing.T) {
	dir := t.TempDir()
	dry := exec.DryRun{Overlay: fsys.NewOverlay()}
	var predicted []*events.Prediction
	jobs := []*exec.Job{}
	for _, name := range []string{"one", "two"} {
		job := exectest.NewJob(t, "file", exectest.Args{"path": dir + "/a/b/" + name, "state": "directory", "mode": "0750"})
		r := dry.Run(t.Context(), job)
		if r.Diff == nil {
			t.Fatalf("%+v", r)
		}
		jobs, predicted = append(jobs, job), append(predicted, &events.Prediction{Diff: *r.Diff})
	}
	for _, i := range []int{1, 0} {
		r := exectest.RunJob(t, jobs[i])
		if r.Diff == nil || r.Diff.Summary == predicted[i].Diff.Summary {
			t.Errorf("%q was predicted as %q, which shows nothing", r.Diff.Summary, predicted[i].Diff.Summary)
		}
		if drift := predicted[i].Drift(r.Outcome, r.Diff); drift != "" {
			t.Errorf("drift: %s", drift)
		}
	}
	other := *predicted[0]
	other.Diff.Summary = "new directory (creates 7 parents too), mode 0700"
	if drift := other.Drift(events.Changed, &predicted[0].Diff); drift == "" {
		t.Error("another mode is no drift")
	}
}
