package action_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-48 * time.Hour)
	for _, name := range []string{"b.log", "a.log", "a.txt", ".hidden", "d/c.log", "d/e/f.log", "x[1]"} {
		path := filepath.Join(dir, name)
		exectest.WriteFile(t, path, "first\nport = 80\n", 0o644)
		if name == "a.log" {
			exectest.WriteFile(t, path, strings.Repeat("x", 2048), 0o644)
		}
		if name == "b.log" {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	for link, to := range map[string]string{"l": "a.txt", "d/up": "..", "away": "d/e"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name string
		in   exectest.Args
		want string
	}{
		{"files", exectest.Args{}, "a.log a.txt b.log x[1]"},
		{"pattern", exectest.Args{"patterns": "*.log"}, "a.log b.log"},
		{"patterns with commas", exectest.Args{"patterns": "*.txt, b*"}, "a.txt b.log"},
		{"a list of patterns", exectest.Args{"patterns": []any{"?.txt", "[!a].log"}}, "a.txt b.log"},
		{"a pattern is the whole name", exectest.Args{"patterns": "a"}, ""},
		{"a bracket", exectest.Args{"patterns": "x[[]1]"}, "x[1]"},
		{"regular expressions", exectest.Args{"patterns": []any{`[ab]\.l`}, "use_regex": true}, "a.log b.log"},
		{"regular expressions begin where the name does", exectest.Args{"patterns": []any{"log"}, "use_regex": true}, ""},
		{"excludes", exectest.Args{"excludes": "a.*"}, "b.log x[1]"},
		{"hidden", exectest.Args{"hidden": true, "patterns": ".*"}, ".hidden"},
		{"below", exectest.Args{"recurse": true, "patterns": "*.log"}, "a.log b.log d/c.log d/e/f.log"},
		{"depth", exectest.Args{"recurse": true, "depth": 2, "patterns": "*.log"}, "a.log b.log d/c.log"},
		{"through links, and not around", exectest.Args{"recurse": true, "follow": true, "patterns": "f.log"}, "away/f.log d/e/f.log"},
		{"directories", exectest.Args{"file_type": "directory", "recurse": true}, "d d/e"},
		{"links", exectest.Args{"file_type": "link", "recurse": true}, "away d/up l"},
		{"any", exectest.Args{"file_type": "any"}, "a.log a.txt away b.log d l x[1]"},
		{"old", exectest.Args{"age": "1d"}, "b.log"},
		{"young", exectest.Args{"age": "-1d"}, "a.log a.txt x[1]"},
		{"large", exectest.Args{"size": "2k"}, "a.log"},
		{"small", exectest.Args{"size": "-2047"}, "a.txt b.log x[1]"},
		{"contains", exectest.Args{"contains": `port\s*=`}, "a.txt b.log x[1]"},
		{"contains, inside of a line", exectest.Args{"contains": "80"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in["paths"] = []any{dir}
			r := exec.DryRun{}.Run(t.Context(), exectest.NewJob(t, "find", tt.in))
			exectest.WantOutcome(t, r, events.OK, "")
			var got []string
			files, _ := r.Fields["files"].([]any)
			for _, f := range files {
				path, _ := f.(exectest.Args)["path"].(string)
				got = append(got, strings.TrimPrefix(path, dir+"/"))
			}
			if strings.Join(got, " ") != tt.want || r.Fields["matched"] != len(got) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFindSkips(t *testing.T) {
	dir := t.TempDir()
	exectest.WriteFile(t, filepath.Join(dir, "f"), "text\n", 0o640)
	r := exectest.RunJob(t, exectest.NewJob(t, "find", exectest.Args{"paths": []any{dir + "/no", dir}, "get_checksum": true}))
	skipped, _ := r.Fields["skipped_paths"].(exectest.Args)
	files, _ := r.Fields["files"].([]any)
	if len(files) != 1 || skipped[dir+"/no"] != "does not exist" || len(r.Warnings) != 1 || r.Fields["examined"] != 1 {
		t.Fatalf("%v, %v", r.Fields, r.Warnings)
	}
	if f := files[0].(exectest.Args); f["mode"] != "0640" || f["size"] != 5 || f["checksum"] != "aa785adca3fcdfe1884ae840e13c6d294a2414e8" {
		t.Errorf("%v", f)
	}
}
