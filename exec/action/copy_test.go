package action_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
	"moon/exec/fault"
)

func TestCopy(t *testing.T) {
	both := func(content string, mode fs.FileMode) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			exectest.WriteFile(t, filepath.Join(dir, "src"), "text\n", 0o755)
			if content != "" {
				exectest.WriteFile(t, filepath.Join(dir, "dest"), content, mode)
			}
		}
	}
	sum := "sha256:b9e68e1bea3e5b19ca6b2f98b73a54b73daafaa250484902e09982e07a12e733"
	tests := []struct {
		name    string
		make    func(t *testing.T, dir string)
		in      exectest.Args
		kind    events.ChangeKind
		summary string
		file    string
		want    string
		mode    fs.FileMode
	}{
		{"new", both("", 0), exectest.Args{"src": "DIR/src", "dest": "DIR/dest"}, "create", "new file, 5 bytes", "dest", "text\n", 0o644},
		{"preserve", both("", 0), exectest.Args{"src": "DIR/src", "dest": "DIR/dest", "mode": "preserve"}, "create", "new file, 5 bytes, mode 0755", "dest", "text\n", 0o755},
		{"same", both("text\n", 0o600), exectest.Args{"src": "DIR/src", "dest": "DIR/dest"}, "none", "", "dest", "text\n", 0o600},
		{"same size", both("texT\n", 0o600), exectest.Args{"src": "DIR/src", "dest": "DIR/dest"}, "update", "content, 5 bytes", "dest", "text\n", 0o600},
		{"mode only", both("text\n", 0o600), exectest.Args{"src": "DIR/src", "dest": "DIR/dest", "mode": "0640"}, "update", "mode 0600 → 0640", "dest", "text\n", 0o640},
		{"no force", both("other", 0o600), exectest.Args{"src": "DIR/src", "dest": "DIR/dest", "force": false}, "none", "", "dest", "other", 0o600},
		{"no force, new", both("", 0), exectest.Args{"src": "DIR/src", "dest": "DIR/dest", "force": false}, "create", "new file, 5 bytes", "dest", "text\n", 0o644},
		{"content", nil, exectest.Args{"content": "x\n", "dest": "DIR/dest", "mode": "0400"}, "create", "new file, 2 bytes, mode 0400", "dest", "x\n", 0o400},
		{
			"into a directory", func(t *testing.T, dir string) { t.Helper(); both("", 0)(t, dir); exectest.MakeDir("d", 0o755)(t, dir) },
			exectest.Args{"src": "DIR/src", "dest": "DIR/d"},
			"create", "new file, 5 bytes", "d/src", "text\n", 0o644,
		},
		{"checksum", both("", 0), exectest.Args{"src": "DIR/src", "dest": "DIR/dest", "checksum": sum}, "create", "new file, 5 bytes", "dest", "text\n", 0o644},
		{"validate", both("", 0), exectest.Args{"src": "DIR/src", "dest": "DIR/dest", "validate": "grep -q text %s"}, "create", "new file, 5 bytes", "dest", "text\n", 0o644},
		{"over a link", linkTo("f", "dest"), exectest.Args{"content": "y", "dest": "DIR/dest"}, "update", "link to f → file, 1 byte", "dest", "y", 0o644},
		{"read-only", both("other", 0o400), exectest.Args{"src": "DIR/src", "dest": "DIR/dest"}, "update", "content, 5 bytes", "dest", "text\n", 0o400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.make != nil {
				tt.make(t, dir)
			}
			r := settle(t, dir, "copy", paths(dir, tt.in), nil)
			if r.Diff.Kind != tt.kind || r.Diff.Summary != tt.summary {
				t.Errorf("%s %q, want %s %q", r.Diff.Kind, r.Diff.Summary, tt.kind, tt.summary)
			}
			path := filepath.Join(dir, tt.file)
			info, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := exectest.ReadFile(t, path); got != tt.want || info.Mode() != tt.mode {
				t.Errorf("%q with mode %v, want %q with %v", got, info.Mode(), tt.want, tt.mode)
			}
			if r.Fields["dest"] != path {
				t.Errorf("dest %v", r.Fields["dest"])
			}
		})
	}
	if got := exectest.ReadFile(t, mustCopyOverLink(t)); got != "x" {
		t.Errorf("the target of a replaced link has %q", got)
	}
}

func mustCopyOverLink(t *testing.T) (target string) {
	t.Helper()
	dir := t.TempDir()
	linkTo("f", "dest")(t, dir)
	settle(t, dir, "copy", exectest.Args{"content": "y", "dest": filepath.Join(dir, "dest")}, nil)
	return filepath.Join(dir, "f")
}

func TestCopyErrors(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		in   exectest.Args
		want string
		rc   int
	}{
		{"no src", nil, exectest.Args{"src": "DIR/no", "dest": "DIR/x"}, "src DIR/no does not exist", -1},
		{"no directory", exectest.MakeFile("f", "x", 0o644), exectest.Args{"src": "DIR/f", "dest": "DIR/a/b"}, "directory DIR/a does not exist", -1},
		{"content into a directory", exectest.MakeDir("d", 0o755), exectest.Args{"content": "x", "dest": "DIR/d"}, "DIR/d is a directory", -1},
		{
			"checksum", exectest.MakeFile("f", "x", 0o644),
			exectest.Args{"src": "DIR/f", "dest": "DIR/x", "checksum": strings.Repeat("0", 64)},
			"checksum: DIR/f has sha256 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881, not 0000", -1,
		},
		{"validate", exectest.MakeFile("f", "x", 0o644), exectest.Args{"src": "DIR/f", "dest": "DIR/x", "validate": "sh -c 'exit 4' %s"}, "validate: exit status 4", 4},
		{"no validator", exectest.MakeFile("f", "x", 0o644), exectest.Args{"src": "DIR/f", "dest": "DIR/x", "validate": "nosuchcommand %s"}, "command not found: nosuchcommand", 127},
		{"tree over a file", exectest.MakeTree, exectest.Args{"src": "DIR/t/", "dest": "DIR/t/a"}, "DIR/t/a is a file, and src is a directory", -1},
		{"tree with a checksum", exectest.MakeTree, exectest.Args{"src": "DIR/t/", "dest": "DIR/u", "checksum": strings.Repeat("0", 64)}, "is a directory", -1},
		{"over a pipe", exectest.MakePipe, exectest.Args{"content": "x", "dest": "DIR/p"}, "DIR/p is neither a file nor a directory", -1},
		{"from a pipe", exectest.MakePipe, exectest.Args{"src": "DIR/p", "dest": "DIR/x"}, "src DIR/p is neither a file nor a directory", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.make != nil {
				tt.make(t, dir)
			}
			before := ""
			if tt.name != "over a pipe" && tt.name != "from a pipe" {
				before = snapshot(t, dir)
			}
			r := exectest.RunJob(t, exectest.NewJob(t, "copy", paths(dir, tt.in)))
			exectest.WantOutcome(t, r, events.Failed, strings.ReplaceAll(tt.want, "DIR", dir))
			if tt.rc >= 0 {
				exectest.WantRC(t, r, tt.rc)
			}
			if before != "" && snapshot(t, dir) != before {
				t.Errorf("changed\n%sto\n%s", before, snapshot(t, dir))
			}
		})
	}
}

func TestCopyTree(t *testing.T) {
	dir := t.TempDir()
	exectest.MakeTree(t, dir)
	if err := os.Chmod(filepath.Join(dir, "t"), 0o750); err != nil {
		t.Fatal(err)
	}
	exectest.WriteFile(t, filepath.Join(dir, "t", "not\xffutf8"), "n", 0o644)
	r := settle(t, dir, "copy", paths(dir, exectest.Args{"src": "DIR/t/", "dest": "DIR/deep/copy"}), nil)
	if r.Diff.Kind != events.ChangeCreate || r.Diff.Summary != "6 new: a" {
		t.Errorf("%+v", r.Diff)
	}
	from, to := snapshot(t, filepath.Join(dir, "t")), snapshot(t, filepath.Join(dir, "deep", "copy"))
	if from != to {
		t.Errorf("copied\n%sas\n%s", from, to)
	}

	// Without the slash the directory itself is copied; what is in dest already stays.
	exectest.MakeDir("d", 0o755)(t, dir)
	exectest.WriteFile(t, filepath.Join(dir, "d", "t", "own"), "o", 0o644)
	exectest.WriteFile(t, filepath.Join(dir, "d", "t", "a"), "changed", 0o644)
	r = settle(t, dir, "copy", paths(dir, exectest.Args{"src": "DIR/t", "dest": "DIR/d", "mode": "0604"}), nil)
	if r.Diff.Kind != events.ChangeUpdate || r.Diff.Summary != "4 new, 1 updated: a" || !strings.Contains(r.Diff.Text, "-changed") {
		t.Errorf("%+v", r.Diff)
	}
	if exectest.ReadFile(t, filepath.Join(dir, "d", "t", "own")) != "o" || exectest.ReadFile(t, filepath.Join(dir, "d", "t", "a")) != "a" {
		t.Error("the copy is not right")
	}
	if info, err := os.Stat(filepath.Join(dir, "d", "t", "b", "c")); err != nil || info.Mode() != 0o604 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestCopyLargeTree(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		exectest.WriteFile(t, filepath.Join(dir, "t", fmt.Sprint(i%7), fmt.Sprint(i)), fmt.Sprint(i), 0o640)
	}
	r := settle(t, dir, "copy", paths(dir, exectest.Args{"src": "DIR/t/", "dest": "DIR/u"}), nil)
	if r.Diff.Summary != "108 new: 0" || snapshot(t, filepath.Join(dir, "t")) != snapshot(t, filepath.Join(dir, "u")) {
		t.Errorf("%+v", r.Diff)
	}
}

func TestCopyLarge(t *testing.T) {
	dir := t.TempDir()
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<17) // 2 MiB: no diff
	exectest.WriteFile(t, filepath.Join(dir, "src"), string(content), 0o644)
	content[len(content)-1] = 'x'
	exectest.WriteFile(t, filepath.Join(dir, "dest"), string(content), 0o644)
	in := paths(dir, exectest.Args{"src": "DIR/src", "dest": "DIR/dest"})
	one, err := exectest.PredictJob(t, exectest.NewJob(t, "copy", in))
	if err != nil {
		t.Fatal(err)
	}
	content[0] = 'x'
	exectest.WriteFile(t, filepath.Join(dir, "dest"), string(content), 0o644)
	if two, err := exectest.PredictJob(t, exectest.NewJob(t, "copy", in)); err != nil || one.Digest == "" || one.Digest == two.Digest {
		t.Errorf("two contents that would be replaced have the digests %q and %q: %v", one.Digest, two.Digest, err)
	}
	r := settle(t, dir, "copy", in, nil)
	if r.Diff.Text != "" || r.Diff.Summary != "content, 2048 KiB" {
		t.Errorf("%+v", r.Diff)
	}
}

func TestDiffText(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	job := exectest.NewJob(t, "copy", exectest.Args{"content": "a\n", "dest": path})
	d, err := exectest.PredictJob(t, job)
	if want := "--- /dev/null\n+++ " + path + "\n@@ -0,0 +1 @@\n+a\n"; err != nil || d.Text != want {
		t.Errorf("diff %q, want %q", d.Text, want)
	}
	for name, set := range map[string]func(){"no_log": func() { job.NoLog = true }, "not asked for": func() { job.NoLog, job.Diff = false, false }} {
		set()
		if d, _ := exectest.PredictJob(t, job); d.Text != "" || d.Kind != events.ChangeCreate {
			t.Errorf("%s: %+v", name, d)
		}
	}
	job = exectest.NewJob(t, "copy", exectest.Args{"content": "a\x00b", "dest": path})
	if d, _ := exectest.PredictJob(t, job); d.Text != "" {
		t.Errorf("binary: %q", d.Text)
	}
}

// TestCancelledCopy stops a copy in the middle, while the new file is being validated: nothing of it may stay.
func TestCancelledCopy(t *testing.T) {
	dir := t.TempDir()
	job := exectest.NewJob(t, "copy", exectest.Args{"content": "new", "dest": filepath.Join(dir, "f"), "validate": "sh -c 'echo up; sleep 300' %s"})
	exectest.WriteFile(t, filepath.Join(dir, "f"), "old", 0o644)
	r, _ := exectest.CancelWhen(t, job, "up\n", 200*time.Millisecond, func(cancel context.CancelCauseFunc) { cancel(fault.Interrupt) })
	exectest.WantOutcome(t, r, events.Cancelled, "interrupted")
	if got := exectest.ReadFile(t, filepath.Join(dir, "f")); got != "old" {
		t.Errorf("content %q", got)
	}
	noTemps(t, dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fault.Interrupt)
	r = exec.Local{}.Run(ctx, exectest.NewJob(t, "copy", exectest.Args{"content": "new", "dest": filepath.Join(dir, "f")}))
	exectest.WantOutcome(t, r, events.Cancelled, "interrupted")
	noTemps(t, dir)
}

// TestSwappedParent replaces the target's directory by a link while a copy is under way.
func TestSwappedParent(t *testing.T) {
	dir := t.TempDir()
	good, evil := filepath.Join(dir, "good"), filepath.Join(dir, "evil")
	exectest.MakeDir("good", 0o755)(t, dir)
	exectest.MakeDir("evil", 0o755)(t, dir)
	swap := fmt.Sprintf("sh -c 'mv %s %s.old && ln -s %s %s && test -n \"$0\"' %%s", good, good, evil, good)
	job := exectest.NewJob(t, "copy", exectest.Args{"content": "secret", "dest": filepath.Join(good, "f"), "validate": swap})
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Changed, "")
	if _, err := os.Lstat(filepath.Join(evil, "f")); err == nil {
		t.Error("the file followed the link")
	}
	if exectest.ReadFile(t, filepath.Join(good+".old", "f")) != "secret" {
		t.Error("the file is not in the directory it was meant for")
	}
}

func TestForeignLink(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs another user's link")
	}
	dir := t.TempDir()
	linkTo("f", "l")(t, dir)
	if err := os.Lchown(filepath.Join(dir, "l"), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	r := exectest.RunJob(t, exectest.NewJob(t, "file", paths(dir, exectest.Args{"path": "DIR/l", "mode": "0600"})))
	exectest.WantOutcome(t, r, events.Failed, "link of another user")
}

func TestTemplate(t *testing.T) {
	dir := t.TempDir()
	exectest.WriteFile(t, filepath.Join(dir, "app.conf.j2"), "port = {{ port }}\n", 0o600)
	names := exectest.Names{"port": 80}
	in := paths(dir, exectest.Args{"src": "DIR/app.conf.j2", "dest": "DIR/app.conf", "mode": "0640"})
	r := settle(t, dir, "template", in, names)
	if exectest.ReadFile(t, filepath.Join(dir, "app.conf")) != "port = 80\n" || r.Diff.Summary != "new file, 10 bytes, mode 0640" {
		t.Errorf("%+v", r.Diff)
	}
	if r.Fields["checksum"] != "dc3a498d15ca3e01fe7097184e4b0cd9640a6a04" {
		t.Errorf("checksum %v", r.Fields["checksum"])
	}
	names["port"] = 8080
	r = settle(t, dir, "template", in, names)
	if !strings.Contains(r.Diff.Text, "-port = 80\n+port = 8080\n") {
		t.Errorf("%+v", r.Diff)
	}
	exectest.MakeDir("d", 0o755)(t, dir)
	settle(t, dir, "template", paths(dir, exectest.Args{"src": "DIR/app.conf.j2", "dest": "DIR/d", "mode": "preserve"}), names)
	if info, err := os.Stat(filepath.Join(dir, "d", "app.conf")); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	r = exectest.RunJob(t, exectest.NewJob(t, "template", in))
	exectest.WantOutcome(t, r, events.Failed, "undefined name")
}

// TestCopyFollows copies what links of a source lead to, but for links that lead around in a circle, and writes through a link of dest.
func TestCopyFollows(t *testing.T) {
	dir := t.TempDir()
	exectest.WriteFile(t, filepath.Join(dir, "src/a/file"), "x\n", 0o644)
	exectest.WriteFile(t, filepath.Join(dir, "far/two"), "y\n", 0o644)
	exectest.WriteFile(t, filepath.Join(dir, "real"), "old\n", 0o644)
	for name, to := range map[string]string{
		"src/file": "a/file", "src/far": "../far", "src/a/self": ".", "src/a/up": "../../src", "src/lost": "nowhere", "far/back": dir + "/src/a", "link": "real",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	in := exectest.Args{"src": dir + "/src/", "dest": dir + "/dest", "local_follow": true}
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "copy", in)), events.Changed, "")
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "copy", in)), events.OK, "")
	for name, want := range map[string]os.FileMode{
		"file": 0, "far": os.ModeDir, "far/two": 0, "a/self": os.ModeSymlink, "a/up": os.ModeSymlink, "lost": os.ModeSymlink, "far/back/file": 0,
	} {
		if info, err := os.Lstat(filepath.Join(dir, "dest", name)); err != nil || info.Mode().Type() != want {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	in = exectest.Args{"content": "new\n", "dest": dir + "/link", "follow": true}
	if diff, err := exectest.PredictJob(t, exectest.NewJob(t, "copy", in)); err != nil || diff.Path != dir+"/real" {
		t.Errorf("%+v %v", diff, err)
	}
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "copy", in)), events.Changed, "")
	if text := exectest.ReadFile(t, dir+"/real"); text != "new\n" {
		t.Errorf("%q", text)
	}
}
