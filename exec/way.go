package exec

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// way is a walk along a path, from directory to directory, each of which is held open. Links are followed as the system
// does, but for those that somebody else could lay as a trap: whoever owns a link, or the directory it is in, decides
// where it leads, and may lead root only to what is their own. So /var/run is followed, and so is a link of a user to
// another place in their home; one of theirs to /etc is not.
type way struct {
	path  string // for errors
	fd    int    // where the walk has come to
	st    unix.Stat_t
	links int // followed so far
}

// errTrap is a link that is not followed.
var errTrap = errors.New("it is a link that belongs to somebody else, to what is not theirs; name what it points to")

// errSwapped is an entry that is not what it was a moment ago.
var errSwapped = errors.New("somebody else changes it at the same time")

func (w *way) close() { _ = syscall.Close(w.fd) }

func (w *way) error(op string, err error) error { return &fs.PathError{Op: op, Path: w.path, Err: err} }

// follow walks along the path of a directory. It must be closed.
func follow(path string) (*way, error) {
	w := &way{path: path, fd: -1}
	start := "/"
	if !filepath.IsAbs(path) {
		start = "."
	}
	if err := w.begin(start); err != nil {
		return nil, w.error("open", err)
	}
	if err := w.walk(path); err != nil {
		w.close()
		return nil, w.error("open", err)
	}
	return w, nil
}

func (w *way) begin(dir string) error {
	fd, err := unix.Open(dir, passing|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return w.step(fd)
}

// step goes on to a directory that was opened.
func (w *way) step(fd int) error {
	if w.fd >= 0 {
		w.close()
	}
	w.fd = fd
	return unix.Fstat(fd, &w.st)
}

func (w *way) walk(path string) error {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." {
			continue
		}
		var st unix.Stat_t
		if err := unix.Fstatat(w.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			if err := w.link(name, &st); err != nil {
				return err
			}
			continue
		}
		fd, err := unix.Openat(w.fd, name, passing|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		if err := w.step(fd); err != nil {
			return err
		}
	}
	return nil
}

// link follows a link, if it is no trap.
func (w *way) link(name string, st *unix.Stat_t) error {
	if w.links++; w.links > maxLinks {
		return unix.ELOOP
	}
	owner, trusted := decides(int(st.Uid), int(w.st.Uid))
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(w.fd, name, target)
	if err != nil {
		return err
	}
	if n > 0 && target[0] == '/' {
		if err := w.begin("/"); err != nil {
			return err
		}
	}
	if err := w.walk(string(target[:n])); err != nil {
		return err
	}
	if !trusted && int(w.st.Uid) != owner {
		return errTrap
	}
	return nil
}

const maxLinks = 40

// decides says who can lead others by a link: its owner, or the owner of its directory, who can put another in its place;
// and whether they are trusted with all there is.
func decides(link, dir int) (owner int, trusted bool) {
	for _, owner := range []int{dir, link} {
		if !isOurs(owner) {
			return owner, false
		}
	}
	return link, true
}

// isOurs reports whether a user can do no more by a trick than without: root, and the one that moon runs as.
func isOurs(uid int) bool { return uid == 0 || uid == os.Geteuid() }

// openDir opens a directory for good: what the walk came to, whatever the path has become meanwhile.
func openDir(path string) (*os.Root, error) {
	for range 5 {
		w, err := follow(path)
		if err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(path)
		if err != nil {
			w.close()
			return nil, err
		}
		info, err := root.Stat(".")
		same := err == nil && isSame(info, &w.st)
		w.close()
		if same {
			return root, nil
		}
		_ = root.Close() // nothing was done in it
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: errSwapped}
}

func isSame(info fs.FileInfo, st *unix.Stat_t) bool {
	is, ok := info.Sys().(*syscall.Stat_t)
	return ok && uint64(is.Dev) == uint64(st.Dev) && is.Ino == st.Ino //nolint:unconvert // the types differ between systems
}

// above opens the directory that a name below another is in, without following any link.
func above(dir *os.Root, name string) (*way, error) {
	w := &way{path: name, fd: -1}
	d, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // it was only read
	fd, err := unix.FcntlInt(d.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, w.error("open", err)
	}
	err = w.step(fd)
	parts := strings.Split(name, "/")
	for _, part := range parts[:len(parts)-1] {
		if err == nil {
			fd, err = unix.Openat(w.fd, part, passing|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		}
		if err == nil {
			err = w.step(fd)
		}
	}
	if err != nil {
		w.close()
		if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
			err = errSwapped
		}
		return nil, w.error("open", err)
	}
	return w, nil
}

// openBelow opens the directory that a name below another is in, likewise.
func openBelow(dir *os.Root, name string) (*os.Root, error) {
	w, err := above(dir, name)
	if err != nil {
		return nil, err
	}
	defer w.close()
	root, err := dir.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	if info, err := root.Stat("."); err != nil || !isSame(info, &w.st) {
		_ = root.Close() // nothing was done in it
		return nil, w.error("open", errSwapped)
	}
	return root, nil
}

// openSeen opens an entry to change its mode, owners or times: the one that was looked at, and no other that was put in
// its place. A file with several names must not be somebody's way to one that they may not change.
func openSeen(dir *os.Root, name string, seen entry) (fd int, err error) {
	w, err := above(dir, name)
	if err != nil {
		return -1, err
	}
	defer w.close()
	fd, err = unix.Openat(w.fd, filepath.Base(name), changing|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, w.error("open", err)
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		switch {
		case seen.info == nil || !isSame(seen.info, &st):
			err = errSwapped
		case st.Mode&unix.S_IFMT != unix.S_IFDIR && st.Nlink > 1 && !isSafe(&st, &w.st):
			err = fmt.Errorf("it has %d names, and others than its owner can give it one here; make a copy in its place", st.Nlink)
		}
	}
	if err != nil {
		_ = syscall.Close(fd)
		return -1, w.error("change", err)
	}
	return fd, nil
}

// isSafe reports whether a file with several names was given the one in a directory by somebody who might as well change
// it: nobody else can give names there, or it is theirs.
func isSafe(file, dir *unix.Stat_t) bool {
	if isOurs(int(dir.Uid)) && dir.Mode&0o022 == 0 {
		return true
	}
	return !isOurs(int(file.Uid)) && file.Uid == dir.Uid
}

// openRegular opens the file that a path leads to, to read it: by the walk, so that nobody leads the reader elsewhere meanwhile.
// What is not a regular file is not waited for.
func openRegular(path string) (*os.File, error) {
	f, _, err := openLooked(path)
	return f, err
}

// openLooked is openRegular with what was found there.
func openLooked(path string) (*os.File, entry, error) {
	p, e, err := (&attempt{}).followed(path)
	if err != nil {
		return nil, entry{}, sourceError(path, err)
	}
	defer p.close()
	switch e.kind {
	case absent:
		return nil, e, sourceError(path, nil)
	case regular:
		f, err := p.openFile(e)
		return f, e, err
	}
	return nil, e, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
}

// openSame opens a file that was seen under a path, and no other that is there now.
func openSame(path string, seen fs.FileInfo) (*os.File, error) {
	f, e, err := openLooked(path)
	if err == nil && !os.SameFile(e.info, seen) {
		_ = f.Close() // it was only read
		return nil, &fs.PathError{Op: "read", Path: path, Err: errSwapped}
	}
	return f, err
}

// openFile opens the file that was seen at the place to read it.
func (p *place) openFile(seen entry) (*os.File, error) {
	f, err := p.dir.OpenFile(p.name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, p.error(err)
	}
	if info, err := f.Stat(); err != nil || seen.info == nil || !os.SameFile(info, seen.info) {
		_ = f.Close() // it was only read
		return nil, &fs.PathError{Op: "read", Path: p.path, Err: errSwapped}
	}
	return f, nil
}

// readRegular reads a whole file.
func readRegular(path string) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(f)
}
