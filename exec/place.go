package exec

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// place is a name in a directory that is held open. Whatever happens to the path that led there, what is done to the
// place is done in that directory: a component that is swapped for a link between the look and the change leads
// nowhere else.
type place struct {
	path string // as the user gave it, cleaned
	name string // in dir
	dir  *os.Root

	foresight *Foresight // in a dry run; dir is nil then if it is not there yet
}

// openPlace opens the directory that a path is in. Nothing need be at the path itself.
func (a *attempt) openPlace(path string) (*place, error) {
	if a.foresight == nil {
		return placeAt(path)
	}
	path = filepath.Clean(path)
	p, err := placeAt(a.foresight.leads(path))
	if err == nil {
		p.path = path
	}
	parent := filepath.Dir(path)
	if at, ok, missed := a.foresight.stat(parent); ok {
		switch {
		case missed != nil, at.kind != directory:
			if err == nil {
				p.close()
			}
			if missed != nil && !errors.Is(missed, fs.ErrNotExist) {
				return nil, missed
			}
			if missed != nil {
				return nil, missing(path, "directory %s does not exist", parent)
			}
			return nil, missing(path, "%s is not a directory", parent)
		case err != nil:
			p, err = &place{path: path, name: filepath.Base(path)}, nil
		}
	}
	if err == nil {
		p.foresight = a.foresight
	}
	return p, err
}

func placeAt(path string) (*place, error) {
	path = filepath.Clean(path)
	parent := filepath.Dir(path)
	dir, err := openDir(parent)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(path, "directory %s does not exist", parent)
	case err != nil:
		if info, err := os.Stat(parent); err == nil && !info.IsDir() {
			return nil, missing(path, "%s is not a directory", parent)
		}
		return nil, err
	}
	name := filepath.Base(path)
	if name == "/" {
		name = "."
	}
	return &place{path: path, name: name, dir: dir}, nil
}

func (p *place) close() {
	if p.dir != nil {
		_ = p.dir.Close() // nothing is written through it
	}
}

// error puts the whole path where the operation knew only a name.
func (p *place) error(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: e.Op, Path: p.path, Err: e.Err}
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return &fs.PathError{Op: e.Op, Path: p.path, Err: e.Err}
	}
	return err
}

// The kinds of entry. They are also the states that a step reports.
const (
	absent    = "absent"
	regular   = "file"
	directory = "directory"
	link      = "link"
	hard      = "hard"
	other     = "other" // a device, a pipe, a socket
)

// entry is what is at a place.
type entry struct {
	kind   string
	mode   uint32 // permission bits, as in 07777
	uid    int
	gid    int
	size   int64
	target string // of a link
	info   fs.FileInfo
}

// look says what is at the place. A link is not followed.
func (p *place) look() (entry, error) {
	if at, ok := p.foresight.look(p.path); ok || p.dir == nil {
		return at.entry, nil
	}
	info, err := p.dir.Lstat(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		return entry{kind: absent}, nil
	}
	if err != nil {
		return entry{}, p.error(err)
	}
	e := entryOf(info)
	if e.kind == link {
		if e.target, err = p.dir.Readlink(p.name); err != nil {
			return entry{}, p.error(err)
		}
	}
	return e, nil
}

// open opens the file that was seen at the place to read it, or would be there by now in a dry run.
func (p *place) open(seen entry) (io.ReadCloser, error) {
	if at, ok := p.foresight.look(p.path); ok && (at.from.path == "" || at.from.path != p.path) {
		return at.open()
	}
	return p.openFile(seen)
}

// read is the content of that file.
func (p *place) read(seen entry) ([]byte, error) {
	f, err := p.open(seen)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(f)
}

func entryOf(info fs.FileInfo) entry {
	e := entry{kind: other, mode: unixMode(info.Mode()), size: info.Size(), info: info, uid: -1, gid: -1}
	switch {
	case info.Mode().IsRegular():
		e.kind = regular
	case info.IsDir():
		e.kind = directory
	case info.Mode()&fs.ModeSymlink != 0:
		e.kind = link
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		e.uid, e.gid = int(st.Uid), int(st.Gid)
	}
	return e
}

// what names the entry in an error.
func (e entry) what() string {
	switch e.kind {
	case regular:
		return "a file"
	case directory:
		return "a directory"
	case link:
		return "a link to " + e.target
	}
	return "neither a file nor a directory"
}

var specialBits = map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky}

func unixMode(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for bit, flag := range specialBits {
		if mode&flag != 0 {
			bits |= bit
		}
	}
	return bits
}

func fileMode(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits & 0o777)
	for bit, flag := range specialBits {
		if bits&bit != 0 {
			mode |= flag
		}
	}
	return mode
}

// followed opens the place that a path leads to, following a link at its end by the same rule as those before it.
func (a *attempt) followed(path string) (*place, entry, error) {
	var owners []int // of links that may only lead to what is theirs
	for range maxLinks {
		p, err := a.openPlace(path)
		if err != nil {
			return nil, entry{}, err
		}
		e, parent, err := p.lookBoth()
		if err == nil && e.kind != link {
			owner := e.uid
			if e.kind == absent {
				owner = parent.uid
			}
			if slices.ContainsFunc(owners, func(uid int) bool { return uid != owner }) {
				err = &fs.PathError{Op: "open", Path: path, Err: errTrap}
			}
			if err == nil {
				return p, e, nil
			}
		}
		p.close()
		if err != nil {
			return nil, entry{}, err
		}
		if owner, trusted := decides(e.uid, parent.uid); !trusted {
			owners = append(owners, owner)
		}
		next := e.target
		if !filepath.IsAbs(next) {
			// The directory's own path may lead through links too, so .. must not be taken away as text.
			next = strings.TrimSuffix(filepath.Dir(path), "/") + "/" + next
		}
		path = next
	}
	return nil, entry{}, errors.New(path + ": too many links")
}

// lookThrough says what a path leads to.
func (a *attempt) lookThrough(path string) (entry, error) {
	p, e, err := a.followed(path)
	if err == nil {
		p.close()
	}
	return e, err
}

// lookBoth says what is at the place, and what its directory is.
func (p *place) lookBoth() (e, parent entry, err error) {
	if e, err = p.look(); err != nil {
		return e, parent, err
	}
	if p.dir == nil { // an earlier step would make it
		return e, entry{kind: directory, uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	info, err := p.dir.Stat(".")
	if err != nil {
		return e, parent, p.error(err)
	}
	return e, entryOf(info), nil
}
