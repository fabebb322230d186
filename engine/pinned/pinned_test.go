package pinned

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moon/plan/source"
)

// TestLinks reads files of a directory by links in it: those that lead where they did when it was approved, to a file that was.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(os.MkdirAll(at("tree/a"), 0o700))
	do(os.WriteFile(at("tree/a/one"), []byte("one"), 0o600))
	do(os.WriteFile(at("tree/a/two"), []byte("two"), 0o600))
	do(os.WriteFile(at("outside"), []byte("outside"), 0o600))
	do(os.Symlink("a/one", at("tree/file")))
	do(os.Symlink("a", at("tree/dir")))
	do(os.Symlink("a/one", at("tree/turned")))
	do(os.Symlink("../outside", at("tree/out")))
	do(os.Symlink("tree", at("way"))) // the step may name the directory by a link
	now, err := source.Look(at("way"), false)
	do(err)
	files := New()
	files.Pin(now)
	do(os.Remove(at("tree/turned")))
	do(os.Symlink("a/two", at("tree/turned")))
	do(os.Symlink("a/one", at("tree/new")))
	for name, want := range map[string]string{
		"file": "one", "dir/two": "two", "a/one": "one", "turned": "", "out": "", "new": "",
	} {
		f, err := files.Open(at("way/" + name))
		if err != nil {
			if want != "" || !strings.Contains(err.Error(), "has changed since the plan was approved") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if text, err := io.ReadAll(f); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		do(f.Close())
	}
	// What is behind a link is held to what it was, too.
	do(os.WriteFile(at("tree/a/one"), []byte("other"), 0o600))
	f, err := files.Open(at("way/file"))
	do(err)
	if _, err := io.ReadAll(f); err == nil {
		t.Error("a file that was edited was read by a link")
	}
	do(f.Close())
}
