package fsys

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"moon/exec/fault"
)

// Files are where a step copies from: `src` of copy and template. They are read by whoever runs moon, as on the other
// side of a connection the step's user may not be able to, or may be on another machine.
type Files interface {
	Stat(path string) (fs.FileInfo, error)
	Open(path string) (io.ReadCloser, error)
	// ReadDir lists a directory by name. Links are not followed.
	ReadDir(path string) ([]fs.FileInfo, error)
	Readlink(path string) (string, error)
}

// OwnFiles are the files of this machine, as this process may read them.
type OwnFiles struct{}

// Stat follows links, but for those that are traps (see pathWalk).
func (OwnFiles) Stat(path string) (fs.FileInfo, error) {
	e, err := (*Overlay)(nil).LookThrough(path)
	if err != nil || e.Kind == Absent {
		return nil, sourceError(path, err)
	}
	return e.Info, nil
}

// Open opens a regular file for reading. What is none is not waited for.
func (OwnFiles) Open(path string) (io.ReadCloser, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// sourceError makes what is missing an error of the system, which nobody else's step is going to change.
func sourceError(path string, err error) error {
	if err == nil || errors.As(err, new(fault.NotYet)) {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
	}
	return err
}

// ReadDir lists a directory by name.
func (OwnFiles) ReadDir(path string) ([]fs.FileInfo, error) {
	dir, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // nothing was written
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	// Names only: each is then looked at in the directory that is held, and not by a path.
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
	p, err := AnchorAt(path)
	if err != nil {
		return "", sourceError(path, err)
	}
	// Read in the directory that was opened, as a path could lead elsewhere the second time.
	defer p.Close()
	return p.Dir.Readlink(p.Name)
}

// WalkFrom calls do for everything below a directory that a step copies from, the directory itself first, in the order of the
// names.
func WalkFrom(ctx context.Context, files Files, path string, info fs.FileInfo, do func(path string, info fs.FileInfo) error) error {
	if fault.Stopped(ctx) != "" {
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
		if err := WalkFrom(ctx, files, filepath.Join(path, info.Name()), info, do); err != nil {
			return err
		}
	}
	return nil
}
