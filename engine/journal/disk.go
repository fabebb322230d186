package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Disk makes the files of a run, so that they outlive a loss of power: what one of its methods has done is on the disk
// when the method returns, unless its comment says otherwise. The zero value is ready to use.
type Disk struct {
	// Watch is notified of every single change, right after it was made, perhaps by several goroutines at once. An error it
	// returns counts as that of the change. It is how tests die, fail, and record; nil otherwise.
	Watch func(Op) error
}

// Op is one change to the files of a run.
type Op struct {
	Kind OpKind
	Path string
	To   string // of a rename
	Size int64  // of a truncation
	Data []byte // that was appended; not to be kept
}

// OpKind is what was changed.
type OpKind string

// The changes. What a write or a truncation did is certain after a sync of the file; a name that was made, and what a
// rename did, after a sync of the directory.
const (
	OpMkdir    OpKind = "mkdir"
	OpCreate   OpKind = "create"
	OpWrite    OpKind = "write"
	OpTruncate OpKind = "truncate"
	OpSync     OpKind = "sync"
	OpRename   OpKind = "rename"
	OpSyncDir  OpKind = "syncdir"
)

func (d Disk) did(op Op) error {
	if d.Watch == nil {
		return nil
	}
	return d.Watch(op)
}

// MkdirAll makes a directory, and those it is in, where they are missing.
func (d Disk) MkdirAll(path string) error {
	// Most calls find the directory, and then nothing has to be synced.
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if err := d.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	if err := d.Mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) { // another moon was faster
		return err
	}
	// A new name is certain only after a sync of the directory that it is in.
	return d.SyncDir(filepath.Dir(path))
}

// Mkdir makes a directory. It is certain to stay only after a SyncDir of the one it is in.
func (d Disk) Mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	return d.did(Op{Kind: OpMkdir, Path: path})
}

// Put makes a file with a content that its name stands for, as a digest does: one that is there already is left alone.
func (d Disk) Put(path string, content []byte) error {
	if _, err := os.Stat(path); err == nil {
		return d.SyncDir(filepath.Dir(path)) // whoever made it may have died before that
	}
	return d.Replace(path, content)
}

// Replace makes a file, or puts another in its place: whoever reads it sees the old one or the whole new one.
func (d Disk) Replace(path string, content []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".new-*") // 0600; two may make it at the same time
	if err != nil {
		return err
	}
	err = d.fill(f, content)
	if err == nil {
		// Content first, name second: whatever happens, the name leads to a whole file.
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := d.did(Op{Kind: OpRename, Path: f.Name(), To: path}); err != nil {
		return err
	}
	return d.SyncDir(dir)
}

// fill writes a new file whole, and closes it.
func (d Disk) fill(f *os.File, content []byte) (err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := d.did(Op{Kind: OpCreate, Path: f.Name()}); err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := d.did(Op{Kind: OpWrite, Path: f.Name(), Data: content}); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return d.did(Op{Kind: OpSync, Path: f.Name()})
}

// Keep makes what others have written to a file certain to stay, without its name. A file that does not exist is
// nothing to keep.
func (d Disk) Keep(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return d.did(Op{Kind: OpSync, Path: path})
}

// SyncDir makes the names in a directory certain to stay.
func (d Disk) SyncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return d.did(Op{Kind: OpSyncDir, Path: path})
}

// Uninterrupted makes a call of the system again for as long as a signal comes in between, as it can where the file system is another
// machine's.
func Uninterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// TryLock is Uninterrupted for a call that takes a lock if it can.
func TryLock(try func() (taken bool, err error)) (taken bool, err error) {
	err = Uninterrupted(func() error {
		taken, err = try()
		return err
	})
	return taken, err
}
