package fsys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"moon/exec/spec"
)

// OpenAbove opens the deepest directory that exists above a path; the name of the place is the rest of the path.
func (f *Overlay) OpenAbove(path string) (*Anchored, error) {
	above := filepath.Dir(path)
	for {
		if e, err := f.Lstat(above); err == nil && e.Kind == Link {
			if _, err := f.Stat(above); errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%s is a link to %s, which does not exist", above, e.Target)
			}
		}
		if at, ok, missed := f.Follow(above); ok && (missed != nil || at.Kind != Directory || at.Fresh) {
			if missed != nil && !errors.Is(missed, fs.ErrNotExist) {
				return nil, missed
			}
			if missed == nil && at.Kind != Directory {
				return nil, &fs.PathError{Op: "mkdir", Path: above, Err: syscall.ENOTDIR}
			}
			if missed == nil {
				return &Anchored{Path: path, Name: strings.TrimPrefix(path, above+"/"), Overlay: f}, nil
			}
			above = filepath.Dir(above)
			continue
		}
		dir, err := OpenDir(filepath.Dir(f.Leads(above + "/x")))
		if err == nil {
			rest, err := filepath.Rel(above, path)
			if err != nil {
				_ = dir.Close() // nothing was written through it
				return nil, err
			}
			return &Anchored{Path: path, Name: rest, Dir: dir, Overlay: f}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || above == "/" {
			return nil, err
		}
		above = filepath.Dir(above)
	}
}

// MakeDirsAtOnce makes a directory where others may make the same one, or one beside it, at this moment: hosts of a play that are all
// this machine do.
func MakeDirsAtOnce(dir *os.Root, name string, last, above Wanted) error {
	for {
		err := MakeDirs(dir, name, last, above)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		switch info, missing := dir.Lstat(name); {
		case missing == nil && info.IsDir():
			return SetOwner(dir, name, last)
		case missing == nil || !errors.Is(missing, fs.ErrNotExist):
			return err
		}
	}
}

// MakeDirs makes a directory that must not exist, and those above it that do not. They come to be at once, with their
// modes and owners: they are made under another name, so that a moon that dies in between leaves no directory with a mode
// that nobody asked for. If it fails it takes away what it made.
func MakeDirs(dir *os.Root, name string, last, above Wanted) (err error) {
	lastFlags, aboveFlags := last.Flags, above.Flags
	last.Flags, above.Flags = spec.FlagEdit{}, spec.FlagEdit{} // what is immutable has its name for good
	parts := strings.Split(name, "/")
	first := 0 // of those that are not there
	for ; first < len(parts); first++ {
		if _, err := dir.Lstat(strings.Join(parts[:first+1], "/")); err != nil {
			break
		}
	}
	if first == len(parts) {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	}
	final := strings.Join(parts[:first+1], "/")
	under := path.Join(path.Dir(final), TempName())
	defer func() {
		if err != nil {
			_ = dir.RemoveAll(under) // the first error is the one to report
		}
	}()
	at := []string{under}
	for _, part := range parts[first+1:] {
		at = append(at, at[len(at)-1]+"/"+part)
	}
	for _, name := range at {
		if err := dir.Mkdir(name, 0o700); err != nil {
			return err
		}
	}
	// From the last to the first: one with its own mode may not let anything be made inside.
	for i, name := range slices.Backward(at) {
		w := above
		if i == len(at)-1 {
			w = last
		}
		if err := SetOwner(dir, name, w); err != nil {
			return err
		}
	}
	if _, err := dir.Lstat(final); err == nil {
		return &fs.PathError{Op: "mkdir", Path: final, Err: fs.ErrExist} // a rename would replace an empty directory
	}
	if err := dir.Rename(under, final); err != nil {
		return err
	}
	// Again from the last to the first, for the same reason.
	for i := len(parts); i > first; i-- {
		w := Wanted{Flags: aboveFlags}
		if i == len(parts) {
			w.Flags = lastFlags
		}
		if err := w.dressNew(dir, strings.Join(parts[:i], "/")); err != nil {
			return err
		}
	}
	return nil
}

// MakeDir makes one directory with exactly the mode wanted. It has it from the beginning, as far as the umask allows: a
// step that died here is run again, and a directory that exists keeps its mode where nobody asked for one.
func MakeDir(dir *os.Root, name string, w Wanted) error {
	if err := dir.Mkdir(name, fs.FileMode(w.Mode&0o777)); err != nil {
		return err
	}
	if err := SetOwner(dir, name, w); err != nil {
		_ = dir.Remove(name) // the first error is the one to report
		return err
	}
	return nil
}

// SetOwner gives a new directory its mode and owners.
func SetOwner(dir *os.Root, name string, w Wanted) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	is := EntryOf(info)
	if w.UID < 0 {
		w.UID = is.UID
	}
	if w.GID < 0 {
		w.GID = is.GID
	}
	return w.Set(dir, name, is)
}

// Walk visits what is at the place, as walk does, and what would be there by now in a dry run.
func (p *Anchored) Walk(visit func(name string, e Entry) error) error {
	if !p.Overlay.Concerns(p.Path) {
		return walk(p.Dir, p.Name, visit)
	}
	e, err := p.Look()
	if err != nil || e.Kind == Absent {
		return err
	}
	if err := visit(p.Name, e); err != nil || e.Kind != Directory {
		return err
	}
	var now []string
	if at, ok := p.Overlay.Look(p.Path); p.Dir != nil && (!ok || !at.Fresh) {
		if f, err := p.Dir.Open(p.Name); err == nil {
			now, err = f.Readdirnames(-1)
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
		}
	}
	for _, name := range p.Overlay.children(p.Path, now) {
		child := Anchored{Path: p.Path + "/" + name, Name: p.Name + "/" + name, Dir: p.Dir, Overlay: p.Overlay}
		if err := child.Walk(visit); err != nil {
			return err
		}
	}
	return nil
}

// walk visits a name and, if it is a directory, all that is below it, each before what is in it, in the order of
// names. Links are not followed. Unlike fs.WalkDir it takes names of any bytes.
func walk(dir *os.Root, name string, visit func(name string, e Entry) error) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	e := EntryOf(info)
	e.Context, e.dir, e.name = contextAt(dir, name, e), dir, name
	if err := visit(name, e); err != nil || !info.IsDir() {
		return err
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	slices.Sort(names)
	for _, child := range names {
		if err := walk(dir, name+"/"+child, visit); err != nil {
			return err
		}
	}
	return nil
}

// EntriesBelow counts what is below a directory, as far as it can be read.
func EntriesBelow(p *Anchored) int {
	n := -1                                                   // without the directory itself
	_ = p.Walk(func(string, Entry) error { n++; return nil }) // what cannot be read is not counted
	return n
}
