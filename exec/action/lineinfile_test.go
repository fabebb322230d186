package action_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
)

// edited is a case of an action that edits text.
type edited struct {
	name string
	text string
	in   exectest.Args // without the path
	want string
	says string // "": nothing is done
}

// testEdits puts every case through settle, which also runs it twice.
func testEdits(t *testing.T, action string, tests []edited) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			exectest.WriteFile(t, path, tt.text, 0o640)
			in := exectest.Args{"path": path}
			maps.Copy(in, tt.in)
			r := settle(t, dir, action, in, nil)
			if got := exectest.ReadFile(t, path); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			kind := events.ChangeUpdate
			if tt.says == "" {
				kind = events.ChangeNone
			}
			if r.Fields["msg"] != tt.says || r.Diff.Kind != kind || r.Diff.Summary != tt.says || r.Fields["mode"] != "0640" {
				t.Errorf("msg %q, %s %q, mode %v; want %s %q", r.Fields["msg"], r.Diff.Kind, r.Diff.Summary, r.Fields["mode"], kind, tt.says)
			}
			if hasDiff := strings.Contains(r.Diff.Text, "@@"); hasDiff != (tt.text != tt.want && utf8.ValidString(tt.text)) {
				t.Errorf("diff %q", r.Diff.Text)
			}
		})
	}
}

func TestLineinfile(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	testEdits(t, "lineinfile", []edited{
		{"added at the end", text, exectest.Args{"line": "four"}, text + "four\n", "line added"},
		{"there already", text, exectest.Args{"line": "two"}, text, ""},
		{"there with spaces", text, exectest.Args{"line": " two"}, text + " two\n", "line added"},
		{"into an empty file", "", exectest.Args{"line": "a"}, "a\n", "line added"},
		{"an empty line", "a\n", exectest.Args{"line": ""}, "a\n\n", "line added"},
		{"a line of a block of text", "a\n", exectest.Args{"line": "b\n"}, "a\nb\n", "line added"},

		{"the last match", "a=1\nb=1\na=2\n", exectest.Args{"regexp": "^a=", "line": "a=3"}, "a=1\nb=1\na=3\n", "line replaced"},
		{"the first match", "a=1\nb=1\na=2\n", exectest.Args{"regexp": "^a=", "line": "a=3", "firstmatch": true}, "a=3\nb=1\na=2\n", "line replaced"},
		{"the last match is right", "a=1\na=2\n", exectest.Args{"regexp": "^a=", "line": "a=2"}, "a=1\na=2\n", ""},
		{"no match", text, exectest.Args{"regexp": "^a=", "line": "a=3"}, text + "a=3\n", "line added"},
		{"no match, there already", text, exectest.Args{"regexp": "^a=", "line": "two"}, text, ""},
		{"the line does not match", "#a\n", exectest.Args{"regexp": "^#a", "line": "a"}, "a\n", "line replaced"},
		{"groups are not filled in", "a=1\n", exectest.Args{"regexp": "^a=(.*)", "line": `b=\1`}, "b=\\1\n", "line replaced"},
		{"the end of a line", "a b\na bc\n", exectest.Args{"regexp": "b$", "line": "x"}, "x\na bc\n", "line replaced"},
		{"an empty pattern", text, exectest.Args{"regexp": "", "line": "x"}, "one\ntwo\nx\n", "line replaced"},

		{"text", "a.b\naxb\n", exectest.Args{"search_string": "a.b", "line": "c"}, "c\naxb\n", "line replaced"},
		{"text, no match", "axb\n", exectest.Args{"search_string": "a.b", "line": "c"}, "axb\nc\n", "line added"},

		{"group", "port = 80\n", exectest.Args{"regexp": `^(\w+) = \d+`, "line": `\1 = 81`, "backrefs": true}, "port = 81\n", "line replaced"},
		{"group by name", "port = 80\n", exectest.Args{"regexp": `^(?P<key>\w+) = \d+`, "line": `\g<key> = 81`, "backrefs": true, "state": "present"}, "port = 81\n", "line replaced"},
		{"a group that took no part", "a\n", exectest.Args{"regexp": `^a(b)?$`, "line": `x\1`, "backrefs": true}, "x\n", "line replaced"},
		{"group, no match", text, exectest.Args{"regexp": `^(a)=`, "line": `\1=2`, "backrefs": true}, text, ""},
		{"group, no match, with a place", text, exectest.Args{"regexp": `^(a)=`, "line": `\1=2`, "backrefs": true, "insertbefore": "BOF"}, text, ""},
		{"escapes", "a\n", exectest.Args{"regexp": `^a$`, "line": `b\tc\\d`, "backrefs": true}, "b\tc\\d\n", "line replaced"},

		{"after", text, exectest.Args{"line": "x", "insertafter": "^(one|two)"}, "one\ntwo\nx\nthree\n", "line added"},
		{"after the first", text, exectest.Args{"line": "x", "insertafter": "^(one|two)", "firstmatch": true}, "one\nx\ntwo\nthree\n", "line added"},
		{"after the last line", text, exectest.Args{"line": "x", "insertafter": "three"}, text + "x\n", "line added"},
		{"after nothing", text, exectest.Args{"line": "x", "insertafter": "four"}, text + "x\n", "line added"},
		{"after EOF", text, exectest.Args{"line": "x", "insertafter": "EOF"}, text + "x\n", "line added"},
		{"after, there elsewhere", text, exectest.Args{"line": "one", "insertafter": "two"}, text, ""},
		{"after, regexp matches", text, exectest.Args{"regexp": "^t", "line": "t9", "insertafter": "one"}, "one\ntwo\nt9\n", "line replaced"},
		{"after, regexp does not match", text, exectest.Args{"regexp": "^x", "line": "x", "insertafter": "one"}, "one\nx\ntwo\nthree\n", "line added"},
		{"before", text, exectest.Args{"line": "x", "insertbefore": "^t"}, "one\ntwo\nx\nthree\n", "line added"},
		{"before the first", text, exectest.Args{"line": "x", "insertbefore": "^t", "firstmatch": true}, "one\nx\ntwo\nthree\n", "line added"},
		{"before nothing", text, exectest.Args{"line": "x", "insertbefore": "^x"}, text + "x\n", "line added"},
		{"before BOF", text, exectest.Args{"line": "x", "insertbefore": "BOF"}, "x\n" + text, "line added"},

		{"absent", text, exectest.Args{"line": "two", "state": "absent"}, "one\nthree\n", "1 line(s) removed"},
		{"absent, a part of a line", text, exectest.Args{"line": "tw", "state": "absent"}, text, ""},
		{"absent, all", "a\nb\na\n", exectest.Args{"line": "a", "state": "absent"}, "b\n", "2 line(s) removed"},
		{"absent, pattern", text, exectest.Args{"regexp": "^t", "state": "absent"}, "one\n", "2 line(s) removed"},
		{"absent, pattern and line", text, exectest.Args{"regexp": "^t", "line": "one", "state": "absent"}, "one\n", "2 line(s) removed"},
		{"absent, text", text, exectest.Args{"search_string": "e", "state": "absent"}, "two\n", "2 line(s) removed"},
		{"absent, all lines", text, exectest.Args{"regexp": "", "state": "absent"}, "", "3 line(s) removed"},

		{"CRLF", "a\r\nb\r\n", exectest.Args{"line": "c"}, "a\r\nb\r\nc\r\n", "line added"},
		{"CRLF, there", "a\r\nb\r\n", exectest.Args{"line": "b"}, "a\r\nb\r\n", ""},
		{"CRLF, replaced", "a\r\nb\r\n", exectest.Args{"regexp": "a$", "line": "c"}, "c\r\nb\r\n", "line replaced"},
		{"CRLF, absent", "a\r\nb\r\n", exectest.Args{"line": "b", "state": "absent"}, "a\r\n", "1 line(s) removed"},
		{"mixed ends", "a\nb\r\nc\n", exectest.Args{"line": "d", "insertafter": "b"}, "a\nb\r\nd\nc\n", "line added"},
		{"mixed ends, right already", "a\nb\r\nc\n", exectest.Args{"regexp": "^b", "line": "b"}, "a\nb\r\nc\n", ""},
		{"no end", "a\nb", exectest.Args{"line": "c"}, "a\nb\nc", "line added"},
		{"no end, there", "a\nb", exectest.Args{"line": "b"}, "a\nb", ""},
		{"no end, replaced", "a\nb", exectest.Args{"regexp": "^b", "line": "c"}, "a\nc", "line replaced"},
		{"no end, above", "a\nb", exectest.Args{"regexp": "^a", "line": "c"}, "c\nb", "line replaced"},
		{"no end, absent", "a\nb", exectest.Args{"line": "b", "state": "absent"}, "a", "1 line(s) removed"},
		{"not UTF-8", "caf\xe9\nb\n", exectest.Args{"regexp": "^b", "line": "c"}, "caf\xe9\nc\n", "line replaced"},
	})
}

func TestLineinfileFile(t *testing.T) {
	t.Run("new", func(t *testing.T) {
		dir := t.TempDir()
		r := settle(t, dir, "lineinfile", exectest.Args{"path": dir + "/f", "line": "a", "create": true, "mode": "0600"}, nil)
		if got := snapshot(t, dir); !strings.HasSuffix(got, "f -rw------- \"a\\n\"\n") || r.Diff.Kind != events.ChangeCreate || r.Fields["msg"] != "line added" {
			t.Errorf("%+v, %v, %s", r.Diff, r.Fields, got)
		}
	})
	t.Run("mode alone", func(t *testing.T) {
		dir := t.TempDir()
		exectest.WriteFile(t, dir+"/f", "a\n", 0o644)
		r := settle(t, dir, "lineinfile", exectest.Args{"path": dir + "/f", "line": "a", "mode": "0600"}, nil)
		if r.Diff.Summary != "mode 0644 → 0600" || r.Fields["msg"] != "" {
			t.Errorf("%+v, %v", r.Diff, r.Fields)
		}
	})
	t.Run("through a link", func(t *testing.T) {
		dir := t.TempDir()
		linkTo("f", "l")(t, dir)
		settle(t, dir, "lineinfile", exectest.Args{"path": dir + "/l", "line": "y"}, nil)
		if got := snapshot(t, dir); !strings.HasSuffix(got, "f -rw-r--r-- \"x\\ny\"\nl Lrwxrwxrwx -> f\n") {
			t.Error(got)
		}
	})
	t.Run("absent, no file", func(t *testing.T) {
		dir := t.TempDir()
		for _, path := range []string{dir + "/f", dir + "/no/f"} {
			r := settle(t, dir, "lineinfile", exectest.Args{"path": path, "line": "y", "state": "absent"}, nil)
			if r.Fields["msg"] != "file not present" || r.Fields["found"] != 0 {
				t.Errorf("%s: %v", path, r.Fields)
			}
		}
	})
	t.Run("found", func(t *testing.T) {
		dir := t.TempDir()
		exectest.WriteFile(t, dir+"/f", "a\nb\na\n", 0o644)
		r := settle(t, dir, "lineinfile", exectest.Args{"path": dir + "/f", "line": "a", "state": "absent", "backup": true}, nil)
		backup, _ := r.Fields["backup_file"].(string)
		if r.Fields["found"] != 2 || exectest.ReadFile(t, backup) != "a\nb\na\n" {
			t.Errorf("%v", r.Fields)
		}
	})
	t.Run("validate", func(t *testing.T) {
		dir := t.TempDir()
		exectest.WriteFile(t, dir+"/f", "a\n", 0o644)
		r := exectest.RunJob(t, exectest.NewJob(t, "lineinfile", exectest.Args{"path": dir + "/f", "line": "b", "validate": "grep -q c %s"}))
		exectest.WantOutcome(t, r, events.Failed, "validate: exit status 1")
		if exectest.ReadFile(t, dir+"/f") != "a\n" {
			t.Error("it took its place")
		}
		noTemps(t, dir)
	})
	t.Run("no_log", func(t *testing.T) {
		dir := t.TempDir()
		exectest.WriteFile(t, dir+"/f", "a\n", 0o644)
		job := exectest.NewJob(t, "lineinfile", exectest.Args{"path": dir + "/f", "line": "secret"})
		job.NoLog = true
		if r := exectest.RunJob(t, job); strings.Contains(fmt.Sprint(r, r.Diff), "secret") || exectest.ReadFile(t, dir+"/f") != "a\nsecret\n" {
			t.Errorf("%+v %+v", r, r.Diff)
		}
	})
}

func TestEditErrors(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		path string
		want string
	}{
		{"no file", nil, "f", "f does not exist; create: true makes it"},
		{"no directory", nil, "d/f", "d does not exist"},
		{"a directory", exectest.MakeDir("f", 0o755), "f", "f is a directory"},
		{"a pipe", exectest.MakePipe, "p", "p is neither a file nor a directory"},
		{"too large", func(t *testing.T, dir string) {
			t.Helper()
			exectest.MakeFile("f", "", 0o644)(t, dir)
			if err := os.Truncate(filepath.Join(dir, "f"), 300<<20); err != nil {
				t.Fatal(err)
			}
		}, "f", "f is too large to edit: 300 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.make != nil {
				tt.make(t, dir)
			}
			in := exectest.Args{"path": filepath.Join(dir, tt.path), "line": "x"}
			exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "lineinfile", in)), events.Failed, tt.want)
			d, err := exectest.PredictJob(t, exectest.NewJob(t, "lineinfile", in))
			if strings.HasPrefix(tt.name, "no ") != (err == nil && d.Kind == events.ChangeUnknown) {
				t.Errorf("in review it is %+v, %v", d, err)
			}
		})
	}
}

// TestEditsAtTheSameTime has steps of a loop edit one file, under two names: none may undo what another did.
func TestEditsAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	linkTo("f", "l")(t, dir)
	var all sync.WaitGroup
	for i := range 40 {
		job := exectest.NewJob(t, "lineinfile", exectest.Args{"path": filepath.Join(dir, []string{"f", "l"}[i%2]), "line": fmt.Sprintf("line %d", i)})
		if _, err := exectest.PredictJob(t, job); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if r := (exec.Local{}).Run(t.Context(), job); r.Outcome != events.Changed {
				t.Errorf("%v, %s", r.Outcome, r.Error)
			}
		})
	}
	all.Wait()
	if n := strings.Count(exectest.ReadFile(t, filepath.Join(dir, "f")), "line "); n != 40 {
		t.Errorf("%d of 40 lines are there", n)
	}
}

// texts are files of few different lines, with either end, the last perhaps without one.
func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "a b", "# a", " a", "\tb", "é"}), 0, 8).Draw(t, "lines")
		if len(lines) == 0 {
			return ""
		}
		text := strings.Join(lines, eol)
		if lines[len(lines)-1] == "" || rapid.Bool().Draw(t, "ended") {
			text += eol
		}
		return text
	})
}

// edits runs an action on a text and returns what it makes of it.
func edits(tb testing.TB, t *rapid.T, action, text string, in exectest.Args) (after string, changed bool) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "f")
	exectest.WriteFile(tb, path, text, 0o644)
	in["path"] = path
	r := exectest.RunJob(tb, exectest.NewJob(tb, action, in))
	if r.Error != "" {
		t.Fatalf("%v: %s", in, r.Error)
	}
	return exectest.ReadFile(tb, path), r.Outcome == events.Changed
}

// TestLineinfileProperties: to have the line twice changes nothing more, to have it away neither, and all other lines are
// what they were, byte for byte.
func TestLineinfileProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := texts().Draw(rt, "text")
		in := exectest.Args{"line": rapid.SampledFrom([]string{"a", "b", "new", ""}).Draw(rt, "line")}
		if place := rapid.SampledFrom([]string{"", "insertafter", "insertbefore"}).Draw(rt, "place"); place != "" {
			in[place] = rapid.SampledFrom([]string{"^a", "b$", "BOF", "EOF", "#"}).Draw(rt, "at")
		}
		in["firstmatch"] = rapid.Bool().Draw(rt, "firstmatch")
		once, changed := edits(t, rt, "lineinfile", text, in)
		if twice, again := edits(t, rt, "lineinfile", once, in); again || twice != once {
			rt.Fatalf("%q once gives %q, twice %q", text, once, twice)
		}
		in["state"] = "absent"
		gone, _ := edits(t, rt, "lineinfile", once, in)
		if twice, again := edits(t, rt, "lineinfile", gone, in); again || twice != gone {
			rt.Fatalf("absent once gives %q, twice %q", gone, twice)
		}
		if changed && in["line"] != "" && gone != text { // the line was not there before
			rt.Fatalf("%q with the line is %q, and without it again %q", text, once, gone)
		}
	})
}
