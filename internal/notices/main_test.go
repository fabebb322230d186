package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotices collects the licences of modules and of packages inside them, each once, and refuses a module without any.
func TestNotices(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go/LICENSE": "the licence of Go\n", "a/LICENSE.md": "the licence of a\n", "a/NOTICE": "a thanks b\n", "a/license.go": "package a\n",
		"a/inner/COPYING": "taken from c\n", "a/inner/deep/x.go": "package deep\n", "a/other/LICENSE": "not linked\n", "none/x.go": "package none\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(lines string) (string, string) {
		var out strings.Builder
		in := strings.NewReader(strings.ReplaceAll(lines, "DIR", dir))
		if err := run([]string{filepath.Join(dir, "go")}, in, &out); err != nil {
			return "", strings.ReplaceAll(err.Error(), dir, "DIR")
		}
		return out.String(), ""
	}
	text, said := call("\nexample.com/a v1.0.0 DIR/a DIR/a\nexample.com/a v1.0.0 DIR/a DIR/a/inner/deep\n")
	if said != "" {
		t.Fatal(said)
	}
	for _, want := range []string{"the licence of Go", "example.com/a v1.0.0", "the licence of a", "a thanks b", "taken from c"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is there %d times:\n%s", want, strings.Count(text, want), text)
		}
	}
	for _, wrong := range []string{"package", "not linked"} {
		if strings.Contains(text, wrong) {
			t.Errorf("%q is there:\n%s", wrong, text)
		}
	}
	for lines, want := range map[string]string{
		"example.com/none v1 DIR/none DIR/none\n": "example.com/none v1 has no file with a licence in DIR/none",
		"example.com/none v1\n":                   `"example.com/none v1" is not a module, its version, its directory and that of a package`,
		"\n":                                      "no module came on standard input",
	} {
		if _, said := call(lines); said != want {
			t.Errorf("%q: %q, want %q", lines, said, want)
		}
	}
}
