package exec_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/exec"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-48 * time.Hour)
	for _, name := range []string{"b.log", "a.log", "a.txt", ".hidden", "d/c.log", "d/e/f.log", "x[1]"} {
		path := filepath.Join(dir, name)
		write(t, path, "first\nport = 80\n", 0o644)
		if name == "a.log" {
			write(t, path, strings.Repeat("x", 2048), 0o644)
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
		in   args
		want string
	}{
		{"files", args{}, "a.log a.txt b.log x[1]"},
		{"pattern", args{"patterns": "*.log"}, "a.log b.log"},
		{"patterns with commas", args{"patterns": "*.txt, b*"}, "a.txt b.log"},
		{"a list of patterns", args{"patterns": []any{"?.txt", "[!a].log"}}, "a.txt b.log"},
		{"a pattern is the whole name", args{"patterns": "a"}, ""},
		{"a bracket", args{"patterns": "x[[]1]"}, "x[1]"},
		{"regular expressions", args{"patterns": []any{`[ab]\.l`}, "use_regex": true}, "a.log b.log"},
		{"regular expressions begin where the name does", args{"patterns": []any{"log"}, "use_regex": true}, ""},
		{"excludes", args{"excludes": "a.*"}, "b.log x[1]"},
		{"hidden", args{"hidden": true, "patterns": ".*"}, ".hidden"},
		{"below", args{"recurse": true, "patterns": "*.log"}, "a.log b.log d/c.log d/e/f.log"},
		{"depth", args{"recurse": true, "depth": 2, "patterns": "*.log"}, "a.log b.log d/c.log"},
		{"through links, and not around", args{"recurse": true, "follow": true, "patterns": "f.log"}, "away/f.log d/e/f.log"},
		{"directories", args{"file_type": "directory", "recurse": true}, "d d/e"},
		{"links", args{"file_type": "link", "recurse": true}, "away d/up l"},
		{"any", args{"file_type": "any"}, "a.log a.txt away b.log d l x[1]"},
		{"old", args{"age": "1d"}, "b.log"},
		{"young", args{"age": "-1d"}, "a.log a.txt x[1]"},
		{"large", args{"size": "2k"}, "a.log"},
		{"small", args{"size": "-2047"}, "a.txt b.log x[1]"},
		{"contains", args{"contains": `port\s*=`}, "a.txt b.log x[1]"},
		{"contains, inside of a line", args{"contains": "80"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in["paths"] = []any{dir}
			r := exec.DryRun{}.Run(t.Context(), newJob(t, "find", tt.in))
			want(t, r, events.OK, "")
			var got []string
			files, _ := r.Fields["files"].([]any)
			for _, f := range files {
				path, _ := f.(args)["path"].(string)
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
	write(t, filepath.Join(dir, "f"), "text\n", 0o640)
	r := run(t, newJob(t, "find", args{"paths": []any{dir + "/no", dir}, "get_checksum": true}))
	skipped, _ := r.Fields["skipped_paths"].(args)
	files, _ := r.Fields["files"].([]any)
	if len(files) != 1 || skipped[dir+"/no"] != "does not exist" || len(r.Warnings) != 1 || r.Fields["examined"] != 1 {
		t.Fatalf("%v, %v", r.Fields, r.Warnings)
	}
	if f := files[0].(args); f["mode"] != "0640" || f["size"] != 5 || f["checksum"] != "aa785adca3fcdfe1884ae840e13c6d294a2414e8" {
		t.Errorf("%v", f)
	}
}
