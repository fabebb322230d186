package exec

import (
	"context"
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

	"moon/events"
)

// openAbove opens the deepest directory that exists above a path; the name of the place is the rest of the path.
func (a *attempt) openAbove(path string) (*place, error) {
	above := filepath.Dir(path)
	for {
		if e, err := a.lstat(above); err == nil && e.kind == link {
			if _, err := a.stat(above); errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%s is a link to %s, which does not exist", above, e.target)
			}
		}
		if at, ok, missed := a.foresight.stat(above); ok && (missed != nil || at.kind != directory || at.fresh) {
			if missed != nil && !errors.Is(missed, fs.ErrNotExist) {
				return nil, missed
			}
			if missed == nil && at.kind != directory {
				return nil, &fs.PathError{Op: "mkdir", Path: above, Err: syscall.ENOTDIR}
			}
			if missed == nil {
				return &place{path: path, name: strings.TrimPrefix(path, above+"/"), foresight: a.foresight}, nil
			}
			above = filepath.Dir(above)
			continue
		}
		dir, err := openDir(filepath.Dir(a.foresight.leads(above + "/x")))
		if err == nil {
			rest, err := filepath.Rel(above, path)
			if err != nil {
				_ = dir.Close() // nothing was written through it
				return nil, err
			}
			return &place{path: path, name: rest, dir: dir, foresight: a.foresight}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || above == "/" {
			return nil, err
		}
		above = filepath.Dir(above)
	}
}

// makeDirs plans the directory at a place whose name may have several parts.
func (s fileStep) makeDirs(p *place) (*change, error) {
	w, words := s.attrs.anew(directory)
	summary := "new directory"
	if n := strings.Count(p.name, "/"); n > 0 {
		summary = fmt.Sprintf("new directory, with %d above it", n)
	}
	s.c.result = p
	parts := strings.Split(p.name, "/")
	for i := range parts { // those above it first: what they hold is removed before them
		s.c.concerns(events.ChangeCreate, events.FileResource, strings.TrimSuffix(p.path, p.name)+strings.Join(parts[:i+1], "/"))
	}
	s.c.foresees(func(f *Foresight) { f.mkdir(p.path, w, w) })
	apply := func(context.Context) error { return p.error(mkdirAtOnce(p.dir, p.name, w, w)) }
	return s.c.to(events.ChangeCreate, apply, append([]string{summary}, words...)...), nil
}

// mkdirAtOnce makes a directory where others may make the same one, or one beside it, at this moment: hosts of a play that are all
// this machine do.
func mkdirAtOnce(dir *os.Root, name string, last, above wanted) error {
	for {
		err := mkdirAll(dir, name, last, above)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		switch info, missing := dir.Lstat(name); {
		case missing == nil && info.IsDir():
			return own(dir, name, last)
		case missing == nil || !errors.Is(missing, fs.ErrNotExist):
			return err
		}
	}
}

// mkdirAll makes a directory that must not exist, and those above it that do not. They come to be at once, with their
// modes and owners: they are made under another name, so that a moon that dies in between leaves no directory with a mode
// that nobody asked for. If it fails it takes away what it made.
func mkdirAll(dir *os.Root, name string, last, above wanted) (err error) {
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
	under := path.Join(path.Dir(final), tempName())
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
		if err := own(dir, name, w); err != nil {
			return err
		}
	}
	if _, err := dir.Lstat(final); err == nil {
		return &fs.PathError{Op: "mkdir", Path: final, Err: fs.ErrExist} // a rename would replace an empty directory
	}
	return dir.Rename(under, final)
}

// mkdir makes one directory with exactly the mode wanted. It has it from the beginning, as far as the umask allows: a
// step that died here is run again, and a directory that exists keeps its mode where nobody asked for one.
func mkdir(dir *os.Root, name string, w wanted) error {
	if err := dir.Mkdir(name, fs.FileMode(w.mode&0o777)); err != nil {
		return err
	}
	if err := own(dir, name, w); err != nil {
		_ = dir.Remove(name) // the first error is the one to report
		return err
	}
	return nil
}

// own gives a new directory its mode and owners.
func own(dir *os.Root, name string, w wanted) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	is := entryOf(info)
	if w.uid < 0 {
		w.uid = is.uid
	}
	if w.gid < 0 {
		w.gid = is.gid
	}
	return w.set(dir, name, is)
}

// walk visits what is at the place, as walk does, and what would be there by now in a dry run.
func (p *place) walk(visit func(name string, e entry) error) error {
	if !p.foresight.concerns(p.path) {
		return walk(p.dir, p.name, visit)
	}
	e, err := p.look()
	if err != nil || e.kind == absent {
		return err
	}
	if err := visit(p.name, e); err != nil || e.kind != directory {
		return err
	}
	var now []string
	if at, ok := p.foresight.look(p.path); p.dir != nil && (!ok || !at.fresh) {
		if f, err := p.dir.Open(p.name); err == nil {
			now, err = f.Readdirnames(-1)
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
		}
	}
	for _, name := range p.foresight.children(p.path, now) {
		child := place{path: p.path + "/" + name, name: p.name + "/" + name, dir: p.dir, foresight: p.foresight}
		if err := child.walk(visit); err != nil {
			return err
		}
	}
	return nil
}

// walk visits a name and, if it is a directory, all that is below it, each before what is in it, in the order of
// names. Links are not followed. Unlike fs.WalkDir it takes names of any bytes.
func walk(dir *os.Root, name string, visit func(name string, e entry) error) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if err := visit(name, entryOf(info)); err != nil || !info.IsDir() {
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

func entriesBelow(p *place) int {
	n := -1                                                   // without the directory itself
	_ = p.walk(func(string, entry) error { n++; return nil }) // what cannot be read is not counted
	return n
}

// attributeChange is one entry of a tree with what it shall have.
type attributeChange struct {
	name string
	is   entry
	want wanted
}

// recurse gives a directory and everything below it the mode and owners. Links get owners only.
func (s fileStep) recurse(ctx context.Context, p *place) (*change, error) {
	var list []attributeChange
	var first string
	err := p.walk(func(name string, e entry) error {
		if w, words := s.attrs.on(e); len(words) > 0 {
			if len(list) == 0 {
				first = strings.Join(words, ", ")
			}
			list = append(list, attributeChange{name, e, w})
		}
		if stopped(ctx) != "" {
			return context.Cause(ctx)
		}
		return nil
	})
	if err != nil {
		return nil, p.error(err)
	}
	if len(list) == 0 {
		return s.c.none(), nil
	}
	summary := first
	switch {
	case len(list) > 1:
		summary = fmt.Sprintf("%s, in all %d entries", first, len(list))
	case list[0].name != p.name:
		summary = strings.TrimPrefix(list[0].name, p.name+"/") + ": " + first
	}
	s.c.foresees(func(f *Foresight) {
		for _, ch := range list {
			f.own(p.path+strings.TrimPrefix(ch.name, p.name), ch.is, ch.want)
		}
	})
	apply := func(ctx context.Context) error {
		// From the leaves to the root, which may not be entered any more with its new mode.
		for _, ch := range slices.Backward(list) {
			if stopped(ctx) != "" {
				return context.Cause(ctx)
			}
			if err := ch.want.set(p.dir, ch.name, ch.is); err != nil {
				return err
			}
		}
		return nil
	}
	return s.c.to(events.ChangeUpdate, apply, summary), nil
}
