package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"moon/plan/source"
)

// WriteFile writes a file that the user has named. A regular file, also one that a link leads to, is replaced at once: whoever
// reads it sees the old one or the whole new one. It is for the user alone. Anything else is never replaced: devices and pipes are
// written to, and what cannot be written to is refused.
func (call *Invocation) WriteFile(path string, write func(io.Writer) error) error {
	f, err := call.openSpecial(path)
	if err == nil && f == nil {
		return replaceFile(path, write)
	}
	if err != nil {
		return saving(path, err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return nil
}

// createFile opens a file that the user has named and that is written while it is read: a regular one is emptied.
func (call *Invocation) createFile(path string) (*os.File, error) {
	f, err := call.openSpecial(path)
	if err == nil && f == nil {
		f, err = os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	}
	if err != nil {
		return nil, saving(path, err)
	}
	return f, nil
}

// saving says of an error what was to be written.
func saving(path string, err error) error {
	if e, ok := errors.AsType[*Exit](err); ok {
		return e
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == path {
		err = e.Err
	}
	return NewExit(ExitDisk, fmt.Sprintf("save %s: %s", path, err))
}

// replaceFile puts a new file in the place of a regular one, or of none.
func replaceFile(path string, write func(io.Writer) error) error {
	place, err := behindLinks(path)
	if err != nil {
		return saving(path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(place), "."+filepath.Base(place)+".*")
	if err != nil {
		return saving(path, err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone when the rename has succeeded
	err = write(f)
	if err == nil {
		// Before the rename, so that the name never leads to an empty file.
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), place)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return nil
}

// behindLinks is the path of the file that is to be replaced when a path is written to: that of a link stays. The file
// need not exist.
func behindLinks(path string) (string, error) {
	for range 40 { // as many links as the system follows
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		to, err := os.Readlink(path)
		if errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		if path = to; !filepath.IsAbs(to) {
			path = filepath.Join(dir, to)
		}
	}
	return "", syscall.ELOOP
}

// openSpecial opens what is there under a path if it can be written to and is not to be replaced: a device, a pipe, or an open
// file of the process, such as /dev/stdout. It is nil for a regular file, and for none. What it is is asked of the open file, as
// the path may lead elsewhere a moment later.
func (call *Invocation) openSpecial(path string) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, Usage("%s is a directory; name a file", path)
	case info.Mode()&fs.ModeSocket != 0:
		return nil, Usage("%s is a socket, which cannot be written to like a file", path)
	case info.Mode().IsRegular() && !source.IsDescriptor(path) && path != "/dev/stdout" && path != "/dev/stderr":
		return nil, nil
	}
	flags := 0
	if info.Mode().IsRegular() {
		flags = os.O_APPEND // others have it open, too
	}
	f, err := call.openPipe(path, flags)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || now.Mode().Type() != info.Mode().Type() {
		return nil, errors.Join(err, errors.New("it became another file while it was opened"), f.Close())
	}
	return f, nil
}

// openPipe opens something to write to it. A pipe that nobody reads keeps the caller waiting until somebody does, or until moon
// is interrupted.
func (call *Invocation) openPipe(path string, flags int) (*os.File, error) {
	ctx, stop := call.Signals.Until(context.Background())
	defer stop()
	for {
		// Non-blocking, so that a signal ends the wait for a reader of the pipe.
		f, err := os.OpenFile(path, flags|os.O_WRONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
		if !errors.Is(err, syscall.ENXIO) {
			return f, err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil, errors.New("interrupted: no program reads this pipe")
		}
	}
}

// Unreadable says why a plan cannot be read from a file.
func Unreadable(file string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file: " + file
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read " + file
	}
	return fmt.Sprintf("%q cannot be read; give a file that moon plan -o has saved", file)
}

// ReadAtMost reads a file that is expected to be small.
func ReadAtMost(file string, most int64) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // which a pipe must not hold up
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a file", file))
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s is larger than %d KiB", file, most>>10)
	}
	return text, err
}
