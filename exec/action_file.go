package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("file", action{plan: planFile})

// fileStep is one file step being planned.
type fileStep struct {
	*attempt
	args  *spec.FileArgs
	attrs attributes
	c     *change
}

// planFile has one function for each state; each compares what is with what shall be.
func planFile(ctx context.Context, a *attempt) (*change, error) {
	args := a.Args.(*spec.FileArgs)
	attrs, err := a.newAttributes(args.Mode, args.Owner, args.Group)
	if err != nil {
		return nil, err
	}
	if args.State == hard && !filepath.IsAbs(args.Src) {
		absolute := *args
		absolute.Src = filepath.Join(a.Cwd, args.Src)
		args = &absolute
	}
	s := fileStep{a, args, attrs, &change{fields: map[string]any{"path": args.Path}}}
	s.c.diff.Path = args.Path
	if args.State == link || args.State == hard {
		s.c.fields["dest"], s.c.fields["src"] = args.Path, args.Src
	}
	c, err := s.plan(ctx)
	if err != nil {
		s.c.close()
	}
	return c, err
}

func (s fileStep) plan(ctx context.Context) (*change, error) {
	switch s.args.State {
	case "absent":
		return s.absent()
	case "link", "hard":
		return s.link()
	case "directory":
		return s.directory(ctx)
	}
	p, e, err := s.followed(s.args.Path)
	if err != nil {
		return nil, err
	}
	s.c.places = append(s.c.places, p)
	s.c.result = p
	switch {
	case s.args.State == "perms":
		return s.perms(ctx, p, e)
	case s.args.State == "" && e.kind == directory && s.args.Content == nil:
		return s.attributes(p, e)
	case e.kind == directory:
		return nil, fmt.Errorf("%s is a directory; to change its mode or owner use state: directory", s.args.Path)
	case s.args.State == "touch":
		return s.touch(ctx, p, e)
	}
	return s.file(ctx, p, e)
}

// file makes a regular file. Content that is given is kept exact, other content is left alone.
func (s fileStep) file(ctx context.Context, p *place, e entry) (*change, error) {
	if s.Plays && s.args.Content == nil && e.kind == absent && s.args.State != "touch" {
		return nil, missing(s.args.Path, "%s does not exist; `state: touch` makes it, and `copy` with `content`", s.args.Path)
	}
	if s.args.Content == nil && e.kind != absent {
		return s.attributes(p, e)
	}
	t := target{at: p, is: e, attrs: s.attrs, force: true, backup: s.args.Backup}
	if s.args.Content != nil {
		t.from = source{data: []byte(*s.args.Content), size: int64(len(*s.args.Content))}
	}
	return t.plan(ctx, s.attempt, s.c)
}

// attributes gives what exists its mode and owners.
func (s fileStep) attributes(p *place, e entry) (*change, error) {
	w, words := s.attrs.on(e)
	if len(words) == 0 {
		return s.c.none(), nil
	}
	s.c.foresees(func(f *Foresight) { f.own(p.path, e, w) })
	apply := func(context.Context) error { return p.error(w.set(p.dir, p.name, e)) }
	return s.c.to(events.ChangeUpdate, apply, words...), nil
}

// touch is file with the time of now, which is always a change, unless both times are to stay.
func (s fileStep) touch(ctx context.Context, p *place, e entry) (*change, error) {
	c, err := s.file(ctx, p, e)
	if err == nil && s.Plays {
		c.fields["dest"] = s.args.Path
	}
	if err != nil || c.diff.Kind == events.ChangeCreate {
		return c, err
	}
	keepAccess, keepMod := s.args.AccessTime == "preserve", s.args.ModTime == "preserve"
	if keepAccess && keepMod {
		return c, nil
	}
	first, words := c.apply, []string{"time"}
	if c.diff.Kind != events.ChangeNone {
		words = append(words, c.diff.Summary)
	}
	apply := func(ctx context.Context) error {
		if first != nil {
			if err := first(ctx); err != nil {
				return err
			}
		}
		return p.error(p.touch(keepAccess, keepMod))
	}
	return c.to(events.ChangeUpdate, apply, words...), nil
}

// touch gives what is at the place the time of now, but for the times that are kept.
func (p *place) touch(keepAccess, keepMod bool) error {
	e, err := p.look()
	if err != nil {
		return err
	}
	fd, err := openSeen(p.dir, p.name, e)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	access := time.Now()
	mod := access
	if keepAccess {
		access = time.Time{}
	}
	if keepMod {
		mod = time.Time{}
	}
	return touchFD(fd, access, mod)
}

func (s fileStep) perms(ctx context.Context, p *place, e entry) (*change, error) {
	if e.kind == absent {
		return nil, missing(s.args.Path, "%s does not exist", s.args.Path)
	}
	if s.args.Recurse && e.kind == directory {
		return s.recurse(ctx, p)
	}
	return s.attributes(p, e)
}

// directory makes a directory with the parents it lacks. All that are made get the mode and the owners.
func (s fileStep) directory(ctx context.Context) (*change, error) {
	path := filepath.Clean(s.args.Path)
	p, e, err := s.followed(path)
	if errors.As(err, new(notYet)) {
		if p, err = s.openAbove(path); err != nil {
			return nil, err
		}
		s.c.places = append(s.c.places, p)
		return s.makeDirs(p)
	}
	if err != nil {
		return nil, err
	}
	s.c.places = append(s.c.places, p)
	s.c.result = p
	switch {
	case e.kind == absent:
		return s.makeDirs(p)
	case e.kind != directory:
		return nil, fmt.Errorf("%s is %s; remove it first with state: absent", s.args.Path, e.what())
	case s.args.Recurse:
		return s.recurse(ctx, p)
	}
	return s.attributes(p, e)
}

// absent removes what is there, with everything below it.
func (s fileStep) absent() (*change, error) {
	p, err := s.openPlace(s.args.Path)
	if errors.As(err, new(notYet)) {
		s.c.fields["state"] = absent
		return s.c.none(), nil
	}
	if err != nil {
		return nil, err
	}
	s.c.places = append(s.c.places, p)
	s.c.result = p
	if p.name == "." {
		return nil, fmt.Errorf("%s cannot be removed", s.args.Path)
	}
	e, err := p.look()
	if err != nil {
		return nil, err
	}
	if e.kind == absent {
		return s.c.none(), nil
	}
	summary := e.what()
	if e.kind == directory {
		if n := entriesBelow(p); n > 0 {
			summary = "a directory with " + counted(n)
		}
	}
	s.c.foresees(func(f *Foresight) { f.put(p.path, nothing) })
	return s.c.to(events.ChangeDelete, func(context.Context) error { return s.remove(p) }, summary), nil
}

func (s fileStep) remove(p *place) error {
	if !s.args.Backup {
		return p.error(p.dir.RemoveAll(p.name))
	}
	name := fmt.Sprintf("%s.%s~", p.name, time.Now().Format("20060102-150405"))
	if _, err := p.dir.Lstat(name); err == nil {
		return &fs.PathError{Op: "rename", Path: filepath.Join(filepath.Dir(p.path), name), Err: fs.ErrExist}
	}
	if err := p.dir.Rename(p.name, name); err != nil {
		return p.error(err)
	}
	s.c.fields["backup_file"] = filepath.Join(filepath.Dir(p.path), name)
	return nil
}

// link makes a symbolic or a hard link.
func (s fileStep) link() (*change, error) {
	p, err := s.openPlace(s.args.Path)
	if err != nil {
		return nil, err
	}
	s.c.places = append(s.c.places, p)
	s.c.result = p
	s.c.fields["src"] = s.args.Src
	e, err := p.look()
	if err != nil {
		return nil, err
	}
	if !s.args.Mode.IsZero() {
		s.c.warnings = append(s.c.warnings, "mode: a link has none of its own; it is left alone")
	}
	src, err := s.lookThrough(s.source())
	if errors.As(err, new(notYet)) || err == nil && src.kind == absent {
		err = fs.ErrNotExist
	}
	if err != nil && (s.args.State == "hard" || !s.args.Force) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, missing(s.args.Path, "src %s does not exist", s.args.Src)
		}
		return nil, err
	}
	if s.args.State == "hard" {
		return s.hardLink(p, e, src)
	}
	if e.kind == link && e.target == s.args.Src {
		return s.attributes(p, e)
	}
	words := []string{"link to " + s.args.Src}
	if e.kind == link {
		words[0] = "link to " + e.target + " → " + s.args.Src
	}
	s.c.foresees(func(f *Foresight) {
		e := wanted{mode: 0o777, uid: s.attrs.uid, gid: s.attrs.gid}.entry(link)
		e.target = s.args.Src
		f.put(p.path, foreseen{entry: e})
	})
	return s.replaceBy(p, e, e.kind == link, words, func(name string) error {
		if err := p.dir.Symlink(s.args.Src, name); err != nil {
			return err
		}
		return p.dir.Lchown(name, s.attrs.uid, s.attrs.gid)
	})
}

// source is where the link leads to. A symbolic one leads on from where it is itself, and in a play it may be written so.
func (s fileStep) source() string {
	if filepath.IsAbs(s.args.Src) {
		return s.args.Src
	}
	return filepath.Join(filepath.Dir(s.args.Path), s.args.Src)
}

func (s fileStep) hardLink(p *place, e, src entry) (*change, error) {
	if src.kind == directory {
		return nil, fmt.Errorf("src %s is a directory, which can have no hard link", s.args.Src)
	}
	s.c.fields["state"] = hard
	s.c.result = nil
	at, _ := s.foresight.look(p.path)
	if e.kind == regular && (os.SameFile(e.info, src.info) || p.path == s.args.Src || at.twin == s.args.Src) {
		return s.c.none(), nil
	}
	s.c.foresees(func(f *Foresight) {
		at, ok, _ := f.stat(s.args.Src)
		if !ok {
			at = foreseen{entry: src, from: source{path: s.args.Src, size: src.size}}
		}
		at.twin = s.args.Src
		f.put(p.path, at)
	})
	return s.replaceBy(p, e, false, []string{"hard link to " + s.args.Src}, func(name string) error {
		if err := linkInto(p.dir, s.args.Src, name); err != nil {
			return err
		}
		if info, err := p.dir.Lstat(name); err != nil || !os.SameFile(info, src.info) {
			return &fs.PathError{Op: "link", Path: s.args.Src, Err: errSwapped}
		}
		return nil
	})
}

// linkInto makes a hard link in an open directory to a file anywhere, which os.Root has no means for.
func linkInto(dir *os.Root, src, name string) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // it was only read
	if err := unix.Linkat(unix.AT_FDCWD, src, int(d.Fd()), name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &fs.PathError{Op: "link", Path: name, Err: err}
	}
	return nil
}

// replaceBy puts a link in the place of what is there. Unless it is free to, it needs force for that.
func (s fileStep) replaceBy(p *place, e entry, free bool, words []string, make func(name string) error) (*change, error) {
	kind := events.ChangeUpdate
	switch {
	case e.kind == absent:
		kind = events.ChangeCreate
	case !free && !s.args.Force:
		return nil, fmt.Errorf("%s is %s; force: true replaces it", s.args.Path, e.what())
	case e.kind == directory && entriesBelow(p) > 0:
		return nil, fmt.Errorf("%s is a directory with %s in it; remove it first with state: absent", s.args.Path, counted(entriesBelow(p)))
	case !free:
		words = append([]string{e.what() + " → link"}, words...)
	}
	apply := func(context.Context) error {
		name := tempName()
		if err := make(name); err != nil {
			_ = p.dir.Remove(name) // the first error is the one to report
			return p.error(err)
		}
		err := s.swap(p, e, name)
		if err != nil {
			_ = p.dir.Remove(name) // likewise
		}
		return p.error(err)
	}
	return s.c.to(kind, apply, words...), nil
}

func (s fileStep) swap(p *place, e entry, name string) error {
	if s.args.Backup && e.kind != absent && e.kind != directory {
		kept, err := p.keep()
		if err != nil {
			return err
		}
		s.c.fields["backup_file"] = kept
	}
	if e.kind == directory {
		if err := p.dir.Remove(p.name); err != nil { // only if it is empty
			return err
		}
	}
	return p.dir.Rename(name, p.name)
}

func counted(entries int) string {
	if entries == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", entries)
}
