package vaulting

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"moon/secret/vault"
)

// Keys open what is encrypted, and encrypt.
type Keys struct {
	Open []vault.Password
	Seal vault.Password
}

// Transform is what becomes of the text of a file.
type Transform func(text []byte) ([]byte, error)

// The errors of a text that is already what it should become.
var (
	ErrEncrypted = errors.New("it is already encrypted")
	ErrPlain     = errors.New("it is not encrypted")
)

// Encrypt encrypts a text.
func (k Keys) Encrypt(text []byte) ([]byte, error) {
	if vault.Is(text) {
		return nil, ErrEncrypted
	}
	return vault.Encrypt(text, k.Seal)
}

// Decrypt gives the plain text.
func (k Keys) Decrypt(text []byte) ([]byte, error) {
	if !vault.Is(text) {
		return nil, ErrPlain
	}
	return vault.Decrypt(text, k.Open)
}

// Rekey encrypts with another password what is encrypted.
func (k Keys) Rekey(text []byte) ([]byte, error) {
	plain, err := k.Decrypt(text)
	if err != nil {
		return nil, err
	}
	return vault.Encrypt(plain, k.Seal)
}

// Change changes files. All of them are read first: if one cannot be, none is changed.
func Change(files []string, by Transform) error {
	texts := make([][]byte, len(files))
	for i, file := range files {
		text, err := Read(file)
		if err == nil {
			texts[i], err = by(text)
		}
		if err != nil {
			return naming(file, err)
		}
	}
	for i, file := range files {
		if err := Replace(file, texts[i]); err != nil {
			return naming(file, err)
		}
	}
	return nil
}

// naming puts the file before an error that does not name it.
func naming(file string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// Read reads a regular file.
func Read(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a file")
	}
	return os.ReadFile(file)
}

// Replace puts another text into a file at once, so that no one ever sees half of it. The file keeps its mode and its owner, and a link
// to it stays one. One that was not there is for the user alone.
func Replace(file string, text []byte) error {
	place := file
	if real, err := filepath.EvalSymlinks(file); err == nil {
		place = real
	}
	mode, owner := fs.FileMode(0o600), (*syscall.Stat_t)(nil)
	if info, err := os.Stat(place); err == nil {
		mode = info.Mode().Perm()
		owner, _ = info.Sys().(*syscall.Stat_t)
	}
	f, err := os.CreateTemp(filepath.Dir(place), "."+filepath.Base(place)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone when the rename has succeeded
	_, err = f.Write(text)
	if err == nil && owner != nil {
		err = keepOwner(f, owner)
	}
	if err == nil {
		err = f.Chmod(mode) // after the owner, whose change takes bits away
	}
	if err == nil {
		err = f.Sync() // before the rename, so that the name never leads to an empty file
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), place)
}

// keepOwner gives a new file the owner of the old one. Only root can give files away, and a file of someone else is refused then: its
// owner could no longer read it.
func keepOwner(f *os.File, was *syscall.Stat_t) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if now, ok := info.Sys().(*syscall.Stat_t); ok && now.Uid == was.Uid && now.Gid == was.Gid {
		return nil
	}
	return f.Chown(int(was.Uid), int(was.Gid))
}
