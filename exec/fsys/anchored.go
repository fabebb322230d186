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
	"time"

	"moon/exec/fault"
)

// Anchored is a name in a directory that is held open. Whatever happens to the path that led there, what is done to the
// place is done in that directory: a component that is swapped for a link between the look and the change leads
// nowhere else.
type Anchored struct {
	Path string // as the user gave it, cleaned
	Name string // in dir
	Dir  *os.Root
	real string // path of dir without links; "" if dir is not there yet

	Overlay *Overlay // in a dry run; dir is nil then if it is not there yet
}

// OpenPlace opens the directory that a path is in. Nothing need be at the path itself.
func (f *Overlay) OpenPlace(path string) (*Anchored, error) {
	if f == nil {
		return AnchorAt(path)
	}
	path = filepath.Clean(path)
	p, err := AnchorAt(f.Leads(path))
	if err == nil {
		p.Path = path
	}
	parent := filepath.Dir(path)
	if at, ok, missed := f.Follow(parent); ok {
		switch {
		case missed != nil, at.Kind != Directory:
			if err == nil {
				p.Close()
			}
			if missed != nil && !errors.Is(missed, fs.ErrNotExist) {
				return nil, missed
			}
			if missed != nil {
				return nil, fault.Missing(path, "directory %s does not exist", parent)
			}
			return nil, fault.Missing(path, "%s is not a directory", parent)
		case err != nil:
			p, err = &Anchored{Path: path, Name: filepath.Base(path)}, nil
		}
	}
	if err == nil {
		p.Overlay = f
	}
	return p, err
}

// AnchorAt opens the directory that a path is in. It is an error for which fault.Missing stands if that directory does not exist.
func AnchorAt(path string) (*Anchored, error) {
	path = filepath.Clean(path)
	parent := filepath.Dir(path)
	dir, real, err := openReal(parent)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Missing(path, "directory %s does not exist", parent)
	case err != nil:
		// This only words the error: nothing is decided by it, as the path may lead elsewhere by now.
		if info, err := os.Stat(parent); err == nil && !info.IsDir() {
			return nil, fault.Missing(path, "%s is not a directory", parent)
		}
		return nil, err
	}
	name := filepath.Base(path)
	// The root is in no directory, but it can be named from within.
	if name == "/" {
		name = "."
	}
	return &Anchored{Path: path, Name: name, Dir: dir, real: real}, nil
}

// Close closes the directory.
func (p *Anchored) Close() {
	if p.Dir != nil {
		_ = p.Dir.Close() // nothing is written through it
	}
}

// PathError puts the whole path where the operation knew only a name.
func (p *Anchored) PathError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: e.Op, Path: p.Path, Err: e.Err}
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return &fs.PathError{Op: e.Op, Path: p.Path, Err: e.Err}
	}
	return err
}

// The kinds of entry. They are also the states that a step reports.
const (
	Absent    = "absent"
	Regular   = "file"
	Directory = "directory"
	Link      = "link"
	HardLink  = "hard"
	Other     = "other" // a device, a pipe, a socket
)

// Entry is what is at a place.
type Entry struct {
	Kind   string
	Mode   uint32 // permission bits, as in 07777
	UID    int
	GID    int
	Size   int64
	Target string // of a link
	Info   fs.FileInfo

	Context string // of SELinux; "" without it, and of what is only predicted

	dir   *os.Root // where it was seen, to look at what is rarely asked for; nil: of what is only predicted
	name  string
	flags flags // as a dry run predicts them
}

// Twins is how many names what is there has.
func (e Entry) Twins() int {
	if e.Info == nil {
		return 1
	}
	if st, ok := e.Info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// Fields returns an entry as the values that results have of it.
func (e Entry) Fields() map[string]any {
	if e.Kind == Absent {
		return map[string]any{"state": Absent}
	}
	f := map[string]any{
		"state": e.Kind, "uid": e.UID, "gid": e.GID, "owner": UserName(e.UID), "group": GroupName(e.GID), "size": int(e.Size),
	}
	if e.Kind != Link {
		f["mode"] = Octal(e.Mode)
	}
	return f
}

// Octal is a mode as playbooks write it.
func Octal(mode uint32) string { return fmt.Sprintf("%04o", mode) }

// Look says what is at the place. A link is not followed.
func (p *Anchored) Look() (Entry, error) {
	if at, ok := p.Overlay.Look(p.Path); ok || p.Dir == nil {
		return at.Entry, nil
	}
	info, err := p.Dir.Lstat(p.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{Kind: Absent}, nil
	}
	if err != nil {
		return Entry{}, p.PathError(err)
	}
	e := EntryOf(info)
	if e.Kind == Link {
		// What has become something else since the look is an error here, and never a link that leads nowhere.
		if e.Target, err = p.Dir.Readlink(p.Name); err != nil {
			return Entry{}, p.PathError(err)
		}
	}
	e.Context, e.dir, e.name = contextAt(p.Dir, p.Name, e), p.Dir, p.Name
	return e, nil
}

// Open opens the file that was seen at the place to read it, or would be there by now in a dry run.
func (p *Anchored) Open(seen Entry) (io.ReadCloser, error) { return p.openBy(seen, p.OpenFile) }

func (p *Anchored) openBy(seen Entry, open func(Entry) (*os.File, error)) (io.ReadCloser, error) {
	if at, ok := p.Overlay.Look(p.Path); ok && (at.From.Path == "" || at.From.Path != p.Path) {
		return at.Open()
	}
	return open(seen)
}

// Read is the content of that file.
func (p *Anchored) Read(seen Entry) ([]byte, error) {
	f, err := p.Open(seen)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(f)
}

// EntryOf returns the entry that describes a file.
func EntryOf(info fs.FileInfo) Entry {
	e := Entry{Kind: Other, Mode: UnixMode(info.Mode()), Size: info.Size(), Info: info, UID: -1, GID: -1}
	switch {
	case info.Mode().IsRegular():
		e.Kind = Regular
	case info.IsDir():
		e.Kind = Directory
	case info.Mode()&fs.ModeSymlink != 0:
		e.Kind = Link
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		e.UID, e.GID = int(st.Uid), int(st.Gid)
	}
	return e
}

// What names the entry in an error.
func (e Entry) What() string {
	switch e.Kind {
	case Regular:
		return "a file"
	case Directory:
		return "a directory"
	case Link:
		return "a link to " + e.Target
	}
	return "neither a file nor a directory"
}

var specialBits = map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky}

// UnixMode returns a mode as chmod has it, with setuid, setgid and the sticky bit.
func UnixMode(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for bit, flag := range specialBits {
		if mode&flag != 0 {
			bits |= bit
		}
	}
	return bits
}

// FileMode is the reverse of UnixMode.
func FileMode(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits & 0o777)
	for bit, flag := range specialBits {
		if bits&bit != 0 {
			mode |= flag
		}
	}
	return mode
}

// Followed opens the place that a path leads to, following a link at its end by the same rule as those before it.
func (f *Overlay) Followed(path string) (*Anchored, Entry, error) {
	var owners []int // of links that may only lead to what is theirs
	for range maxLinks {
		p, err := f.OpenPlace(path)
		if err != nil {
			return nil, Entry{}, err
		}
		e, parent, err := p.lookBoth()
		if err == nil && e.Kind != Link {
			owner := e.UID
			if e.Kind == Absent {
				owner = parent.UID
			}
			if slices.ContainsFunc(owners, func(uid int) bool { return uid != owner }) {
				err = &fs.PathError{Op: "open", Path: path, Err: ErrTrap}
			}
			if err == nil {
				return p, e, nil
			}
		}
		p.Close()
		if err != nil {
			return nil, Entry{}, err
		}
		if owner, trusted := decides(e.UID, parent.UID); !trusted {
			owners = append(owners, owner)
		}
		dir := filepath.Dir(path)
		if p.real != "" && strings.Contains(e.Target, "..") { // of which the path of the directory says nothing if it has links
			dir = p.real
		}
		if path, err = behind(dir, e.Target); err != nil {
			return nil, Entry{}, err
		}
	}
	return nil, Entry{}, errors.New(path + ": too many links")
}

// LookThrough says what a path leads to.
func (f *Overlay) LookThrough(path string) (Entry, error) {
	p, e, err := f.Followed(path)
	if err == nil {
		p.Close()
	}
	return e, err
}

// lookBoth says what is at the place, and what its directory is.
func (p *Anchored) lookBoth() (e, parent Entry, err error) {
	if e, err = p.Look(); err != nil {
		return e, parent, err
	}
	if p.Dir == nil { // an earlier step would make it
		return e, Entry{Kind: Directory, UID: os.Geteuid(), GID: os.Getegid()}, nil
	}
	// The directory that is held is asked, not its path, which may lead elsewhere by now.
	info, err := p.Dir.Stat(".")
	if err != nil {
		return e, parent, p.PathError(err)
	}
	return e, EntryOf(info), nil
}

// Touch gives what is at the place the time of now, but for the times that are kept.
func (p *Anchored) Touch(keepAccess, keepMod bool) error {
	access := time.Now()
	mod := access
	if keepAccess {
		access = time.Time{}
	}
	if keepMod {
		mod = time.Time{}
	}
	return p.SetTimes(access, mod)
}

// SetTimes gives what is at the place these times; one that is zero stays.
func (p *Anchored) SetTimes(access, mod time.Time) error {
	e, err := p.Look()
	if err != nil {
		return err
	}
	fd, err := openSeen(p.Dir, p.Name, e)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	return touchFD(fd, access, mod)
}
