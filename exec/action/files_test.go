package action_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/fault"
)

// snapshot is everything below a directory, as text: kinds, modes, contents, targets.
func snapshot(tb testing.TB, dir string) string {
	tb.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", rel, info.Mode())
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			fmt.Fprintf(&b, " -> %s", target)
		case info.Mode().IsRegular():
			content, _ := os.ReadFile(path)
			fmt.Fprintf(&b, " %q", content)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// settle puts a step through everything that must hold of every action on files: a prediction and a dry run change
// nothing, the run does what they said, and a second run finds nothing to do.
func settle(t *testing.T, dir, action string, in exectest.Args, names exectest.Names) exec.Result {
	t.Helper()
	do := func() *exec.Job {
		job := exectest.NewJob(t, action, in)
		job.Names = names
		return job
	}
	before := snapshot(t, dir)
	predicted, err := exectest.PredictJob(t, do())
	if err != nil {
		t.Fatalf("Check: %v", err)
	}
	dry := exec.DryRun{}.Run(t.Context(), do())
	if after := snapshot(t, dir); after != before {
		t.Fatalf("a prediction changed\n%sto\n%s", before, after)
	}
	r := exectest.RunJob(t, do())
	if r.Error != "" {
		t.Fatalf("run: %s", r.Error)
	}
	predicted.Digest = "" // which only a prediction has, of what would be replaced
	if dry.Diff != nil {
		dry.Diff.Digest = ""
	}
	if r.Diff == nil || *r.Diff != predicted || dry.Diff == nil || *dry.Diff != predicted || dry.Outcome != r.Outcome {
		t.Errorf("predicted %+v, dry run %v %+v, run %v %+v", predicted, dry.Outcome, dry.Diff, r.Outcome, r.Diff)
	}
	if changed := snapshot(t, dir) != before; changed != (r.Outcome == events.Changed) && in["state"] != "touch" && in["state"] != "hard" && in["owner"] == nil {
		t.Errorf("outcome %v, but changed is %v", r.Outcome, changed)
	}
	noTemps(t, dir)
	again := exectest.RunJob(t, do())
	if in["state"] != "touch" && (again.Outcome != events.OK || again.Diff.Kind != events.ChangeNone) {
		t.Errorf("second run: %v, %+v, %s", again.Outcome, again.Diff, again.Error)
	}
	return r
}

func noTemps(tb testing.TB, dir string) {
	tb.Helper()
	if s := snapshot(tb, dir); strings.Contains(s, ".moon-") {
		tb.Errorf("temporary files are left:\n%s", s)
	}
}

// paths puts the test's directory where arguments say DIR.
func paths(dir string, in exectest.Args) exectest.Args {
	out := exectest.Args{}
	for k, v := range in {
		if s, ok := v.(string); ok {
			v = strings.ReplaceAll(s, "DIR", dir)
		}
		out[k] = v
	}
	return out
}

func TestFile(t *testing.T) {
	const text = "welcome\n"
	tests := []struct {
		name    string
		make    func(t *testing.T, dir string)
		in      exectest.Args
		kind    events.ChangeKind
		summary string
		want    string // of the snapshot, without the first line
	}{
		{"new", nil, exectest.Args{"path": "DIR/f"}, "create", "new file, 0 bytes", "f -rw-r--r-- \"\"\n"},
		{"new with mode", nil, exectest.Args{"path": "DIR/f", "mode": "0600"}, "create", "new file, 0 bytes, mode 0600", "f -rw------- \"\"\n"},
		{"new, all open", nil, exectest.Args{"path": "DIR/f", "mode": "0666"}, "create", "new file, 0 bytes, mode 0666", "f -rw-rw-rw- \"\"\n"},
		{"new, symbolic", nil, exectest.Args{"path": "DIR/f", "mode": "u+x,go="}, "create", "new file, 0 bytes, mode 0700", "f -rwx------ \"\"\n"},
		{"new, setuid", nil, exectest.Args{"path": "DIR/f", "mode": "4755"}, "create", "new file, 0 bytes, mode 4755", "f urwxr-xr-x \"\"\n"},
		{"content", nil, exectest.Args{"path": "DIR/f", "content": text}, "create", "new file, 8 bytes", "f -rw-r--r-- \"welcome\\n\"\n"},
		{"there", exectest.MakeFile("f", "x", 0o640), exectest.Args{"path": "DIR/f"}, "none", "", "f -rw-r----- \"x\"\n"},
		{"there, other mode", exectest.MakeFile("f", "x", 0o640), exectest.Args{"path": "DIR/f", "mode": 600}, "update", "mode 0640 → 0600", "f -rw------- \"x\"\n"},
		{"there, same mode", exectest.MakeFile("f", "x", 0o640), exectest.Args{"path": "DIR/f", "mode": "u=rw,g=r,o="}, "none", "", "f -rw-r----- \"x\"\n"},
		{"same content", exectest.MakeFile("f", text, 0o640), exectest.Args{"path": "DIR/f", "content": text}, "none", "", "f -rw-r----- \"welcome\\n\"\n"},
		{"other content", exectest.MakeFile("f", "x", 0o640), exectest.Args{"path": "DIR/f", "content": text}, "update", "content, 1 byte → 8 bytes", "f -rw-r----- \"welcome\\n\"\n"},
		{"empty content", exectest.MakeFile("f", "x", 0o640), exectest.Args{"path": "DIR/f", "content": ""}, "update", "content, 1 byte → 0 bytes", "f -rw-r----- \"\"\n"},
		{
			"content and mode", exectest.MakeFile("f", "x", 0o644),
			exectest.Args{"path": "DIR/f", "content": "y", "mode": "0600"},
			"update", "content, 1 byte, mode 0644 → 0600", "f -rw------- \"y\"\n",
		},
		{"JSON content", nil, exectest.Args{"path": "DIR/f", "content": exectest.Args{"a": []any{1, "b"}}}, "create", "new file, 13 bytes", "f -rw-r--r-- \"{\\\"a\\\":[1,\\\"b\\\"]}\"\n"},
		{"through a link", linkTo("f", "l"), exectest.Args{"path": "DIR/l", "content": text}, "update", "content, 1 byte → 8 bytes", "f -rw-r--r-- \"welcome\\n\"\nl Lrwxrwxrwx -> f\n"},
		{"directory without state", exectest.MakeDir("d", 0o755), exectest.Args{"path": "DIR/d", "mode": "0700"}, "update", "mode 0755 → 0700", "d drwx------\n"},

		{"directory", nil, exectest.Args{"path": "DIR/d", "state": "directory"}, "create", "new directory", "d drwxr-xr-x\n"},
		{"directory with a slash", nil, exectest.Args{"path": "DIR/d/", "state": "directory"}, "create", "new directory", "d drwxr-xr-x\n"},
		{
			"directories", nil,
			exectest.Args{"path": "DIR/a/b/c", "state": "directory", "mode": "0750"},
			"create", "new directory (creates 2 parents too), mode 0750",
			"a drwxr-x---\na/b drwxr-x---\na/b/c drwxr-x---\n",
		},
		{"directory there", exectest.MakeDir("d", 0o700), exectest.Args{"path": "DIR/d", "state": "directory"}, "none", "", "d drwx------\n"},
		{"sticky", exectest.MakeDir("d", 0o700), exectest.Args{"path": "DIR/d", "state": "directory", "mode": "1777"}, "update", "mode 0700 → 1777", "d dtrwxrwxrwx\n"},
		{
			"recurse", exectest.MakeTree,
			exectest.Args{"path": "DIR/t", "state": "directory", "mode": "u=rwX,go=rX", "recurse": true},
			"update", "b/c: mode 0600 → 0644",
			"t drwxr-xr-x\nt/a -rwxr-xr-x \"a\"\nt/b drwxr-xr-x\nt/b/c -rw-r--r-- \"c\"\nt/b/l Lrwxrwxrwx -> ../a\n",
		},
		{
			"recurse, unreadable", exectest.MakeTree, exectest.Args{"path": "DIR/t", "state": "perms", "mode": "0600", "recurse": true}, "update", "mode 0755 → 0600, in all 3 entries", "",
		},
		{"directory through a link", linkedDir, exectest.Args{"path": "DIR/l", "state": "directory", "mode": "0700"}, "update", "mode 0755 → 0700", "d drwx------\nl Lrwxrwxrwx -> d\n"},

		{"absent file", exectest.MakeFile("f", "x", 0o644), exectest.Args{"path": "DIR/f", "state": "absent"}, "delete", "a file", ""},
		{"absent already", nil, exectest.Args{"path": "DIR/f", "state": "absent"}, "none", "", ""},
		{"absent, no parent", nil, exectest.Args{"path": "DIR/a/b", "state": "absent"}, "none", "", ""},
		{"absent tree", exectest.MakeTree, exectest.Args{"path": "DIR/t", "state": "absent"}, "delete", "a directory with 4 entries", ""},
		{"absent link", linkTo("f", "l"), exectest.Args{"path": "DIR/l", "state": "absent"}, "delete", "a link to f", "f -rw-r--r-- \"x\"\n"},

		{"link", exectest.MakeFile("f", "x", 0o644), exectest.Args{"path": "DIR/l", "state": "link", "src": "DIR/f"}, "create", "link to DIR/f", "f -rw-r--r-- \"x\"\nl Lrwxrwxrwx -> DIR/f\n"},
		{
			"link elsewhere", linkTo("f", "l"),
			exectest.Args{"path": "DIR/l", "state": "link", "src": "DIR"},
			"update", "link to f → DIR",
			"f -rw-r--r-- \"x\"\nl Lrwxrwxrwx -> DIR\n",
		},
		{"link to nothing", nil, exectest.Args{"path": "DIR/l", "state": "link", "src": "DIR/no", "force": true}, "create", "link to DIR/no", "l Lrwxrwxrwx -> DIR/no\n"},
		{
			"link over a file", exectest.MakeFile("f", "x", 0o644),
			exectest.Args{"path": "DIR/f", "state": "link", "src": "DIR", "force": true},
			"update", "a file → link, link to DIR", "f Lrwxrwxrwx -> DIR\n",
		},
		{
			"link over a directory", exectest.MakeDir("d", 0o755),
			exectest.Args{"path": "DIR/d", "state": "link", "src": "DIR", "force": true},
			"update", "a directory → link, link to DIR", "d Lrwxrwxrwx -> DIR\n",
		},
		{"hard link", exectest.MakeFile("f", "x", 0o644), exectest.Args{"path": "DIR/h", "state": "hard", "src": "DIR/f"}, "create", "hard link to DIR/f", "f -rw-r--r-- \"x\"\nh -rw-r--r-- \"x\"\n"},

		{"touch", nil, exectest.Args{"path": "DIR/f", "state": "touch"}, "create", "new file, 0 bytes", "f -rw-r--r-- \"\"\n"},
		{"touch again", exectest.MakeFile("f", "x", 0o644), exectest.Args{"path": "DIR/f", "state": "touch", "mode": "0600"}, "update", "time, mode 0644 → 0600", "f -rw------- \"x\"\n"},
		{"perms", exectest.MakeFile("f", "x", 0o644), exectest.Args{"path": "DIR/f", "state": "perms", "mode": "+x"}, "update", "mode 0644 → 0755", "f -rwxr-xr-x \"x\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Cleanup(func() {
				_ = filepath.WalkDir(dir, func(p string, _ fs.DirEntry, _ error) error { return os.Chmod(p, 0o700) })
			})
			if tt.make != nil {
				tt.make(t, dir)
			}
			if tt.name == "recurse, unreadable" && os.Geteuid() != 0 {
				t.Skip("only root sees what is in there afterwards")
			}
			r := settle(t, dir, "file", paths(dir, tt.in), nil)
			if want := strings.ReplaceAll(tt.summary, "DIR", dir); r.Diff.Kind != tt.kind || r.Diff.Summary != want {
				t.Errorf("%s %q, want %s %q", r.Diff.Kind, r.Diff.Summary, tt.kind, want)
			}
			_, got, _ := strings.Cut(snapshot(t, dir), "\n")
			if want := strings.ReplaceAll(tt.want, "DIR", dir); got != want && tt.name != "recurse, unreadable" {
				t.Errorf("now there is\n%swant\n%s", got, want)
			}
		})
	}
}

func linkTo(file, link string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		exectest.WriteFile(t, filepath.Join(dir, file), "x", 0o644)
		if err := os.Symlink(file, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
}

func linkedDir(t *testing.T, dir string) {
	t.Helper()
	exectest.MakeDir("d", 0o755)(t, dir)
	if err := os.Symlink("d", filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
}

func loop(t *testing.T, dir string) {
	t.Helper()
	if err := os.Symlink("l", filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
}

func TestFileErrors(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		in   exectest.Args
		want string
	}{
		{"no parent", nil, exectest.Args{"path": "DIR/a/b"}, "directory DIR/a does not exist"},
		{"parent is a file", exectest.MakeFile("a", "", 0o644), exectest.Args{"path": "DIR/a/b"}, "DIR/a is not a directory"},
		{"is a directory", exectest.MakeDir("d", 0o755), exectest.Args{"path": "DIR/d", "state": "file"}, "DIR/d is a directory"},
		{"content for a directory", exectest.MakeDir("d", 0o755), exectest.Args{"path": "DIR/d", "content": "x"}, "DIR/d is a directory"},
		{"directory over a file", exectest.MakeFile("f", "", 0o644), exectest.Args{"path": "DIR/f", "state": "directory"}, "DIR/f is a file; remove it first"},
		{"directory below a file", exectest.MakeFile("f", "", 0o644), exectest.Args{"path": "DIR/f/g/h", "state": "directory"}, "not a directory"},
		{"perms of nothing", nil, exectest.Args{"path": "DIR/f", "state": "perms", "mode": "0600"}, "DIR/f does not exist"},
		{"link to nothing", nil, exectest.Args{"path": "DIR/l", "state": "link", "src": "DIR/no"}, "src DIR/no does not exist"},
		{"link over a file", exectest.MakeFile("f", "", 0o644), exectest.Args{"path": "DIR/f", "state": "link", "src": "DIR"}, "DIR/f is a file; force: true replaces it"},
		{"link over a full directory", exectest.MakeTree, exectest.Args{"path": "DIR/t", "state": "link", "src": "DIR", "force": true}, "DIR/t is a directory with 4 entries in it; remove it first with state: absent"},
		{"hard link to a directory", exectest.MakeDir("d", 0o755), exectest.Args{"path": "DIR/h", "state": "hard", "src": "DIR/d"}, "which can have no hard link"},
		{"no user", nil, exectest.Args{"path": "DIR/f", "owner": "nosuchuser"}, "user nosuchuser does not exist"},
		{"no group", nil, exectest.Args{"path": "DIR/f", "group": "nosuchgroup"}, "group nosuchgroup does not exist"},
		{"root", nil, exectest.Args{"path": "/", "state": "absent"}, "/ cannot be removed"},
		{"loop", loop, exectest.Args{"path": "DIR/l"}, "too many links"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.make != nil {
				tt.make(t, dir)
			}
			before := snapshot(t, dir)
			r := exectest.RunJob(t, exectest.NewJob(t, "file", paths(dir, tt.in)))
			exectest.WantOutcome(t, r, events.Failed, strings.ReplaceAll(tt.want, "DIR", dir))
			if r.Class != fault.Fatal {
				t.Errorf("class %q", r.Class)
			}
			if after := snapshot(t, dir); after != before {
				t.Errorf("changed\n%sto\n%s", before, after)
			}
		})
	}
}

// TestMissingIsUnknownInReview checks that what an earlier step may make does not fail a prediction.
func TestMissingIsUnknownInReview(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		action string
		in     exectest.Args
	}{
		{"file", exectest.Args{"path": "DIR/a/b"}},
		{"file", exectest.Args{"path": "DIR/f", "owner": "nosuchuser"}},
		{"file", exectest.Args{"path": "DIR/f", "state": "perms", "mode": "0600"}},
		{"copy", exectest.Args{"src": "DIR/no", "dest": "DIR/f"}},
		{"template", exectest.Args{"src": "DIR/no", "dest": "DIR/f"}},
	} {
		job := exectest.NewJob(t, tt.action, paths(dir, tt.in))
		d, err := exectest.PredictJob(t, job)
		if err != nil || d.Kind != events.ChangeUnknown || d.Summary == "" {
			t.Errorf("%s %v: %+v, %v", tt.action, tt.in, d, err)
		}
		if r := (exec.DryRun{}).Run(t.Context(), job); r.Outcome != events.OK || r.Diff.Kind != events.ChangeUnknown || len(r.Warnings) != 1 {
			t.Errorf("%s %v: dry run %+v", tt.action, tt.in, r)
		}
	}
}

func TestFileResult(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	exectest.WriteFile(t, path, "old", 0o640)
	job := exectest.NewJob(t, "file", exectest.Args{"path": path, "content": "new!", "backup": true})
	r := exectest.RunJob(t, job)
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	kept, _ := r.Fields["backup_file"].(string)
	if exectest.ReadFile(t, kept) != "old" || exectest.ReadFile(t, path) != "new!" || filepath.Dir(kept) != dir {
		t.Errorf("kept %q at %s", exectest.ReadFile(t, kept), kept)
	}
	if info, _ := os.Stat(kept); info.Mode().Perm() != 0o640 {
		t.Errorf("backup has mode %v", info.Mode())
	}
	fields := exectest.Args{"path": path, "state": "file", "mode": "0640", "size": 4, "uid": os.Geteuid()}
	for name, want := range fields {
		if got := r.Fields[name]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if want := "--- " + path + "\n+++ " + path + "\n@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new!\n\\ No newline at end of file\n"; r.Diff.Text != want {
		t.Errorf("diff %q, want %q", r.Diff.Text, want)
	}
	// Two backups within a second do not meet.
	job = exectest.NewJob(t, "file", exectest.Args{"path": path, "content": "newer", "backup": true})
	r = exectest.RunJob(t, job)
	if second, _ := r.Fields["backup_file"].(string); second == kept || exectest.ReadFile(t, second) != "new!" {
		t.Errorf("second backup %s", second)
	}
	job = exectest.NewJob(t, "file", exectest.Args{"path": path, "state": "absent", "backup": true})
	time.Sleep(1100 * time.Millisecond)
	if r = exectest.RunJob(t, job); r.Error != "" || exectest.ReadFile(t, r.Fields["backup_file"].(string)) != "newer" {
		t.Errorf("removal: %+v", r)
	}
}

func TestOwnerNeedsRoot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	exectest.WriteFile(t, path, "x", 0o644)
	if os.Geteuid() != 0 {
		r := exectest.RunJob(t, exectest.NewJob(t, "file", exectest.Args{"path": path, "owner": "root"}))
		exectest.WantOutcome(t, r, events.Failed, "permission denied")
		return
	}
	r := settle(t, dir, "file", exectest.Args{"path": path, "owner": 12345, "group": "daemon"}, nil)
	if r.Fields["owner"] != "12345" || r.Fields["group"] != "daemon" || !strings.Contains(r.Diff.Summary, "owner root → 12345, group root → daemon") {
		t.Errorf("%+v, %q", r.Fields, r.Diff.Summary)
	}
	// New content leaves the owner, and the setuid bit, as they were.
	if err := os.Chmod(path, 0o755|fs.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	r = settle(t, dir, "copy", exectest.Args{"dest": path, "content": "y"}, nil)
	if r.Fields["uid"] != 12345 || r.Fields["mode"] != "4755" {
		t.Errorf("after a copy: %+v", r.Fields)
	}
}
