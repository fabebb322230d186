package action_test

import (
	"encoding/json"
	"os"
	osexec "os/exec"
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
			"file", "copy",
			exectest.Args{"content": "x", "dest": at("f")},
			func() { exectest.WriteFile(t, at("f"), "y", 0o644) }, events.Failed,
			"/f has been edited since moon left it: its checksum is 95cb0bfd2977c761298d9624e4b4d4c72a39974a, not 11f6ad8ec52a2984abaafd7c3b516503785c2072; " +
				"save what you need and remove it without `checksum`, or keep it",
		},
		{
			"file, now a directory", "copy",
			exectest.Args{"content": "x", "dest": at("g")},
			func() {
				if err := os.Remove(at("g")); err != nil {
					t.Fatal(err)
				}
				exectest.WriteFile(t, at("g/in"), "y", 0o644)
			}, events.Failed, "/g is a directory now, which moon did not leave there; remove it without `checksum`, or keep it",
		},
		{
			"link", "file",
			exectest.Args{"path": at("l"), "state": "link", "src": at("src")},
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
			"tree", "copy",
			exectest.Args{"src": at("src"), "dest": root + "/tree"},
			func() { exectest.WriteFile(t, at("tree/src/more"), "y", 0o644) }, events.Failed, "/tree/src has been edited since moon left it",
		},
		{
			"directory", "file",
			exectest.Args{"path": at("d"), "state": "directory"},
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

// TestUndoEditedParts is the same for parts of files and for working copies.
func TestUndoEditedParts(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	edit := func(name, from, to string) func() {
		return func() {
			exectest.WriteFile(t, at(name), strings.ReplaceAll(exectest.ReadFile(t, at(name)), from, to), 0o644)
		}
	}
	git := func(dir string, words ...string) {
		argv := append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"}, words...)
		if out, err := osexec.Command("git", argv...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %s\n%s", words, err, out)
		}
	}
	if err := os.Mkdir(at("origin"), 0o755); err != nil {
		t.Fatal(err)
	}
	git(at("origin"), "init", "-q")
	exectest.WriteFile(t, at("origin/.gitignore"), "built\n", 0o644)
	git(at("origin"), "add", ".")
	git(at("origin"), "commit", "-qm", "one")
	clone := func(name string) exectest.Args {
		return exectest.Args{"repo": "file://" + at("origin"), "dest": at(name)}
	}
	for _, name := range []string{"line", "block", "cron"} {
		exectest.WriteFile(t, at(name), "a\n", 0o644)
	}
	lost := ", which would be lost; save what you need and remove it with force: true, or keep it"
	for _, tt := range []struct {
		action string
		in     exectest.Args
		edit   func()
		ends   events.Outcome
		says   string
	}{
		{"lineinfile", exectest.Args{"path": at("line"), "line": "b"}, edit("line", "b", "c"), events.OK, ""},
		{"blockinfile", exectest.Args{"path": at("block"), "block": "b"}, edit("block", "b\n", "c\n"), events.Failed, "has been edited since moon left it"},
		{
			"cron",
			exectest.Args{"name": "x", "job": "b", "user": "root", "cron_file": at("cron")},
			edit("cron", " b", " c"), events.Failed,
			"the job x has been edited since moon left it",
		},
		{"git", clone("changed"), edit("changed/.gitignore", "b", "c"), events.Failed, "/changed has 1 file of its own, such as .gitignore" + lost},
		{
			"git", clone("ignored"), func() { exectest.WriteFile(t, at("ignored/built"), "b", 0o644) }, events.Failed,
			"/ignored has 1 file of its own, such as built" + lost,
		},
		{
			"git", clone("ahead"), func() { git(at("ahead"), "commit", "-q", "--allow-empty", "-m", "mine") }, events.Failed,
			"/ahead has commits of its own, such as ",
		},
		{
			"git", clone("branch"), func() {
				git(at("branch"), "checkout", "-qb", "mine")
				git(at("branch"), "commit", "-q", "--allow-empty", "-m", "mine")
				git(at("branch"), "checkout", "-q", "-")
			}, events.Failed, "/branch has commits of its own, such as ",
		},
		{
			"git", clone("stash"), func() {
				exectest.WriteFile(t, at("stash/.gitignore"), "x", 0o644)
				git(at("stash"), "stash", "-q")
			}, events.Failed, "/stash has a stash" + lost,
		},
	} {
		t.Run(tt.action, func(t *testing.T) {
			list := created(t, tt.action, tt.in)
			tt.edit()
			kept := treeState(t, root)
			r := exectest.RunJob(t, undoJob(t, list[len(list)-1]))
			exectest.WantOutcome(t, r, tt.ends, tt.says)
			now := treeState(t, root)
			// git writes its index anew when it compares times.
			for name := range now {
				if strings.HasSuffix(name, "/.git/index") {
					delete(now, name)
					delete(kept, name)
				}
			}
			if !reflect.DeepEqual(now, kept) {
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
	line := exectest.NewJob(t, "lineinfile", exectest.Args{"path": path, "line": "open sesame 2"})
	line.Secrets = job.Secrets
	if r := exectest.RunJob(t, line); len(r.Warnings) != 1 || r.Resources[len(r.Resources)-1].Undo != nil {
		t.Errorf("a line with a secret: %+v", r)
	}
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

// TestUndoPart says that a file which another step has put a line into goes when the line has gone, and not before: somebody may have
// edited it before the line came.
func TestUndoPart(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "f")
	file := created(t, "copy", exectest.Args{"content": "a\n", "dest": path})
	r := exectest.RunJob(t, exectest.NewJob(t, "lineinfile", exectest.Args{"path": path, "line": "b"}))
	exectest.WantOutcome(t, r, events.Changed, "")
	if len(r.Resources) != 2 || r.Resources[0].Digest != "" || r.Resources[0].Undo != nil {
		t.Fatalf("%+v", r.Resources)
	}
	exectest.WantOutcome(t, exectest.RunJob(t, undoJob(t, file[0])), events.Failed, "has been edited since moon left it")
	exectest.WantOutcome(t, exectest.RunJob(t, undoJob(t, r.Resources[1])), events.Changed, "")
	exectest.WantOutcome(t, exectest.RunJob(t, undoJob(t, file[0])), events.Changed, "")
	if left := treeState(t, root); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}

// TestUndoTempfile says that what has a name of its own is taken away too.
func TestUndoTempfile(t *testing.T) {
	root := t.TempDir()
	for _, state := range []string{"file", "directory"} {
		for _, r := range created(t, "tempfile", exectest.Args{"path": root, "state": state}) {
			exectest.WantOutcome(t, exectest.RunJob(t, undoJob(t, r)), events.Changed, "")
		}
	}
	if left := treeState(t, root); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}
