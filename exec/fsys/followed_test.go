package fsys

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFollowedGoesUpAsTheSystemDoes has links whose targets have .. behind other links: it leads up from where those lead to.
func TestFollowedGoesUpAsTheSystemDoes(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a", "b/c/d", "b/e"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"x", "a/x", "b/x", "b/c/x", "b/e/x"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"a/dir":     "../b/c",        // a/dir is b/c
		"b/c/up":    "../x",          // as seen through a/dir
		"a/deep":    "dir/d/../../x", // dir/d/../.. is b, and not a
		"a/whole":   root + "/a/dir/../x",
		"a/plain":   "x",
		"a/parents": "dir/..",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"a/dir/up": "b/x", "a/deep": "b/x", "a/whole": "b/x", "a/plain": "a/x", "a/dir/x": "b/c/x", "a/parents/e/x": "b/e/x",
	} {
		system, err := filepath.EvalSymlinks(filepath.Join(root, path))
		if err != nil || system != filepath.Join(root, want) {
			t.Fatalf("%s leads to %s, %v", path, system, err)
		}
		for _, overlay := range []*Overlay{nil, NewOverlay()} {
			p, e, err := overlay.Followed(filepath.Join(root, path))
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			text, err := p.Read(e)
			p.Close()
			if err != nil || string(text) != want {
				t.Errorf("%s leads to %s, %v; want %s", path, text, err, want)
			}
		}
	}
	p, e, err := (*Overlay)(nil).Followed(filepath.Join(root, "a/parents"))
	if err != nil || e.Kind != Directory || p.Path != filepath.Join(root, "b") {
		t.Errorf("a/parents leads to %v, %v", e, err)
	}
	p.Close()
}
