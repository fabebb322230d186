package action_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/events"
	"moon/exec/exectest"
)

// numbered are lines, with some of them replaced: "3=x" is another third line, "3=" none.
func numbered(n int, other ...string) string {
	names := "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
	all := strings.Fields(names)[1 : n+1]
	for _, o := range other {
		old, now, _ := strings.Cut(o, "=")
		for i, line := range all {
			if line == old {
				all[i] = now
			}
		}
	}
	var b strings.Builder
	for _, line := range all {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

const (
	sevenPatch   = "--- a/f\n+++ b/f\n@@ -4,7 +4,7 @@\n four\n five\n six\n-seven\n+SEVEN\n eight\n nine\n ten\n"
	contextPatch = "*** a/f\t2020-01-01\n--- b/f\t2020-01-01\n***************\n*** 6,8 ****\n  six\n! seven\n  eight\n--- 6,8 ----\n  six\n! SEVEN\n  eight\n"
	normalPatch  = "7c7\n< seven\n---\n> SEVEN\n"
	newPatch     = "--- /dev/null\n+++ b/d/e/new\n@@ -0,0 +1,2 @@\n+one\n+two\n"
	gonePatch    = "--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-only\n"
	gitPatch     = "diff --git a/f b/run\nsimilarity index 90%\nrename from f\nrename to run\nold mode 100644\nnew mode 100755\n" +
		"--- a/f\n+++ b/run\n@@ -5,5 +5,5 @@\n five\n six\n-seven\n+SEVEN\n eight\n nine\n"
	modePatch = "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"
)

func TestPatch(t *testing.T) {
	tests := []struct {
		name    string
		text    string // of f
		patch   string
		in      exectest.Args
		summary string
		want    string
	}{
		{"applied", numbered(12), sevenPatch, exectest.Args{"strip": 1}, "f", numbered(12, "seven=SEVEN")},
		{"there already", numbered(12, "seven=SEVEN"), sevenPatch, exectest.Args{"strip": 1}, "", numbered(12, "seven=SEVEN")},
		{"moved", "zero\nzero\nzero\n" + numbered(12), sevenPatch, exectest.Args{"strip": 1}, "f", "zero\nzero\nzero\n" + numbered(12, "seven=SEVEN")},
		{"not quite", numbered(12, "four=4"), sevenPatch, exectest.Args{"strip": 1}, "f", numbered(12, "four=4", "seven=SEVEN")},
		{"taken out", numbered(12, "seven=SEVEN"), sevenPatch, exectest.Args{"strip": 1, "state": "absent"}, "f", numbered(12)},
		{"out already", numbered(12), sevenPatch, exectest.Args{"strip": 1, "state": "absent"}, "", numbered(12)},
		{"white space", numbered(12, "six=six  "), sevenPatch, exectest.Args{"strip": 1, "ignore_whitespace": true}, "f", numbered(12, "six=six  ", "seven=SEVEN")},
		{"dest", numbered(12), sevenPatch, exectest.Args{"dest": "DIR/f"}, "f", numbered(12, "seven=SEVEN")},
		{"context", numbered(12), contextPatch, exectest.Args{"strip": 1}, "f", numbered(12, "seven=SEVEN")},
		{"normal", numbered(12), normalPatch, exectest.Args{"dest": "DIR/f"}, "f", numbered(12, "seven=SEVEN")},
		{"carriage returns", strings.ReplaceAll(numbered(12), "\n", "\r\n"), strings.ReplaceAll(sevenPatch, "\n", "\r\n"), exectest.Args{"dest": "DIR/f", "binary": true}, "f", strings.ReplaceAll(numbered(12, "seven=SEVEN"), "\n", "\r\n")},
		{"mode only", numbered(12), modePatch, exectest.Args{"strip": 1}, "f", numbered(12)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, src := t.TempDir(), filepath.Join(t.TempDir(), "p")
			exectest.WriteFile(t, filepath.Join(dir, "f"), tt.text, 0o644)
			exectest.WriteFile(t, src, tt.patch, 0o644)
			in := paths(dir, tt.in)
			in["src"] = src
			if in["dest"] == nil {
				in["basedir"] = dir
			}
			r := settle(t, dir, "patch", in, nil)
			if got := exectest.ReadFile(t, filepath.Join(dir, "f")); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if r.Diff.Summary != tt.summary || (tt.text != tt.want) != strings.Contains(r.Diff.Text, "@@") {
				t.Errorf("%q\n%s", r.Diff.Summary, r.Diff.Text)
			}
			if (len(r.Warnings) > 0) != (tt.name == "not quite") {
				t.Errorf("warnings %v", r.Warnings)
			}
		})
	}
}

func TestPatchFiles(t *testing.T) {
	dir, src := t.TempDir(), filepath.Join(t.TempDir(), "p")
	exectest.WriteFile(t, filepath.Join(dir, "f"), numbered(12), 0o600)
	exectest.WriteFile(t, filepath.Join(dir, "g"), "only\n", 0o644)
	exectest.WriteFile(t, src, sevenPatch+newPatch+gonePatch, 0o644)
	r := settle(t, dir, "patch", exectest.Args{"src": src, "basedir": dir, "strip": 1, "backup": true}, nil)
	if r.Diff.Summary != "d/e/new, f, g removed" || strings.Count(r.Diff.Text, "@@ -") != 3 {
		t.Errorf("%q\n%s", r.Diff.Summary, r.Diff.Text)
	}
	got := snapshot(t, dir)
	for _, want := range []string{"d/e/new -rw-r--r-- \"one\\ntwo\\n\"\n", "f -rw------- \"one\\n", "SEVEN", "g."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "g")); !os.IsNotExist(err) {
		t.Error("g is still there")
	}
}

func TestPatchRenames(t *testing.T) {
	dir, src := t.TempDir(), filepath.Join(t.TempDir(), "p")
	exectest.WriteFile(t, filepath.Join(dir, "f"), numbered(12), 0o644)
	exectest.WriteFile(t, src, gitPatch, 0o644)
	settle(t, dir, "patch", exectest.Args{"src": src, "basedir": dir, "strip": 1}, nil)
	if got := snapshot(t, dir); !strings.HasPrefix(got, ". drwxr-xr-x\nrun -rwxr-xr-x \"one") || !strings.Contains(got, "SEVEN") {
		t.Error(got)
	}
}

func TestPatchErrors(t *testing.T) {
	tests := []struct {
		name  string
		make  func(t *testing.T, dir string)
		patch string
		in    exectest.Args
		want  string
	}{
		{"does not fit", exectest.MakeFile("f", numbered(12, "seven=7"), 0o644), sevenPatch, exectest.Args{"strip": 1}, "does not fit: hunk 1 of DIR/f, at line 4; nothing was changed"},
		{"fits one file", exectest.MakeFile("f", numbered(12), 0o644), sevenPatch + strings.ReplaceAll(sevenPatch, "/f", "/g"), exectest.Args{"strip": 1}, "does not fit: a file of it is not in DIR"},
		{"is applied to one file", func(t *testing.T, dir string) {
			t.Helper()
			exectest.WriteFile(t, filepath.Join(dir, "f"), numbered(12), 0o644)
			exectest.WriteFile(t, filepath.Join(dir, "g"), numbered(12, "seven=SEVEN"), 0o644)
		}, sevenPatch + strings.ReplaceAll(sevenPatch, "/f", "/g"), exectest.Args{"strip": 1}, "does not fit: DIR/g has it already"},
		{"another strip", exectest.MakeFile("f", numbered(12), 0o644), sevenPatch, exectest.Args{"strip": 0}, "a file of it is not in DIR (`strip` may be another)"},
		{"no patch", exectest.MakeFile("f", numbered(12), 0o644), "hello\n", exectest.Args{}, "is not a recognised patch"},
		{"a script for an editor", exectest.MakeFile("f", numbered(12), 0o644), "--- a/f\n+++ b/f\n7c\nSEVEN\n.\n!touch DIR/hacked\n", exectest.Args{"strip": 1}, "is not a recognised patch"},
		{"out of the directory", exectest.MakeFile("f", numbered(12), 0o644), strings.NewReplacer("b/f", "b/../../f", "a/f", "a/../../f").Replace(sevenPatch), exectest.Args{"strip": 1}, "does not fit"},
		{"through a link", func(t *testing.T, dir string) {
			t.Helper()
			exectest.WriteFile(t, filepath.Join(t.TempDir(), "f"), numbered(12), 0o644)
			if err := os.Symlink(t.TempDir(), filepath.Join(dir, "l")); err != nil {
				t.Fatal(err)
			}
		}, strings.ReplaceAll(sevenPatch, "/f", "/l/f"), exectest.Args{"strip": 1}, "DIR/l/f leads out of DIR through a link"},
		{"over a link", linkTo("x", "f"), sevenPatch, exectest.Args{"strip": 1}, "DIR/f is a link, and links are not followed by patches; name the file as `dest`"},
		{"no dest", nil, sevenPatch, exectest.Args{"dest": "DIR/f"}, "DIR/f does not exist"},
		{"no src", nil, "", exectest.Args{"src": "DIR/no"}, "src DIR/no does not exist"},
		{"no directory", nil, sevenPatch, exectest.Args{"basedir": "DIR/no"}, "directory DIR/no does not exist"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, src := t.TempDir(), filepath.Join(t.TempDir(), "p")
			if tt.make != nil {
				tt.make(t, dir)
			}
			exectest.WriteFile(t, src, strings.ReplaceAll(tt.patch, "DIR", dir), 0o644)
			before := snapshot(t, dir)
			in := exectest.Args{"src": src, "basedir": dir}
			maps.Copy(in, paths(dir, tt.in))
			r := exectest.RunJob(t, exectest.NewJob(t, "patch", in))
			exectest.WantOutcome(t, r, events.Failed, strings.ReplaceAll(tt.want, "DIR", dir))
			if after := snapshot(t, dir); after != before {
				t.Errorf("something was changed:\n%s\n%s", before, after)
			}
		})
	}
	job := exectest.NewJob(t, "patch", exectest.Args{"src": "/etc/passwd", "basedir": "/"})
	job.Env = map[string]string{"PATH": t.TempDir()}
	exectest.WantOutcome(t, exectest.RunJob(t, job), events.Failed, "the program patch is not installed; install the package patch")
}
