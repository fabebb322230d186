package exec_test

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
)

// edited is a case of an action that edits text.
type edited struct {
	name string
	text string
	in   args // without the path
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
			write(t, path, tt.text, 0o640)
			in := args{"path": path}
			maps.Copy(in, tt.in)
			r := settle(t, dir, action, in, nil)
			if got := read(t, path); got != tt.want {
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
		{"added at the end", text, args{"line": "four"}, text + "four\n", "line added"},
		{"there already", text, args{"line": "two"}, text, ""},
		{"there with spaces", text, args{"line": " two"}, text + " two\n", "line added"},
		{"into an empty file", "", args{"line": "a"}, "a\n", "line added"},
		{"an empty line", "a\n", args{"line": ""}, "a\n\n", "line added"},
		{"a line of a block of text", "a\n", args{"line": "b\n"}, "a\nb\n", "line added"},

		{"the last match", "a=1\nb=1\na=2\n", args{"regexp": "^a=", "line": "a=3"}, "a=1\nb=1\na=3\n", "line replaced"},
		{"the first match", "a=1\nb=1\na=2\n", args{"regexp": "^a=", "line": "a=3", "firstmatch": true}, "a=3\nb=1\na=2\n", "line replaced"},
		{"the last match is right", "a=1\na=2\n", args{"regexp": "^a=", "line": "a=2"}, "a=1\na=2\n", ""},
		{"no match", text, args{"regexp": "^a=", "line": "a=3"}, text + "a=3\n", "line added"},
		{"no match, there already", text, args{"regexp": "^a=", "line": "two"}, text, ""},
		{"the line does not match", "#a\n", args{"regexp": "^#a", "line": "a"}, "a\n", "line replaced"},
		{"groups are not filled in", "a=1\n", args{"regexp": "^a=(.*)", "line": `b=\1`}, "b=\\1\n", "line replaced"},
		{"the end of a line", "a b\na bc\n", args{"regexp": "b$", "line": "x"}, "x\na bc\n", "line replaced"},
		{"an empty pattern", text, args{"regexp": "", "line": "x"}, "one\ntwo\nx\n", "line replaced"},

		{"text", "a.b\naxb\n", args{"search_string": "a.b", "line": "c"}, "c\naxb\n", "line replaced"},
		{"text, no match", "axb\n", args{"search_string": "a.b", "line": "c"}, "axb\nc\n", "line added"},

		{"group", "port = 80\n", args{"regexp": `^(\w+) = \d+`, "line": `\1 = 81`, "backrefs": true}, "port = 81\n", "line replaced"},
		{"group by name", "port = 80\n", args{"regexp": `^(?P<key>\w+) = \d+`, "line": `\g<key> = 81`, "backrefs": true, "state": "present"}, "port = 81\n", "line replaced"},
		{"a group that took no part", "a\n", args{"regexp": `^a(b)?$`, "line": `x\1`, "backrefs": true}, "x\n", "line replaced"},
		{"group, no match", text, args{"regexp": `^(a)=`, "line": `\1=2`, "backrefs": true}, text, ""},
		{"group, no match, with a place", text, args{"regexp": `^(a)=`, "line": `\1=2`, "backrefs": true, "insertbefore": "BOF"}, text, ""},
		{"escapes", "a\n", args{"regexp": `^a$`, "line": `b\tc\\d`, "backrefs": true}, "b\tc\\d\n", "line replaced"},

		{"after", text, args{"line": "x", "insertafter": "^(one|two)"}, "one\ntwo\nx\nthree\n", "line added"},
		{"after the first", text, args{"line": "x", "insertafter": "^(one|two)", "firstmatch": true}, "one\nx\ntwo\nthree\n", "line added"},
		{"after the last line", text, args{"line": "x", "insertafter": "three"}, text + "x\n", "line added"},
		{"after nothing", text, args{"line": "x", "insertafter": "four"}, text + "x\n", "line added"},
		{"after EOF", text, args{"line": "x", "insertafter": "EOF"}, text + "x\n", "line added"},
		{"after, there elsewhere", text, args{"line": "one", "insertafter": "two"}, text, ""},
		{"after, regexp matches", text, args{"regexp": "^t", "line": "t9", "insertafter": "one"}, "one\ntwo\nt9\n", "line replaced"},
		{"after, regexp does not match", text, args{"regexp": "^x", "line": "x", "insertafter": "one"}, "one\nx\ntwo\nthree\n", "line added"},
		{"before", text, args{"line": "x", "insertbefore": "^t"}, "one\ntwo\nx\nthree\n", "line added"},
		{"before the first", text, args{"line": "x", "insertbefore": "^t", "firstmatch": true}, "one\nx\ntwo\nthree\n", "line added"},
		{"before nothing", text, args{"line": "x", "insertbefore": "^x"}, text + "x\n", "line added"},
		{"before BOF", text, args{"line": "x", "insertbefore": "BOF"}, "x\n" + text, "line added"},

		{"absent", text, args{"line": "two", "state": "absent"}, "one\nthree\n", "1 line(s) removed"},
		{"absent, a part of a line", text, args{"line": "tw", "state": "absent"}, text, ""},
		{"absent, all", "a\nb\na\n", args{"line": "a", "state": "absent"}, "b\n", "2 line(s) removed"},
		{"absent, pattern", text, args{"regexp": "^t", "state": "absent"}, "one\n", "2 line(s) removed"},
		{"absent, pattern and line", text, args{"regexp": "^t", "line": "one", "state": "absent"}, "one\n", "2 line(s) removed"},
		{"absent, text", text, args{"search_string": "e", "state": "absent"}, "two\n", "2 line(s) removed"},
		{"absent, all lines", text, args{"regexp": "", "state": "absent"}, "", "3 line(s) removed"},

		{"CRLF", "a\r\nb\r\n", args{"line": "c"}, "a\r\nb\r\nc\r\n", "line added"},
		{"CRLF, there", "a\r\nb\r\n", args{"line": "b"}, "a\r\nb\r\n", ""},
		{"CRLF, replaced", "a\r\nb\r\n", args{"regexp": "a$", "line": "c"}, "c\r\nb\r\n", "line replaced"},
		{"CRLF, absent", "a\r\nb\r\n", args{"line": "b", "state": "absent"}, "a\r\n", "1 line(s) removed"},
		{"mixed ends", "a\nb\r\nc\n", args{"line": "d", "insertafter": "b"}, "a\nb\r\nd\nc\n", "line added"},
		{"mixed ends, right already", "a\nb\r\nc\n", args{"regexp": "^b", "line": "b"}, "a\nb\r\nc\n", ""},
		{"no end", "a\nb", args{"line": "c"}, "a\nb\nc", "line added"},
		{"no end, there", "a\nb", args{"line": "b"}, "a\nb", ""},
		{"no end, replaced", "a\nb", args{"regexp": "^b", "line": "c"}, "a\nc", "line replaced"},
		{"no end, above", "a\nb", args{"regexp": "^a", "line": "c"}, "c\nb", "line replaced"},
		{"no end, absent", "a\nb", args{"line": "b", "state": "absent"}, "a", "1 line(s) removed"},
		{"not UTF-8", "caf\xe9\nb\n", args{"regexp": "^b", "line": "c"}, "caf\xe9\nc\n", "line replaced"},
	})
}

func TestLineinfileFile(t *testing.T) {
	t.Run("new", func(t *testing.T) {
		dir := t.TempDir()
		r := settle(t, dir, "lineinfile", args{"path": dir + "/f", "line": "a", "create": true, "mode": "0600"}, nil)
		if got := snapshot(t, dir); !strings.HasSuffix(got, "f -rw------- \"a\\n\"\n") || r.Diff.Kind != events.ChangeCreate || r.Fields["msg"] != "line added" {
			t.Errorf("%+v, %v, %s", r.Diff, r.Fields, got)
		}
	})
	t.Run("mode alone", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir+"/f", "a\n", 0o644)
		r := settle(t, dir, "lineinfile", args{"path": dir + "/f", "line": "a", "mode": "0600"}, nil)
		if r.Diff.Summary != "mode 0644 → 0600" || r.Fields["msg"] != "" {
			t.Errorf("%+v, %v", r.Diff, r.Fields)
		}
	})
	t.Run("through a link", func(t *testing.T) {
		dir := t.TempDir()
		linkTo("f", "l")(t, dir)
		settle(t, dir, "lineinfile", args{"path": dir + "/l", "line": "y"}, nil)
		if got := snapshot(t, dir); !strings.HasSuffix(got, "f -rw-r--r-- \"x\\ny\"\nl Lrwxrwxrwx -> f\n") {
			t.Error(got)
		}
	})
	t.Run("absent, no file", func(t *testing.T) {
		dir := t.TempDir()
		for _, path := range []string{dir + "/f", dir + "/no/f"} {
			r := settle(t, dir, "lineinfile", args{"path": path, "line": "y", "state": "absent"}, nil)
			if r.Fields["msg"] != "file not present" || r.Fields["found"] != 0 {
				t.Errorf("%s: %v", path, r.Fields)
			}
		}
	})
	t.Run("found", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir+"/f", "a\nb\na\n", 0o644)
		r := settle(t, dir, "lineinfile", args{"path": dir + "/f", "line": "a", "state": "absent", "backup": true}, nil)
		backup, _ := r.Fields["backup_file"].(string)
		if r.Fields["found"] != 2 || read(t, backup) != "a\nb\na\n" {
			t.Errorf("%v", r.Fields)
		}
	})
	t.Run("validate", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir+"/f", "a\n", 0o644)
		r := run(t, newJob(t, "lineinfile", args{"path": dir + "/f", "line": "b", "validate": "grep -q c %s"}))
		want(t, r, events.Failed, "validate: exit status 1")
		if read(t, dir+"/f") != "a\n" {
			t.Error("it took its place")
		}
		noTemps(t, dir)
	})
	t.Run("no_log", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir+"/f", "a\n", 0o644)
		job := newJob(t, "lineinfile", args{"path": dir + "/f", "line": "secret"})
		job.NoLog = true
		if r := run(t, job); strings.Contains(fmt.Sprint(r, r.Diff), "secret") || read(t, dir+"/f") != "a\nsecret\n" {
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
		{"a directory", mkdir("f", 0o755), "f", "f is a directory"},
		{"a pipe", pipe, "p", "p is neither a file nor a directory"},
		{"too large", func(t *testing.T, dir string) {
			t.Helper()
			touch("f", "", 0o644)(t, dir)
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
			in := args{"path": filepath.Join(dir, tt.path), "line": "x"}
			want(t, run(t, newJob(t, "lineinfile", in)), events.Failed, tt.want)
			d, err := check(t, newJob(t, "lineinfile", in))
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
		job := newJob(t, "lineinfile", args{"path": filepath.Join(dir, []string{"f", "l"}[i%2]), "line": fmt.Sprintf("line %d", i)})
		if _, err := check(t, job); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if r := (exec.Local{}).Run(t.Context(), job); r.Outcome != events.Changed {
				t.Errorf("%v, %s", r.Outcome, r.Error)
			}
		})
	}
	all.Wait()
	if n := strings.Count(read(t, filepath.Join(dir, "f")), "line "); n != 40 {
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
func edits(tb testing.TB, t *rapid.T, action, text string, in args) (after string, changed bool) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "f")
	write(tb, path, text, 0o644)
	in["path"] = path
	r := run(tb, newJob(tb, action, in))
	if r.Error != "" {
		t.Fatalf("%v: %s", in, r.Error)
	}
	return read(tb, path), r.Outcome == events.Changed
}

// TestLineinfileProperties: to have the line twice changes nothing more, to have it away neither, and all other lines are
// what they were, byte for byte.
func TestLineinfileProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := texts().Draw(rt, "text")
		in := args{"line": rapid.SampledFrom([]string{"a", "b", "new", ""}).Draw(rt, "line")}
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
