package exec

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"moon/exec/fsys"
	"moon/exec/process"
)

// ErrNotVerified says that a program has other bytes than those that were approved.
var ErrNotVerified = errors.New("it was changed after it was approved")

// Verified makes a copy of a program that has exactly the bytes with a digest, for this user alone, and gives its path. What was
// compared is what runs: a file that is compared and then run by its name can be another one in between, and written to in its
// place at any time. remove removes the copy, which may be done once the program has ended.
//
// A descriptor that is kept open would not do: the interpreter of a script is given its name, looks beside it for what else it
// reads, and sees what is written to the file meanwhile. So the copy has the same neighbours, by links.
func Verified(path, digest string) (copied string, remove func(), err error) {
	return verified(fsys.OwnFiles{}, path, digest, func(dir string) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return // it has just been read: what it needs is gone, too
		}
		for _, beside := range []string{filepath.Dir(path), filepath.Dir(real)} {
			linkAll(beside, dir)
		}
		linkAll(filepath.Dir(filepath.Dir(real)), filepath.Dir(dir))
	})
}

// verified copies a program that some files have; neighbours learns in which directory the copy is, unless it is nil.
func verified(files fsys.Files, path, digest string, neighbours func(dir string)) (copied string, remove func(), err error) {
	remove = func() {}
	in, err := files.Open(path)
	if err != nil {
		return "", remove, err
	}
	defer func() { _ = in.Close() }()                      // it was only read
	top, err := os.MkdirTemp(programDir(), "moon-plugin-") // 0700
	if err != nil {
		return "", remove, err
	}
	remove = process.RemoveAtEnd(func() { _ = os.RemoveAll(top) }) // for its owner only, and in a directory that is cleaned
	// Programs look at the name of their directory as well, so the copy lies in one of the same name.
	dir := filepath.Join(top, base(filepath.Dir(path)))
	copied = filepath.Join(dir, filepath.Base(path))
	if err = os.Mkdir(dir, 0o700); err == nil {
		err = WriteProgram(in, copied, digest)
	}
	if err != nil {
		remove()
		return "", func() {}, err
	}
	if neighbours != nil {
		neighbours(dir)
	}
	return copied, remove, nil
}

// base is a name for the copy of a directory.
func base(dir string) string {
	if name := filepath.Base(dir); name != "/" && name != "." {
		return name
	}
	return "plugins"
}

// WriteProgram copies what can be run afterwards, and compares what it copies; a digest of "" is that of any bytes. As long as the copy is
// open for writing no process may be started, which would have it open too: a file that somebody writes to cannot be run.
func WriteProgram(in io.Reader, to, digest string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), in)
	if err = errors.Join(err, out.Close()); err == nil && digest != "" && hex.EncodeToString(h.Sum(nil)) != digest {
		err = ErrNotVerified
	}
	return err
}

// maxNeighbours is how many entries a directory may have for a plugin to find them beside it. /usr/bin has more.
const maxNeighbours = 1000

// linkAll makes links to the entries of a directory in another, but for names that are taken there.
func linkAll(from, to string) {
	d, err := os.Open(from)
	if err != nil {
		return // as the program could not list it either
	}
	defer func() { _ = d.Close() }() // it was only read
	names, err := d.Readdirnames(maxNeighbours + 1)
	if err != nil || len(names) > maxNeighbours {
		return
	}
	for _, name := range names {
		_ = os.Symlink(filepath.Join(from, name), filepath.Join(to, name)) // it is there: the program itself
	}
}

// programDir is where programs are copied to: the directory for temporary files, "", unless nothing there can be run.
func programDir() string {
	if !fsys.NothingRuns(os.TempDir()) {
		return ""
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir = filepath.Join(dir, "moon")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return dir
}
