package action_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
	"moon/secret"
)

// undoJob is the job that takes a thing away again, by way of the record of it.
func undoJob(tb testing.TB, r events.Resource) *exec.Job {
	tb.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		tb.Fatal(err)
	}
	var back events.Resource
	if err := json.Unmarshal(text, &back); err != nil {
		tb.Fatal(err)
	}
	if back.Undo == nil {
		tb.Fatalf("nothing takes %s away", text)
	}
	job := exectest.NewJob(tb, back.Undo.Action, back.Undo.Args)
	job.Env = back.Undo.Env
	return job
}

// created runs a step and returns what it created.
func created(tb testing.TB, action string, in exectest.Args) []events.Resource {
	tb.Helper()
	r := exectest.RunJob(tb, exectest.NewJob(tb, action, in))
	exectest.WantOutcome(tb, r, events.Changed, "")
	return slices.DeleteFunc(r.Resources, func(r events.Resource) bool { return r.Undo == nil })
}

// TestUndoEdited says that nothing is taken away with what somebody has made of it since.
func TestUndoEdited(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	exectest.WriteFile(t, at("src/a"), "a", 0o644)
	for _, tt := range []struct {
		name   string
		action string
		in     exectest.Args
		edit   func()
		ends   events.Outcome
		says   string
	}{
		{
			"file", "copy", exectest.Args{"content": "x", "dest": at("f")},
			func() { exectest.WriteFile(t, at("f"), "y", 0o644) }, events.Failed,
			"/f has been edited since moon left it: its checksum is 95cb0bfd2977c761298d9624e4b4d4c72a39974a, not 11f6ad8ec52a2984abaafd7c3b516503785c2072; " +
				"save what you need and remove it without `checksum`, or keep it",
		},
		{
			"file, now a directory", "copy", exectest.Args{"content": "x", "dest": at("g")},
			func() {
				if err := os.Remove(at("g")); err != nil {
					t.Fatal(err)
				}
				exectest.WriteFile(t, at("g/in"), "y", 0o644)
			}, events.Failed, "/g is a directory now, which moon did not leave there; remove it without `checksum`, or keep it",
		},
		{
			"link", "file", exectest.Args{"path": at("l"), "state": "link", "src": at("src")},
			func() {
				if err := os.Remove(at("l")); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink("elsewhere", at("l")); err != nil {
					t.Fatal(err)
				}
			}, events.Failed, "/l has been edited since moon left it: its checksum is elsewhere, not " + at("src"),
		},
		{
			"tree", "copy", exectest.Args{"src": at("src"), "dest": root + "/tree"},
			func() { exectest.WriteFile(t, at("tree/src/more"), "y", 0o644) }, events.Failed, "/tree/src has been edited since moon left it",
		},
		{
			"directory", "file", exectest.Args{"path": at("d"), "state": "directory"},
			func() { exectest.WriteFile(t, at("d/mine"), "y", 0o644) }, events.Skipped, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := created(t, tt.action, tt.in)
			last := list[len(list)-1]
			tt.edit()
			kept := treeState(t, root)
			job := undoJob(t, last)
			if d, err := exectest.PredictJob(t, job); err == nil && tt.ends == events.Failed || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("a dry run says %+v, %v", d, err)
			}
			r := exectest.RunJob(t, undoJob(t, last))
			exectest.WantOutcome(t, r, tt.ends, tt.says)
			if tt.ends == events.Skipped && r.Detail != "skipped, since "+last.Name+" is not empty: 1 entry" {
				t.Errorf("skipped: %s", r.Detail)
			}
			if now := treeState(t, root); !reflect.DeepEqual(now, kept) {
				t.Errorf("is %v\nwas %v", now, kept)
			}
		})
	}
}

// TestUndoSecret says that the record of a file with a secret lets nobody try out what that is, and still tells an edited one.
func TestUndoSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	job := exectest.NewJob(t, "copy", exectest.Args{"content": "open sesame", "dest": path})
	job.Secrets = secret.NewSet()
	job.Secrets.Add("key", "open sesame")
	r := exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.Changed, "")
	if len(r.Resources) != 1 || !strings.HasPrefix(r.Resources[0].Digest, "stamp:11-") || job.Secrets.Has(r.Resources[0].Digest) {
		t.Fatalf("%+v", r.Resources)
	}
	exectest.WriteFile(t, path, "open sesamy", 0o644)
	exectest.WantOutcome(t, exectest.RunJob(t, undoJob(t, r.Resources[0])), events.Failed, "has been edited since moon left it")
	r = exectest.RunJob(t, job)
	exectest.WantOutcome(t, r, events.Changed, "")
	if r.Resources[0].Undo != nil {
		t.Errorf("what was only changed is taken away by %+v", r.Resources[0].Undo)
	}
}

// treeState is what a directory has in it: kinds, modes and contents.
func treeState(tb testing.TB, root string) map[string]string {
	tb.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			text += " " + info.ModTime().String() + " " + exectest.ReadFile(tb, path)
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " " + target
		}
		all[strings.TrimPrefix(path, root)] = text
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}
