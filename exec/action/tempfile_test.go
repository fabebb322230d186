package action_test

import (
	"path/filepath"
	"strings"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
)

func TestTempfile(t *testing.T) {
	for state, mode := range map[string]string{"file": "0600", "directory": "0700"} {
		dir := t.TempDir()
		in := exectest.Args{"path": dir, "state": state, "prefix": "a*", "suffix": ".b*"}
		dry := exec.DryRun{}.Run(t.Context(), exectest.NewJob(t, "tempfile", in))
		if got := snapshot(t, dir); strings.Count(got, "\n") != 1 || dry.Diff.Kind != events.ChangeUnknown {
			t.Errorf("a dry run made %s%+v", got, dry.Diff)
		}
		seen := map[any]bool{}
		for range 3 {
			r := exectest.RunJob(t, exectest.NewJob(t, "tempfile", in))
			exectest.WantOutcome(t, r, events.Changed, "")
			path, _ := r.Fields["path"].(string)
			name := filepath.Base(path)
			if seen[path] || filepath.Dir(path) != dir || !strings.HasPrefix(name, "a*") || !strings.HasSuffix(name, ".b*") || len(name) < 8 {
				t.Errorf("it made %s", path)
			}
			seen[path] = true
			if r.Fields["mode"] != mode || r.Fields["state"] != state || r.Diff.Kind != events.ChangeCreate {
				t.Errorf("%v, %+v", r.Fields, r.Diff)
			}
		}
	}
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "tempfile", exectest.Args{"path": "/nowhere"})), events.Failed, "directory /nowhere does not exist")
}

func TestTempfileDefaults(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := exectest.RunJob(t, exectest.NewJob(t, "tempfile", nil))
	if path, _ := r.Fields["path"].(string); !strings.HasPrefix(path, filepath.Join(filepath.Dir(path), "ansible.")) || exectest.ReadFile(t, path) != "" {
		t.Errorf("%v, %s", r.Fields, r.Error)
	}
}
