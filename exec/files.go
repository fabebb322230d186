package exec

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Files are where a step copies from: `src` of copy and template. They are read by whoever runs moon, as on the other
// side of a lane the step's user may not be able to, or may be on another machine.
type Files interface {
	Stat(path string) (fs.FileInfo, error)
	Open(path string) (io.ReadCloser, error)
	// ReadDir lists a directory by name. Links are not followed.
	ReadDir(path string) ([]fs.FileInfo, error)
	Readlink(path string) (string, error)
	// Resolve is the path without links in it.
	Resolve(path string) (string, error)
}

// OwnFiles are the files of this machine, as this process may read them.
type OwnFiles struct{}

// Stat follows links.
func (OwnFiles) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// Open opens a file for reading.
func (OwnFiles) Open(path string) (io.ReadCloser, error) { return os.Open(path) }

// ReadDir lists a directory by name.
func (OwnFiles) ReadDir(path string) ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	infos := make([]fs.FileInfo, len(entries))
	for i, e := range entries {
		if infos[i], err = e.Info(); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// Readlink is what a link leads to.
func (OwnFiles) Readlink(path string) (string, error) { return os.Readlink(path) }

// Resolve follows all links.
func (OwnFiles) Resolve(path string) (string, error) { return filepath.EvalSymlinks(path) }

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
