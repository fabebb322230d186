package fsys

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"moon/exec/spec"
)

// TestFlagLetters reads the letters that spec lets playbooks write, each of which must have a bit of its own.
func TestFlagLetters(t *testing.T) {
	seen := uint32(0)
	for _, f := range flagLetters {
		if f.bit == 0 || seen&f.bit != 0 {
			t.Errorf("%c has no bit of its own", f.letter)
		}
		seen |= f.bit
		_, wrong := spec.FileAttributes{Attributes: "+" + string(f.letter)}.FlagEdit()
		if settable := !strings.ContainsRune("EINV", rune(f.letter)); settable != (wrong == nil) {
			t.Errorf("%c can be set: %v, %v", f.letter, settable, wrong)
		}
	}
	for text, want := range map[string]string{"+i": "iae", "-a": "e", "=d": "d", "dA": "dA", "=": ""} {
		edit, wrong := spec.FileAttributes{Attributes: text}.FlagEdit()
		if got := letters(editFlags(edit, flagBits("ae"))); wrong != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, wrong)
		}
	}
}

// flagged is a place with a file in a directory whose file system has attributes.
func flagged(t *testing.T) (path string, look func() (*Anchored, Entry)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	look = func() (*Anchored, Entry) {
		p, e, err := (*Overlay)(nil).Followed(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p, e
	}
	p, e := look()
	if err := (Wanted{Flags: spec.FlagEdit{Sign: '+', Letters: "d"}}).SetFlags(p.Dir, p.Name, e); errors.Is(err, errNoFlags) {
		t.Skip("no attributes here:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return path, look
}

func TestFlags(t *testing.T) {
	path, look := flagged(t)
	p, e := look()
	add := Attributes{UID: -1, GID: -1, Flags: spec.FlagEdit{Sign: '+', Letters: "dA"}}
	w, words := add.For(e)
	if len(words) != 1 || !strings.HasPrefix(words[0], "attributes d") || !strings.Contains(words[0], "→ dA") {
		t.Fatal(words)
	}
	if err := w.Set(p.Dir, p.Name, e); err != nil {
		t.Fatal(err)
	}
	p, e = look()
	if _, words := add.For(e); len(words) > 0 {
		t.Error("again:", words)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if text, names, _, err := FileFlags(f); err == nil && (!strings.HasPrefix(text, "dA") || names[0] != "nodump" || names[1] != "noatime") {
		t.Error(text, names)
	}
	// A new file in its place has none of the old one's attributes, but those that the step asks for.
	r := Replacement{
		At: p, Old: e, Want: Wanted{Mode: 0o600, UID: -1, GID: -1, Flags: spec.FlagEdit{Sign: '+', Letters: "A"}},
		From: Source{Data: []byte("new"), Size: 3},
	}
	if _, err := r.Apply(context.Background()); err != nil {
		t.Fatal(err)
	}
	p, e = look()
	if at := flagsAt(p.Dir, p.Name, e); letters(at.bits&flagBits("dA")) != "A" {
		t.Error(letters(at.bits))
	}
}

// TestImmutable puts nothing in the place of a file that may not be changed, and says why. Only root may make one.
func TestImmutable(t *testing.T) {
	_, look := flagged(t)
	p, e := look()
	fix := Wanted{Flags: spec.FlagEdit{Sign: '+', Letters: "i"}}
	if err := fix.SetFlags(p.Dir, p.Name, e); errors.Is(err, syscall.EPERM) {
		t.Skip("not permitted:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	loosen := Wanted{Mode: e.Mode, UID: e.UID, GID: e.GID, Flags: spec.FlagEdit{Sign: '-', Letters: "i"}}
	t.Cleanup(func() { _ = loosen.SetFlags(p.Dir, p.Name, e) })
	r := Replacement{At: p, Old: e, Want: Wanted{Mode: 0o644, UID: -1, GID: -1}, From: Source{Data: []byte("new"), Size: 3}, Backup: true}
	_, err := r.Apply(context.Background())
	if err == nil || !strings.Contains(err.Error(), "attributes: -i}") {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(p.Path), "*")); len(left) != 1 {
		t.Error("left behind:", left)
	}
	// Owner and mode come first, as with Ansible: a step that takes the attribute away and changes the mode fails.
	w := loosen
	w.Mode = 0o600
	if err := w.Set(p.Dir, p.Name, e); !errors.Is(err, syscall.EPERM) {
		t.Error(err)
	}
	if err := loosen.Set(p.Dir, p.Name, e); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestFlagsPredicted compares a second step of a dry run with what the first would do.
func TestFlagsPredicted(t *testing.T) {
	path, look := flagged(t)
	p, e := look()
	f := NewOverlay()
	at := Attributes{UID: -1, GID: -1, Flags: spec.FlagEdit{Sign: '+', Letters: "A"}}
	w, _ := at.For(e)
	f.Own(p.Path, e, w)
	if is, ok := f.Look(path); !ok || letters(is.flags.bits&flagBits("dA")) != "dA" {
		t.Error(is, ok)
	} else if _, words := at.For(is.Entry); len(words) > 0 {
		t.Error(words)
	}
}
