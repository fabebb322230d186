package exec

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
)

// Files are where a step copies from: `src` of copy and template. They are read by whoever runs moon, as on the other
// side of a lane the step's user may not be able to, or may be on another machine.
type Files interface {
	Stat(path string) (fs.FileInfo, error)
	Open(path string) (io.ReadCloser, error)
	// ReadDir lists a directory by name. Links are not followed.
	ReadDir(path string) ([]fs.FileInfo, error)
	Readlink(path string) (string, error)
}

// OwnFiles are the files of this machine, as this process may read them.
type OwnFiles struct{}

// Stat follows links, but for those that are traps (see way).
func (OwnFiles) Stat(path string) (fs.FileInfo, error) {
	e, err := (&attempt{}).lookThrough(path)
	if err != nil || e.kind == absent {
		return nil, sourceError(path, err)
	}
	return e.info, nil
}

// Open opens a regular file for reading. What is none is not waited for.
func (OwnFiles) Open(path string) (io.ReadCloser, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// sourceError makes what is missing an error of the system, which nobody else's step is going to change.
func sourceError(path string, err error) error {
	if err == nil || errors.As(err, new(notYet)) {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
	}
	return err
}

// ReadDir lists a directory by name.
func (OwnFiles) ReadDir(path string) ([]fs.FileInfo, error) {
	dir, err := openDir(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // nothing was written
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	slices.Sort(names)
	infos := make([]fs.FileInfo, len(names))
	for i, name := range names {
		if infos[i], err = dir.Lstat(name); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// Readlink is what a link leads to.
func (OwnFiles) Readlink(path string) (string, error) {
	p, err := placeAt(path)
	if err != nil {
		return "", sourceError(path, err)
	}
	defer p.close()
	return p.dir.Readlink(p.name)
}

// files are where this step copies from.
func (a *attempt) files() Files {
	if a.From == nil {
		return OwnFiles{}
	}
	return a.From
}

// readFrom is the whole of a file that the step is made from.
func (a *attempt) readFrom(path string) ([]byte, error) {
	f, err := a.files().Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(f)
}

// walkFrom calls do for everything below a directory that a step copies from, the directory itself first, in the order of the
// names.
func walkFrom(ctx context.Context, files Files, path string, info fs.FileInfo, do func(path string, info fs.FileInfo) error) error {
	if stopped(ctx) != "" {
		return context.Cause(ctx)
	}
	if err := do(path, info); err != nil || !info.IsDir() {
		return err
	}
	below, err := files.ReadDir(path)
	if err != nil {
		return err
	}
	for _, info := range below {
		if err := walkFrom(ctx, files, filepath.Join(path, info.Name()), info, do); err != nil {
			return err
		}
	}
	return nil
}
