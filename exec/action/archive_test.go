package action_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
)

// packs is a tree to be packed.
func packs(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	exectest.WriteFile(t, filepath.Join(dir, "t/a.txt"), "text\n", 0o640)
	exectest.WriteFile(t, filepath.Join(dir, "t/d/b.log"), strings.Repeat("line\n", 1000), 0o755)
	exectest.WriteFile(t, filepath.Join(dir, "t/d/c.log"), "", 0o644)
	exectest.WriteFile(t, filepath.Join(dir, "other"), "other\n", 0o644)
	if err := os.Symlink("../a.txt", filepath.Join(dir, "t/d/l")); err != nil {
		t.Fatal(err)
	}
	exectest.MakeDir("empty", 0o700)(t, dir)
	exectest.MakeDir("out", 0o755)(t, dir)
	return dir
}

func TestArchiveFormats(t *testing.T) {
	var first map[string]string
	for round := range 2 { // the same, with other times and in another directory
		sums := map[string]string{}
		for _, format := range []string{"gz", "bz2", "xz", "zst", "tar", "zip"} {
			dir := packs(t)
			dest := filepath.Join(dir, "x")
			in := exectest.Args{"path": dir + "/t", "dest": dest, "format": format, "mode": "0600"}
			for _, name := range []string{"t/a.txt", "t/d/b.log", "t/d/c.log", "t", "t/d"} {
				if err := os.Chtimes(filepath.Join(dir, name), time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
					t.Fatal(err)
				}
			}
			r := settle(t, dir, "archive", in, nil)
			if r.Diff.Kind != events.ChangeCreate || r.Diff.Summary != "new archive of 6 entries, 5005 bytes, mode 0600" || r.Diff.Text != "+ t\n+ t/a.txt\n+ t/d\n+ t/d/b.log\n+ t/d/c.log\n+ t/d/l\n" {
				t.Errorf("%s: %+v", format, r.Diff)
			}
			exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "unarchive", exectest.Args{"src": dest, "dest": dir + "/out"})), events.Changed, "")
			if got, want := snapshot(t, dir+"/out/t"), snapshot(t, dir+"/t"); got != want {
				t.Errorf("%s: packed\n%s\nunpacked\n%s", format, want, got)
			}
			if format != "tar" && format != "zip" {
				format = "tar." + format
			}
			if got := exectest.RunJob(t, exectest.NewJob(t, "unarchive", exectest.Args{"src": dest, "dest": dir + "/out"})).Fields["format"]; got != format {
				t.Errorf("format %v, want %s", got, format)
			}
			link := filepath.Join(dir, "t/d/l") // its own time cannot be set here, so it is left out of the comparison
			os.Remove(link)
			os.Remove(dest)
			os.Chtimes(filepath.Join(dir, "t/d"), time.Unix(1e9, 0), time.Unix(1e9, 0))
			exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "archive", in)), events.Changed, "")
			sums[format] = sha(exectest.ReadFile(t, dest))
		}
		if round == 0 {
			first = sums
		} else if fmt.Sprint(sums) != fmt.Sprint(first) {
			t.Errorf("the same files make other archives:\n%v\n%v", first, sums)
		}
	}
}

func TestArchive(t *testing.T) {
	tests := []struct {
		name    string
		change  func(t *testing.T, dir string) // after a first archive was made
		in      exectest.Args
		kind    events.ChangeKind
		summary string
		text    string
	}{
		{"nothing new", nil, exectest.Args{"path": "DIR/t"}, "none", "", ""},
		{"touched", func(t *testing.T, dir string) {
			t.Helper()
			os.Chtimes(dir+"/t/a.txt", time.Unix(1e9, 0), time.Unix(1e9, 0))
		}, exectest.Args{"path": "DIR/t"}, "none", "", ""},
		{"other content", exectest.MakeFile("t/a.txt", "texT\n", 0o640), exectest.Args{"path": "DIR/t"}, "update", "archive of 6 entries, 5005 bytes", "~ t/a.txt\n"},
		{"other mode", exectest.MakeFile("t/a.txt", "text\n", 0o600), exectest.Args{"path": "DIR/t"}, "update", "archive of 6 entries, 5005 bytes", "~ t/a.txt\n"},
		{"one more and one less", func(t *testing.T, dir string) {
			t.Helper()
			os.Rename(dir+"/t/a.txt", dir+"/t/z.txt")
		}, exectest.Args{"path": "DIR/t"}, "update", "archive of 6 entries, 5005 bytes", "- t/a.txt\n+ t/z.txt\n"},
		{"damaged", exectest.MakeFile("x", "\x1f\x8bnothing", 0o644), exectest.Args{"path": "DIR/t"}, "update", "archive of 6 entries, 5005 bytes", "it is damaged\n"},
		{"something else", exectest.MakeFile("x", "nothing", 0o644), exectest.Args{"path": "DIR/t"}, "update", "archive of 6 entries, 5005 bytes", "another format\n"},
		{"attributes only", func(t *testing.T, dir string) { t.Helper(); os.Chmod(dir+"/x", 0o644) }, exectest.Args{"path": "DIR/t", "mode": "0600"}, "update", "mode 0644 → 0600", ""},
		{"several", nil, exectest.Args{"path": []any{"DIR/t/d", "DIR/other"}}, "none", "", ""},
		{"a pattern, and what is taken out", exectest.MakeFile("t/d/b.log", "x", 0o755), exectest.Args{"path": "DIR/t/*", "exclude_path": "DIR/t/a*"}, "update", "archive of 4 entries, 1 byte", "~ d/b.log\n"},
		{"patterns in it", exectest.MakeFile("t/d/b.log", "x", 0o755), exectest.Args{"path": "DIR/t", "exclusion_patterns": "*.log"}, "none", "", ""},
		{"one file", exectest.MakeFile("other", "changed\n", 0o644), exectest.Args{"path": "DIR/other"}, "update", "archive of 1 entry, 8 bytes", "~ other\n"},
		{"one file, in an archive", exectest.MakeFile("other", "changed\n", 0o644), exectest.Args{"path": "DIR/other", "force_archive": true}, "update", "archive of 1 entry, 8 bytes", "~ other\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := packs(t)
			in := paths(dir, tt.in)
			if list, ok := tt.in["path"].([]any); ok {
				in["path"] = []any{strings.ReplaceAll(list[0].(string), "DIR", dir), strings.ReplaceAll(list[1].(string), "DIR", dir)}
			}
			in["dest"] = dir + "/x"
			exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "archive", in)), events.Changed, "")
			if tt.change != nil {
				tt.change(t, dir)
			}
			r := settle(t, dir, "archive", in, nil)
			if r.Diff.Kind != tt.kind || r.Diff.Summary != tt.summary || r.Diff.Text != tt.text {
				t.Errorf("%s %q\n%s\nwant %s %q\n%s", r.Diff.Kind, r.Diff.Summary, r.Diff.Text, tt.kind, tt.summary, tt.text)
			}
		})
	}
}

func TestArchiveRemoves(t *testing.T) {
	dir := packs(t)
	in := exectest.Args{"path": dir + "/t", "dest": dir + "/x", "remove": true, "exclusion_patterns": "*/c.log"}
	r := settle(t, dir, "archive", in, nil)
	if r.Diff.Summary != "new archive of 5 entries, 5005 bytes, what is packed is removed" {
		t.Error(r.Diff.Summary)
	}
	if got := snapshot(t, dir+"/t"); got != ". drwxr-xr-x\nd drwxr-xr-x\nd/c.log -rw-r--r-- \"\"\n" {
		t.Errorf("what was not packed stays:\n%s", got)
	}
}

func TestArchiveOfOneFile(t *testing.T) {
	dir := packs(t)
	for _, remove := range []bool{false, true} {
		r := settle(t, dir, "archive", exectest.Args{"path": dir + "/other", "format": "xz", "remove": remove}, nil)
		if r.Fields["dest"] != dir+"/other.xz" || r.Fields["dest_state"] != "compress" {
			t.Errorf("%v", r.Fields)
		}
	}
	if _, err := os.Lstat(dir + "/other"); !os.IsNotExist(err) {
		t.Error("it was not removed")
	}
}

func TestArchiveErrors(t *testing.T) {
	tests := []struct {
		name string
		in   exectest.Args
		want string
	}{
		{"nothing", exectest.Args{"path": "DIR/no", "dest": "DIR/x"}, "there is nothing to pack at DIR/no"},
		{"nothing that is left", exectest.Args{"path": "DIR/t", "exclude_path": "DIR/t", "dest": "DIR/x"}, "there is nothing to pack at DIR/t"},
		{"a directory without dest", exectest.Args{"path": "DIR/t"}, "DIR/t is not a file; an archive of it needs `dest`"},
		{"into itself", exectest.Args{"path": "DIR/t", "dest": "DIR/t/x", "remove": true}, "the archive DIR/t/x is in DIR/t, which would be removed"},
		{"dest is a directory", exectest.Args{"path": "DIR/t", "dest": "DIR/out"}, "DIR/out is a directory"},
		{"no directory", exectest.Args{"path": "DIR/t", "dest": "DIR/no/x"}, "directory DIR/no does not exist"},
		{"no pattern", exectest.Args{"path": "DIR/[", "dest": "DIR/x"}, "DIR/[ is not a pattern of paths"},
	}
	for _, tt := range tests {
		dir := packs(t)
		before := snapshot(t, dir)
		exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "archive", paths(dir, tt.in))), events.Failed, strings.ReplaceAll(tt.want, "DIR", dir))
		if snapshot(t, dir) != before {
			t.Errorf("%s: something was changed", tt.name)
		}
	}
	dir := packs(t)
	r := exectest.RunJob(t, exectest.NewJob(t, "archive", exectest.Args{"path": []any{dir + "/other", dir + "/no"}, "dest": dir + "/t/x"}))
	if fmt.Sprintln(r.Fields["missing"], r.Fields["dest_state"]) != "["+dir+"/no] incomplete\n" {
		t.Errorf("%v", r.Fields)
	}
	in := exectest.Args{"path": dir + "/t", "dest": dir + "/t/x"} // it does not pack itself
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "archive", in)), events.Changed, "")
	exectest.WantOutcome(t, exec.DryRun{}.Run(t.Context(), exectest.NewJob(t, "archive", in)), events.OK, "")
}
