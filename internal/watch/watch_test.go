package watch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"moon/internal/watch"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWait changes files in the ways of editors and programs, next to files that are not waited for.
func TestWait(t *testing.T) {
	dir := t.TempDir()
	site, missing, other := filepath.Join(dir, "site.yml"), filepath.Join(dir, "missing.yml"), filepath.Join(dir, "log")
	deep := filepath.Join(dir, "src", "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, site, "a")
	w, err := watch.New()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // the test is over
	want := watch.Wanted{Files: []string{site, missing}, Patterns: []string{filepath.Join(dir, "src", "**", "*.go")}}
	if err := w.Follow(want); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func()
		want   string
	}{
		"written":    {func() { write(t, site, "b") }, site},
		"created":    {func() { write(t, missing, "b") }, missing},
		"pattern":    {func() { write(t, filepath.Join(deep, "x.go"), "b") }, filepath.Join(deep, "x.go")},
		"replaced":   {func() { write(t, site+".new", "c"); rename(t, site+".new", site) }, site},
		"not others": {func() { write(t, other, "x"); write(t, filepath.Join(deep, "x.txt"), "b"); write(t, site, "d") }, site},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		c.change()
		changed, err := w.Wait(ctx)
		cancel()
		if err != nil || !slices.Equal(changed, []string{c.want}) {
			t.Errorf("%s: %v, %v", name, changed, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	write(t, other, "y")
	if err := os.Chmod(site, 0o640); err != nil {
		t.Fatal(err)
	}
	if changed, err := w.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a log and a mode count: %v, %v", changed, err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
