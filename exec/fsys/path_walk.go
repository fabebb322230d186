package fsys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// pathWalk is a walk along a path, from directory to directory, each of which is held open. Links are followed as the system
// does, but for those that somebody else could lay as a trap: whoever owns a link, or the directory it is in, decides
// where it leads, and may lead root only to what is their own. So /var/run is followed, and so is a link of a user to
// another place in their home; one of theirs to /etc is not.
type pathWalk struct {
	path  string // for errors
	fd    int    // where the walk has come to
	real  string // its path without links; of use only if it is absolute
	st    unix.Stat_t
	links int // followed so far
}

// ErrTrap is a link that is not followed.
var ErrTrap = errors.New("it is a link of another user to a file that is not theirs; use its target")

// ErrSwapped is an entry that is not what it was a moment ago.
var ErrSwapped = errors.New("another process changes it at the same time")

func (w *pathWalk) close() { _ = syscall.Close(w.fd) }

func (w *pathWalk) error(op string, err error) error {
	return &fs.PathError{Op: op, Path: w.path, Err: err}
}

// follow walks along the path of a directory. It must be closed.
func follow(path string) (*pathWalk, error) {
	w := &pathWalk{path: path, fd: -1}
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

func (w *pathWalk) begin(dir string) error {
	fd, err := unix.Open(dir, passing|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	w.real = dir
	return w.step(fd)
}

// step goes on to a directory that was opened.
func (w *pathWalk) step(fd int) error {
	if w.fd >= 0 {
		w.close()
	}
	w.fd = fd
	return unix.Fstat(fd, &w.st)
}

func (w *pathWalk) walk(path string) error {
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
		w.real = filepath.Join(w.real, name) // without links, so that .. may be taken away as text
	}
	return nil
}

// link follows a link, if it is no trap.
func (w *pathWalk) link(name string, st *unix.Stat_t) error {
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
		return ErrTrap
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

// OpenDir opens a directory for good: what the walk came to, whatever the path has become meanwhile.
func OpenDir(path string) (*os.Root, error) {
	root, _, err := openReal(path)
	return root, err
}

// openReal is OpenDir, with the path of the directory without links.
func openReal(path string) (dir *os.Root, real string, err error) {
	for range 5 {
		w, err := follow(path)
		if err != nil {
			return nil, "", err
		}
		root, err := os.OpenRoot(path)
		if err != nil {
			w.close()
			return nil, "", err
		}
		info, err := root.Stat(".")
		same := err == nil && IsSame(info, &w.st)
		w.close()
		if same {
			return root, w.real, nil
		}
		_ = root.Close() // nothing was done in it
	}
	return nil, "", &fs.PathError{Op: "open", Path: path, Err: ErrSwapped}
}

// behind is the path that a link in a directory leads to. What .. stands for depends on the links before it, so these are walked, and not
// taken away as text; a path that is not there yet can only be taken as it is written.
func behind(dir, target string) (string, error) {
	path := target
	if !filepath.IsAbs(path) {
		path = strings.TrimSuffix(dir, "/") + "/" + path
	}
	if !slices.Contains(strings.Split(target, "/"), "..") {
		return path, nil
	}
	parent, name := filepath.Split(strings.TrimRight(path, "/"))
	if name == ".." || name == "." {
		parent, name = path, ""
	}
	w, err := follow(parent)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !filepath.IsAbs(w.real):
		if err == nil {
			w.close()
		}
		return path, nil
	case err != nil:
		return "", err
	}
	w.close()
	return filepath.Join(w.real, name), nil
}

// IsSame reports whether two looks at a file have seen the same one.
func IsSame(info fs.FileInfo, st *unix.Stat_t) bool {
	is, ok := info.Sys().(*syscall.Stat_t)
	return ok && uint64(is.Dev) == uint64(st.Dev) && is.Ino == st.Ino //nolint:unconvert // the types differ between systems
}

// above opens the directory that a name below another is in, without following any link.
func above(dir *os.Root, name string) (*pathWalk, error) {
	w := &pathWalk{path: name, fd: -1}
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
			err = ErrSwapped
		}
		return nil, w.error("open", err)
	}
	return w, nil
}

// OpenBelow opens the directory that a name below another is in, likewise.
func OpenBelow(dir *os.Root, name string) (*os.Root, error) {
	w, err := above(dir, name)
	if err != nil {
		return nil, err
	}
	defer w.close()
	root, err := dir.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	if info, err := root.Stat("."); err != nil || !IsSame(info, &w.st) {
		_ = root.Close() // nothing was done in it
		return nil, w.error("open", ErrSwapped)
	}
	return root, nil
}

// openSeen opens an entry to change its mode, owners or times: the one that was looked at, and no other that was put in
// its place. A file with several names must not be somebody's way to one that they may not change.
func openSeen(dir *os.Root, name string, seen Entry) (fd int, err error) {
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
		case seen.Info == nil || !IsSame(seen.Info, &st):
			err = ErrSwapped
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

// OpenRegular opens the file that a path leads to, to read it: by the walk, so that nobody leads the reader elsewhere meanwhile.
// What is not a regular file is not waited for.
func OpenRegular(path string) (*os.File, error) {
	f, _, err := OpenLooked(path)
	return f, err
}

// OpenLooked is openRegular with what was found there.
func OpenLooked(path string) (*os.File, Entry, error) {
	p, e, err := (*Overlay)(nil).Followed(path)
	if err != nil {
		return nil, Entry{}, sourceError(path, err)
	}
	defer p.Close()
	switch e.Kind {
	case Absent:
		return nil, e, sourceError(path, nil)
	case Regular:
		f, err := p.OpenFile(e)
		return f, e, err
	}
	return nil, e, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
}

// openSame opens a file that was seen under a path, and no other that is there now.
func openSame(path string, seen fs.FileInfo) (*os.File, error) {
	f, e, err := OpenLooked(path)
	if err == nil && !os.SameFile(e.Info, seen) {
		_ = f.Close() // it was only read
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrSwapped}
	}
	return f, err
}

// OpenFile opens the file that was seen at the place to read it.
func (p *Anchored) OpenFile(seen Entry) (*os.File, error) { return p.openFile(seen, 0) }

// openUnnoticed is OpenFile without a new access time, where the system lets it be kept: moon only compares.
func (p *Anchored) openUnnoticed(seen Entry) (*os.File, error) {
	f, err := p.openFile(seen, unnoticed)
	if errors.Is(err, fs.ErrPermission) { // only the owner and root may
		return p.OpenFile(seen)
	}
	return f, err
}

func (p *Anchored) openFile(seen Entry, flags int) (*os.File, error) {
	f, err := p.Dir.OpenFile(p.Name, os.O_RDONLY|unix.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, p.PathError(err)
	}
	if info, err := f.Stat(); err != nil || seen.Info == nil || !os.SameFile(info, seen.Info) {
		_ = f.Close() // it was only read
		return nil, &fs.PathError{Op: "read", Path: p.Path, Err: ErrSwapped}
	}
	return f, nil
}

// ReadRegular reads a whole file.
func ReadRegular(path string) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(f)
}
