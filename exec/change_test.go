package exec_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
)

// TestResources says what a step touched; a second attempt that finds everything done names it too, since the first may
// have died before it could.
func TestResources(t *testing.T) {
	root := t.TempDir()
	of := func(action string, again bool, in exectest.Args) []events.Resource {
		job := exectest.NewJob(t, action, in)
		job.Again = again
		r := exectest.RunJob(t, job)
		if r.Error != "" {
			t.Fatal(r.Error)
		}
		return r.Resources
	}
	file := func(name string, change events.ChangeKind, digest string) events.Resource {
		r := events.Resource{Type: events.FileResource, Name: filepath.Join(root, name), Change: change, Digest: digest}
		if change == events.ChangeCreate {
			r.Undo = exec.RemoveUnchanged(r.Name, digest)
			if digest == "" {
				r.Undo = exec.RemoveEmpty(r.Name)
			}
		}
		return r
	}
	const tree = "tree:e016f3225437cd2fef10dee2940e34f2546e82efe7e8a06dfc3e03ce5b4f7582" // of a directory with a file a with a
	const x = "11f6ad8ec52a2984abaafd7c3b516503785c2072"                                 // of x
	exectest.WriteFile(t, filepath.Join(root, "src/a"), "a", 0o644)
	exectest.WriteFile(t, filepath.Join(root, "old/b"), "b", 0o644)
	mkdir, copied := exectest.Args{"path": filepath.Join(root, "d/e"), "state": "directory"}, exectest.Args{"content": "x", "dest": filepath.Join(root, "d/f")}
	for _, tt := range []struct {
		action string
		again  bool
		in     exectest.Args
		want   []events.Resource
	}{
		{"file", false, mkdir, []events.Resource{file("d", events.ChangeCreate, ""), file("d/e", events.ChangeCreate, "")}},
		{"file", false, mkdir, nil},
		{"file", true, mkdir, []events.Resource{file("d/e", events.ChangeUpdate, "")}},
		{"copy", false, copied, []events.Resource{file("d/f", events.ChangeCreate, x)}},
		{"copy", true, copied, []events.Resource{file("d/f", events.ChangeUpdate, x)}},
		{"copy", false, exectest.Args{"src": filepath.Join(root, "src"), "dest": filepath.Join(root, "new")}, []events.Resource{file("new", events.ChangeCreate, ""), file("new/src", events.ChangeCreate, tree)}},
		{"copy", false, exectest.Args{"src": filepath.Join(root, "src/"), "dest": filepath.Join(root, "old")}, []events.Resource{file("old/src", events.ChangeCreate, tree)}},
		{"file", false, exectest.Args{"path": filepath.Join(root, "d"), "state": "absent"}, []events.Resource{file("d", events.ChangeDelete, "")}},
	} {
		if got := of(tt.action, tt.again, tt.in); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %v: %+v, want %+v", tt.action, tt.in, got, tt.want)
		}
	}
}
