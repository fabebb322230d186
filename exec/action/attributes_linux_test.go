package action_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moon/events"
	"moon/exec"
	"moon/exec/exectest"
)

// TestAttributes gives attributes of the file system by each kind of action that writes files: predicted first, then set, then found.
func TestAttributes(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// Whether this file system has attributes at all is what a first step finds out.
	probe := exectest.RunJob(t, exectest.NewJob(t, "file", exectest.Args{"path": put("probe", ""), "attributes": "+d"}))
	if probe.Outcome == events.Failed && strings.Contains(probe.Error, "has no attributes") {
		t.Skip(probe.Error)
	}
	flagsOf := func(path string) []any {
		r := exectest.RunJob(t, exectest.NewJob(t, "stat", exectest.Args{"path": path}))
		fields, _ := r.Fields["stat"].(exectest.Args)
		list, _ := fields["attributes"].([]any)
		return list
	}
	if flagsOf(filepath.Join(dir, "probe")) == nil {
		t.Fatal("the attribute that was set is not read back")
	}
	put("parts/1", "one\n")
	put("tree/sub/file", "x\n")
	put("in/a", "x\n")
	archive := filepath.Join(dir, "in.tar")
	exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, "archive", exectest.Args{
		"path": filepath.Join(dir, "in"), "dest": archive,
		"format": "tar",
	})), events.Changed, "")
	for _, tt := range []struct {
		action string
		in     exectest.Args
		where  []string // "": where the action's path is
		words  string
	}{
		{"file", exectest.Args{"path": "new/dir", "state": "directory"}, []string{"new", "new/dir"}, "attributes +d"},
		{"file", exectest.Args{"path": "touched", "state": "touch", "access_time": "preserve", "modification_time": "preserve"}, []string{"touched"}, ""},
		{"file", exectest.Args{"path": put("there", ""), "state": "file"}, []string{"there"}, "→ d"},
		{"file", exectest.Args{"path": "tree", "state": "directory", "recurse": true}, []string{"tree", "tree/sub", "tree/sub/file"}, "entries"},
		{"copy", exectest.Args{"dest": "copied", "content": "x\n"}, []string{"copied"}, ""},
		{"copy", exectest.Args{"src": filepath.Join(dir, "parts") + "/", "dest": "copies"}, []string{"copies/1"}, ""},
		{"lineinfile", exectest.Args{"path": put("lines", "a\n"), "line": "b"}, []string{"lines"}, ""},
		{"blockinfile", exectest.Args{"path": put("block", "a\n"), "block": "b"}, []string{"block"}, ""},
		{"replace", exectest.Args{"path": put("replaced", "a\n"), "regexp": "a", "replace": "b"}, []string{"replaced"}, ""},
		{"ini_file", exectest.Args{"path": put("ini", "a=1\n"), "section": "s", "option": "o", "value": "1"}, []string{"ini"}, ""},
		{"assemble", exectest.Args{"src": filepath.Join(dir, "parts"), "dest": "assembled"}, []string{"assembled"}, ""},
		{"get_url", exectest.Args{"url": "file://" + filepath.Join(dir, "parts/1"), "dest": "got"}, []string{"got"}, ""},
		{"unarchive", exectest.Args{"src": archive, "dest": dir}, []string{"in", "in/a"}, ""},
	} {
		for _, name := range []string{"path", "dest"} {
			if path, ok := tt.in[name].(string); ok && !filepath.IsAbs(path) {
				tt.in[name] = filepath.Join(dir, path)
			}
		}
		tt.in["attributes"] = "+d"
		name := tt.action + " " + tt.where[0]
		dry := exec.DryRun{}.Run(t.Context(), exectest.NewJob(t, tt.action, tt.in))
		if dry.Outcome != events.Changed || !strings.Contains(dry.Diff.Summary, tt.words) {
			t.Errorf("%s: a dry run says %v %+v %s", name, dry.Outcome, dry.Diff, dry.Error)
		}
		exectest.WantOutcome(t, exectest.RunJob(t, exectest.NewJob(t, tt.action, tt.in)), events.Changed, "")
		for _, where := range tt.where {
			if flags := flagsOf(filepath.Join(dir, where)); !slices.Contains(flags, any("nodump")) {
				t.Errorf("%s: %s has %v", name, where, flags)
			}
		}
		if again := exectest.RunJob(t, exectest.NewJob(t, tt.action, tt.in)); again.Outcome != events.OK {
			t.Errorf("%s again: %v %+v %s", name, again.Outcome, again.Diff, again.Error)
		}
	}
}
