package exec_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"moon/exec"
	"moon/exec/exectest"
)

func TestEditor(t *testing.T) {
	tests := []struct {
		visual, editor string
		file           string
		line           int
		want           string
	}{
		{"", "vim", "/a/b.yml", 7, "vim +7 /a/b.yml"},
		{"", "vim", "/a/b.yml", 0, "vim /a/b.yml"},
		{"nvim -u NONE", "nano", "/a/b.yml", 7, "nvim -u NONE +7 /a/b.yml"},
		{"", "/usr/bin/nano", "/a/b c.yml", 1, "/usr/bin/nano +1 /a/b c.yml"},
		{"", "emacsclient -t", "x", 3, "emacsclient -t +3 x"},
		{"code", "vi", "/a", 3, "code --wait -g /a:3"},
		{"code --wait", "vi", "/a", 3, "code --wait -g /a:3"},
		{"code -w -g", "vi", "/a", 3, "code -w -g /a:3"},
		{"'/opt/My Editor/code' -n", "", "/a", 0, "/opt/My Editor/code -n --wait /a"},
		{"subl", "", "/a", 3, "subl -w /a:3"},
		{"hx", "", "/a", 3, "hx /a:3"},
		{"zed", "", "/a", 3, "zed --wait /a:3"},
		{"mate", "", "/a", 3, "mate -w -l 3 /a"},
		{"myeditor", "", "/a", 3, "myeditor /a"},
		{"vi", "", "-rf", 3, "vi +3 ./-rf"},
		{"kak 'broken", "nano", "/a", 2, "nano +2 /a"},
	}
	for _, tt := range tests {
		t.Setenv("VISUAL", tt.visual)
		t.Setenv("EDITOR", tt.editor)
		if got := strings.Join(exec.Editor(tt.file, tt.line).Args(), " "); got != tt.want {
			t.Errorf("VISUAL=%s EDITOR=%s: %s, want %s", tt.visual, tt.editor, got, tt.want)
		}
	}
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "")
	if got := exec.Editor("/a", 1).Args(); got[0] != "vi" && got[0] != "nano" {
		t.Errorf("fallback %q", got)
	}
}

func TestForegroundRuns(t *testing.T) {
	dir := t.TempDir()
	editor := filepath.Join(dir, "editor")
	exectest.WriteFile(t, editor, "#!/bin/sh\ncat\necho \"$@\"\necho err >&2\n", 0o755)
	t.Setenv("VISUAL", editor)
	e := exec.Editor("/a", 1)
	var out, errs bytes.Buffer
	e.SetStdin(strings.NewReader("typed\n"))
	e.SetStdout(&out)
	e.SetStderr(&errs)
	if err := e.Run(); err != nil || out.String() != "typed\n/a\n" || errs.String() != "err\n" {
		t.Errorf("%v, %q, %q", err, out.String(), errs.String())
	}
	t.Setenv("VISUAL", "nosucheditor")
	if err := exec.Editor("/a", 1).Run(); err == nil || err.Error() != "nosucheditor: command not found" {
		t.Errorf("error %v", err)
	}
	t.Setenv("SHELL", "/bin/sh")
	s := exec.Shell(dir)
	out.Reset()
	s.SetStdin(strings.NewReader("pwd; exit 3\n"))
	s.SetStdout(&out)
	want, _ := filepath.EvalSymlinks(dir)
	if err := s.Run(); err == nil || strings.TrimSpace(out.String()) != want {
		t.Errorf("%v, %q", err, out.String())
	}
}
