package vaulting

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Editing is a text that is plain while an editor has it.
type Editing struct {
	Path string // the file for the editor

	file   string // the one that is edited
	before []byte
	keys   Keys
	close  func()
}

// Edit puts a plain text where an editor can have it. Whatever happens, Close has to follow.
func (k Keys) Edit(file string, plain []byte) (*Editing, error) {
	dir, err := privateDir()
	if err != nil {
		return nil, err
	}
	e := &Editing{Path: filepath.Join(dir, filepath.Base(file)), file: file, before: plain, keys: k}
	// Also what editors leave next to a file goes with its directory.
	e.close = sync.OnceFunc(func() { _ = os.RemoveAll(dir) })
	if err := os.WriteFile(e.Path, plain, 0o600); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// privateDir makes a directory that only the user can enter: in memory if there is such a place, so that the text never is on a disk.
func privateDir() (string, error) {
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), "/dev/shm"} {
		if !filepath.IsAbs(parent) {
			continue
		}
		if dir, err := os.MkdirTemp(parent, "moon-vault-"); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", "moon-vault-")
}

// Close removes the plain text. It may be called several times, also while something else works with it.
func (e *Editing) Close() { e.close() }

// Save encrypts what the editor has left into the file, if it is another text. changed says whether it is.
func (e *Editing) Save() (changed bool, err error) {
	text, err := os.ReadFile(e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, errors.New("the editor has removed the text; the file is unchanged")
	}
	if err != nil || bytes.Equal(text, e.before) && exists(e.file) {
		return false, err
	}
	sealed, err := e.keys.Encrypt(text)
	if err != nil {
		return false, err
	}
	return true, Replace(e.file, sealed)
}

// Rescue keeps what was changed of the text by an editor that has failed: encrypted, next to the file, which stays as it is. It is "" if
// nothing was changed.
func (e *Editing) Rescue() (kept string, err error) {
	text, err := os.ReadFile(e.Path)
	if err != nil || bytes.Equal(text, e.before) {
		return "", nil //nolint:nilerr // there is no text any more to rescue
	}
	sealed, err := e.keys.Encrypt(text)
	if err != nil {
		return "", err
	}
	for i := 1; ; i++ {
		kept = e.file + ".edited"
		if i > 1 {
			kept = fmt.Sprintf("%s.edited-%d", e.file, i)
		}
		if !exists(kept) {
			return kept, Replace(kept, sealed)
		}
	}
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}
