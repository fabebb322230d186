package fsys

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"moon/exec/spec"
)

// TestLabels gives files contexts, as on a machine with SELinux. That only root may do, and on few file systems in containers.
func TestLabels(t *testing.T) {
	was := labelled
	labelled = func() bool { return true }
	defer func() { labelled = was }()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	set := func(context string) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if err := setContext(int(f.Fd()), context); err != nil {
			t.Skip("no contexts here:", err)
		}
	}
	set("system_u:object_r:etc_t:s0:c1,c2")
	look := func() (*Anchored, Entry) {
		p, e, err := (*Overlay)(nil).Followed(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p, e
	}
	p, e := look()
	at, err := (*Overlay)(nil).NewAttributes(spec.Mode{}, "", "", spec.FileAttributes{Labels: spec.Labels{SEType: "shadow_t"}})
	if err != nil {
		t.Fatal(err)
	}
	w, words := at.For(e)
	if len(words) != 1 || words[0] != "context system_u:object_r:etc_t:s0:c1,c2 → system_u:object_r:shadow_t:s0:c1,c2" {
		t.Error(words)
	}
	if err := w.Set(p.Dir, p.Name, e); err != nil {
		t.Fatal(err)
	}
	p, e = look()
	if _, words = at.For(e); len(words) > 0 {
		t.Error("again:", words)
	}
	// A file with new content keeps the context of the old one, and not that of its directory.
	r := Replacement{At: p, Old: e, Want: Wanted{Mode: 0o600, UID: -1, GID: -1}, From: Source{Data: []byte("new"), Size: 3}}
	if _, err := r.Apply(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, e = look(); e.Context != "system_u:object_r:shadow_t:s0:c1,c2" {
		t.Error(e.Context)
	}
	if _, err := (*Overlay)(nil).NewAttributes(spec.Mode{}, "", "", spec.FileAttributes{Labels: spec.Labels{SEUser: "_default"}}); err == nil {
		t.Error("the policy was asked for nothing")
	}
}

// TestInPlace writes into a file whose directory lets nothing take its place.
func TestInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old and long"), 0o644); err != nil {
		t.Fatal(err)
	}
	p, e, err := (*Overlay)(nil).Followed(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := Replacement{At: p, Old: e, Want: Wanted{Mode: 0o600, UID: -1, GID: -1}, From: Source{Data: []byte("new"), Size: 3}}
	m, err := r.writeInto(context.Background())
	if err != nil || m.Checksum != "c2a6b03f190dfb2b4aa91f8af8d477a9bc3401dc" {
		t.Fatal(m, err)
	}
	now, err := os.Stat(path)
	if text, _ := os.ReadFile(path); err != nil || string(text) != "new" || !os.SameFile(now, e.Info) || now.Mode() != 0o600 {
		t.Errorf("%q %v %v", text, now.Mode(), err)
	}
	if err := os.Rename(path, path+".other"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("swapped"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.writeInto(context.Background()); err == nil {
		t.Error("another file was written into")
	}
}
