package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"moon/events"
	"moon/exec"
	"moon/exec/digest"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("file", exec.Action{Plan: planFile})

// fileStep is one file step being planned.
type fileStep struct {
	*exec.Attempt
	args  *spec.FileArgs
	attrs fsys.Attributes
	c     *exec.Change
}

// planFile has one function for each state; each compares what is with what shall be.
func planFile(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.FileArgs)
	attrs, err := a.Overlay.NewAttributes(args.Mode, args.Owner, args.Group, args.FileAttributes)
	if err != nil {
		return nil, err
	}
	// src of a symbolic link is kept as it is written; a hard link needs the file itself.
	if args.State == fsys.HardLink && !filepath.IsAbs(args.Src) {
		absolute := *args
		absolute.Src = filepath.Join(a.Cwd, args.Src)
		args = &absolute
	}
	s := fileStep{a, args, attrs, &exec.Change{Fields: map[string]any{"path": args.Path}}}
	s.c.Diff.Path = args.Path
	if args.State == fsys.Link || args.State == fsys.HardLink {
		s.c.Fields["dest"], s.c.Fields["src"] = args.Path, args.Src
	}
	c, err := s.planChange(ctx)
	if err == nil {
		err = s.planTimes()
	}
	if err != nil {
		s.c.Close()
	}
	return c, err
}

func (s fileStep) planChange(ctx context.Context) (*exec.Change, error) {
	switch s.args.State {
	case "absent":
		return s.removeTree(ctx)
	case "link", "hard":
		return s.makeLink()
	case "directory":
		return s.makeDirectory(ctx)
	}
	p, e, err := s.open(s.args.Path)
	if err != nil {
		return nil, err
	}
	s.c.Places = append(s.c.Places, p)
	s.c.Result = p
	switch {
	case s.args.State == "perms":
		return s.setPermissions(ctx, p, e)
	case s.args.State == "" && e.Kind == fsys.Directory && s.args.Content == nil:
		return s.setAttributes(p, e)
	case e.Kind == fsys.Directory:
		return nil, fmt.Errorf("%s is a directory; to change its mode or owner use state: directory", s.args.Path)
	case s.args.State == "touch":
		return s.touchFile(ctx, p, e)
	}
	return s.makeFile(ctx, p, e)
}

// open opens the place that is to be changed: the end of a link, unless the step wants the link itself.
func (s fileStep) open(path string) (*fsys.Anchored, fsys.Entry, error) {
	if s.follows() {
		return s.Overlay.Followed(path)
	}
	p, err := s.Overlay.OpenPlace(path)
	if err != nil {
		return nil, fsys.Entry{}, err
	}
	e, err := p.Look()
	if err != nil {
		p.Close()
	}
	return p, e, err
}

// makeFile makes a regular file. Content that is given is kept exact, other content is left alone.
func (s fileStep) makeFile(ctx context.Context, p *fsys.Anchored, e fsys.Entry) (*exec.Change, error) {
	// Ansible's `state: file` only looks; it never makes a file.
	if !s.Dialect.Rules().MakesFiles && s.args.Content == nil && e.Kind == fsys.Absent && s.args.State != "touch" {
		return nil, fault.Missing(s.args.Path, "%s does not exist; `state: touch` makes it, and `copy` with `content`", s.args.Path)
	}
	if s.args.Content == nil && e.Kind != fsys.Absent {
		return s.setAttributes(p, e)
	}
	t := target{at: p, is: e, attrs: s.attrs, force: true, backup: s.args.Backup}
	if s.args.Content != nil {
		t.from = fsys.Source{Data: []byte(*s.args.Content), Size: int64(len(*s.args.Content))}
	}
	return t.planWrite(ctx, s.Attempt, s.c)
}

// setAttributes gives what exists its mode and owners.
func (s fileStep) setAttributes(p *fsys.Anchored, e fsys.Entry) (*exec.Change, error) {
	w, words := s.attrs.For(e)
	if len(words) == 0 {
		return s.c.PlanNothing(), nil
	}
	s.c.AddPrediction(func(f *fsys.Overlay) { f.Own(p.Path, e, w) })
	apply := func(context.Context) error { return p.PathError(w.Set(p.Dir, p.Name, e)) }
	return s.c.Plan(events.ChangeUpdate, apply, words...), nil
}

// touchFile is makeFile with the time of now, which is always a change, unless both times are to stay.
func (s fileStep) touchFile(ctx context.Context, p *fsys.Anchored, e fsys.Entry) (*exec.Change, error) {
	c, err := s.makeFile(ctx, p, e)
	if err == nil {
		c.Fields["dest"] = s.args.Path
	}
	if err != nil || c.Diff.Kind == events.ChangeCreate {
		return c, err
	}
	// A time that is given comes after this.
	given := func(t string) bool { return t != "" && t != "now" }
	keepAccess, keepMod := given(s.args.AccessTime), given(s.args.ModTime)
	if keepAccess && keepMod {
		return c, nil
	}
	first, words := c.Apply, []string{"time"}
	if c.Diff.Kind != events.ChangeNone {
		words = append(words, c.Diff.Summary)
	}
	apply := func(ctx context.Context) error {
		if first != nil {
			if err := first(ctx); err != nil {
				return err
			}
		}
		return p.PathError(p.Touch(keepAccess, keepMod))
	}
	return c.Plan(events.ChangeUpdate, apply, words...), nil
}

func (s fileStep) setPermissions(ctx context.Context, p *fsys.Anchored, e fsys.Entry) (*exec.Change, error) {
	if e.Kind == fsys.Absent {
		return nil, fault.Missing(s.args.Path, "%s does not exist", s.args.Path)
	}
	if s.args.Recurse && e.Kind == fsys.Directory {
		return s.setRecursively(ctx, p)
	}
	return s.setAttributes(p, e)
}

// makeDirectory makes a directory with the parents it lacks. All that are made get the mode and the owners.
func (s fileStep) makeDirectory(ctx context.Context) (*exec.Change, error) {
	path := filepath.Clean(s.args.Path)
	p, e, err := s.open(path)
	if errors.As(err, new(fault.NotYet)) {
		if p, err = s.Overlay.OpenAbove(path); err != nil {
			return nil, err
		}
		s.c.Places = append(s.c.Places, p)
		return s.makeDirs(p)
	}
	if err != nil {
		return nil, err
	}
	s.c.Places = append(s.c.Places, p)
	s.c.Result = p
	switch {
	case e.Kind == fsys.Absent:
		return s.makeDirs(p)
	case e.Kind != fsys.Directory:
		return nil, fmt.Errorf("%s is %s; remove it first with state: absent", s.args.Path, e.What())
	case s.args.Recurse:
		return s.setRecursively(ctx, p)
	}
	return s.setAttributes(p, e)
}

// removeTree removes what is there, with everything below it.
func (s fileStep) removeTree(ctx context.Context) (*exec.Change, error) {
	p, err := s.Overlay.OpenPlace(s.args.Path)
	if errors.As(err, new(fault.NotYet)) {
		s.c.Fields["state"] = fsys.Absent
		return s.c.PlanNothing(), nil
	}
	if err != nil {
		return nil, err
	}
	s.c.Places = append(s.c.Places, p)
	s.c.Result = p
	// The root is not an entry of any directory, so it has no name to remove.
	if p.Name == "." {
		return nil, fmt.Errorf("%s cannot be removed", s.args.Path)
	}
	e, err := p.Look()
	if err != nil {
		return nil, err
	}
	if e.Kind == fsys.Absent {
		return s.c.PlanNothing(), nil
	}
	if s.args.IfEmpty {
		if s.c.Diff.Summary = fullness(p, e); s.c.Diff.Summary != "" {
			s.c.Skips = true
			return s.c.PlanNothing(), nil
		}
	}
	if err := s.checkUnchanged(ctx, p, e); err != nil {
		return nil, err
	}
	summary := e.What()
	if e.Kind == fsys.Directory {
		if n := fsys.EntriesBelow(p); n > 0 {
			summary = "a directory with " + countEntries(n)
		}
	}
	s.c.AddPrediction(func(f *fsys.Overlay) { f.Put(p.Path, fsys.Nothing) })
	return s.c.Plan(events.ChangeDelete, func(ctx context.Context) error { return s.removeEntry(ctx, p) }, summary), nil
}

// fullness says why what is there is not empty; "": it is.
func fullness(p *fsys.Anchored, e fsys.Entry) string {
	switch e.Kind {
	case fsys.Directory:
		if n := fsys.EntriesBelow(p); n > 0 {
			return p.Path + " is not empty: " + countEntries(n)
		}
		return ""
	case fsys.Regular:
		if e.Size > 0 {
			return p.Path + " is not empty: " + fsys.FormatSize(e.Size)
		}
		return ""
	}
	return p.Path + " is " + e.What()
}

// checkUnchanged returns an error unless what is there has the digest that the step asks for.
func (s fileStep) checkUnchanged(ctx context.Context, p *fsys.Anchored, e fsys.Entry) error {
	if s.args.Checksum == "" {
		return nil
	}
	kind, want, err := digest.Read(s.args.Checksum)
	if err != nil {
		return err
	}
	is := ""
	switch {
	case kind == digest.Link && e.Kind == fsys.Link:
		is = e.Target
	case kind == digest.Stamp && e.Kind == fsys.Regular:
		is = strings.TrimPrefix(fsys.Stamp(e), kind)
	case (kind == digest.Tree || kind == digest.Venv) && e.Kind == fsys.Directory:
		is, err = p.Digest(ctx, e, "")
		is = strings.TrimPrefix(is, kind)
	case fsys.Hashes[kind] != nil && e.Kind == fsys.Regular:
		is, err = p.Digest(ctx, e, kind)
	default:
		return fmt.Errorf("%s is %s now, which moon did not leave there; remove it without `checksum`, or keep it", s.args.Path, e.What())
	}
	if err != nil {
		return err
	}
	if is == want {
		return nil
	}
	err = fmt.Errorf("%s has been edited since moon left it: its checksum is %s, not %s; save what you need and remove it without `checksum`, or keep it",
		s.args.Path, is, want)
	// In the form that was asked for, so that who keeps it can ask for that from now on.
	return fault.WithFields{Err: err, Fields: map[string]any{"checksum": strings.TrimSuffix(s.args.Checksum, want) + is}}
}

func (s fileStep) removeEntry(ctx context.Context, p *fsys.Anchored) error {
	// What is conditional is looked at again: approving may have taken its time.
	if s.args.Checksum != "" || s.args.IfEmpty {
		e, err := p.Look()
		if err != nil {
			return err
		}
		if err := s.checkUnchanged(ctx, p, e); err != nil {
			return err
		}
		if full := fullness(p, e); s.args.IfEmpty && full != "" {
			return errors.New(full)
		}
	}
	switch {
	case s.args.Backup:
	case s.args.IfEmpty:
		return p.PathError(p.Dir.Remove(p.Name)) // which removes no directory that has got something in it just now
	default:
		return p.PathError(p.Dir.RemoveAll(p.Name))
	}
	name := fmt.Sprintf("%s.%s~", p.Name, time.Now().Format("20060102-150405"))
	if _, err := p.Dir.Lstat(name); err == nil {
		return &fs.PathError{Op: "rename", Path: filepath.Join(filepath.Dir(p.Path), name), Err: fs.ErrExist}
	}
	if err := p.Dir.Rename(p.Name, name); err != nil {
		return p.PathError(err)
	}
	s.c.Fields["backup_file"] = filepath.Join(filepath.Dir(p.Path), name)
	return nil
}

// makeLink makes a symbolic or a hard link.
func (s fileStep) makeLink() (*exec.Change, error) {
	p, err := s.Overlay.OpenPlace(s.args.Path)
	if err != nil {
		return nil, err
	}
	s.c.Places = append(s.c.Places, p)
	s.c.Result = p
	s.c.Fields["src"] = s.args.Src
	e, err := p.Look()
	if err != nil {
		return nil, err
	}
	src, err := s.Overlay.LookThrough(s.linkTarget())
	if errors.As(err, new(fault.NotYet)) || err == nil && src.Kind == fsys.Absent {
		err = fs.ErrNotExist
	}
	// With force a symbolic link may lead to what does not exist. A hard link is another name of a file, which must exist.
	if err != nil && (s.args.State == "hard" || !s.args.Force) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fault.Missing(s.args.Path, "src %s does not exist", s.args.Src)
		}
		return nil, err
	}
	if s.args.State == "hard" {
		c, err := s.hardLink(p, e, src)
		if err == nil {
			err = s.setBehind()
		}
		return c, err
	}
	return s.symbolicLink(p, e)
}

// symbolicLink makes a link, and gives what it leads to the mode and the owners, or without follow the link itself the owners.
func (s fileStep) symbolicLink(p *fsys.Anchored, e fsys.Entry) (*exec.Change, error) {
	own := s.attrs
	if s.follows() {
		own = fsys.Attributes{UID: -1, GID: -1}
	} else if !s.args.Mode.IsZero() {
		s.c.Warnings = append(s.c.Warnings, "mode: a link has none of its own; it is left alone")
	}
	if e.Kind == fsys.Link && e.Target == s.args.Src {
		if !s.follows() {
			return s.setAttributes(p, e)
		}
		s.c.PlanNothing()
		return s.c, s.setBehind()
	}
	words := []string{"link to " + s.args.Src}
	if e.Kind == fsys.Link {
		words[0] = "link to " + e.Target + " → " + s.args.Src
	}
	s.c.AddPrediction(func(f *fsys.Overlay) {
		e := fsys.Wanted{Mode: 0o777, UID: own.UID, GID: own.GID}.Entry(fsys.Link)
		e.Target = s.args.Src
		f.Put(p.Path, fsys.Predicted{Entry: e})
	})
	c, err := s.replaceBy(p, e, e.Kind == fsys.Link, words, func(name string) error {
		if err := p.Dir.Symlink(s.args.Src, name); err != nil {
			return err
		}
		return p.Dir.Lchown(name, own.UID, own.GID)
	})
	if err == nil && s.follows() {
		err = s.setBehind()
	}
	return c, err
}

// follows reports whether what a link leads to is meant, and not the link.
func (s fileStep) follows() bool { return s.args.Follow == nil || *s.args.Follow }

// setBehind gives what the link of the step leads to, or has as another name, its mode and owners, as far as there is such a thing.
func (s fileStep) setBehind() error {
	if !s.args.GivesAttributes() {
		return nil
	}
	p, e, err := s.Overlay.Followed(s.linkTarget())
	if errors.As(err, new(fault.NotYet)) || err == nil && e.Kind == fsys.Absent {
		if err == nil {
			p.Close()
		}
		s.c.Warnings = append(s.c.Warnings, "mode and owners are those of what the link leads to, which does not exist; `follow: false` means the link")
		return nil
	}
	if err != nil {
		return err
	}
	s.c.Places = append(s.c.Places, p)
	w, words := s.attrs.For(e)
	if len(words) == 0 {
		return nil
	}
	s.c.AddPrediction(func(f *fsys.Overlay) { f.Own(p.Path, e, w) })
	planAfter(s.c, events.ChangeUpdate, func(context.Context) error { return p.PathError(w.Set(p.Dir, p.Name, e)) },
		s.args.Src+": "+strings.Join(words, ", "))
	return nil
}

// linkTarget is where the link leads to. A symbolic one leads on from where it is itself, and in a play it may be written so.
func (s fileStep) linkTarget() string {
	if filepath.IsAbs(s.args.Src) {
		return s.args.Src
	}
	return filepath.Join(filepath.Dir(s.args.Path), s.args.Src)
}

func (s fileStep) hardLink(p *fsys.Anchored, e, src fsys.Entry) (*exec.Change, error) {
	if src.Kind == fsys.Directory {
		return nil, fmt.Errorf("src %s is a directory, which can have no hard link", s.args.Src)
	}
	s.c.Fields["state"] = fsys.HardLink
	s.c.Result = nil
	// Two names that are only predicted have no inode to compare; the overlay remembers which file they are.
	at, _ := s.Overlay.Look(p.Path)
	if e.Kind == fsys.Regular && (os.SameFile(e.Info, src.Info) || p.Path == s.args.Src || at.Twin == s.args.Src) {
		return s.c.PlanNothing(), nil
	}
	s.c.AddPrediction(func(f *fsys.Overlay) {
		at, ok, _ := f.Follow(s.args.Src)
		if !ok {
			at = fsys.Predicted{Entry: src, From: fsys.Source{Path: s.args.Src, Size: src.Size}}
		}
		at.Twin = s.args.Src
		f.Put(p.Path, at)
	})
	return s.replaceBy(p, e, false, []string{"hard link to " + s.args.Src}, func(name string) error {
		if err := linkInto(p.Dir, s.args.Src, name); err != nil {
			return err
		}
		// The link was made by the path of src, which may lead to another file by now.
		if info, err := p.Dir.Lstat(name); err != nil || !os.SameFile(info, src.Info) {
			return &fs.PathError{Op: "link", Path: s.args.Src, Err: fsys.ErrSwapped}
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
	// Without the flag linkat would make another name of the link that src may be.
	defer func() { _ = d.Close() }() // it was only read
	if err := unix.Linkat(unix.AT_FDCWD, src, int(d.Fd()), name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &fs.PathError{Op: "link", Path: name, Err: err}
	}
	return nil
}

// replaceBy puts a link in the place of what is there. Unless it is free to, it needs force for that.
func (s fileStep) replaceBy(p *fsys.Anchored, e fsys.Entry, free bool, words []string, make func(name string) error) (*exec.Change, error) {
	kind := events.ChangeUpdate
	switch {
	case e.Kind == fsys.Absent:
		kind = events.ChangeCreate
	case !free && !s.args.Force:
		return nil, fmt.Errorf("%s is %s; force: true replaces it", s.args.Path, e.What())
	case e.Kind == fsys.Directory && fsys.EntriesBelow(p) > 0:
		return nil, fmt.Errorf("%s is a directory with %s in it; remove it first with state: absent", s.args.Path,
			countEntries(fsys.EntriesBelow(p)))
	case !free:
		words = append([]string{e.What() + " → link"}, words...)
	}
	apply := func(context.Context) error {
		name := fsys.TempName()
		if err := make(name); err != nil {
			_ = p.Dir.Remove(name) // the first error is the one to report
			return p.PathError(err)
		}
		err := s.swapEntry(p, e, name)
		if err != nil {
			_ = p.Dir.Remove(name) // likewise
		}
		return p.PathError(err)
	}
	return s.c.Plan(kind, apply, words...), nil
}

func (s fileStep) swapEntry(p *fsys.Anchored, e fsys.Entry, name string) error {
	if s.args.Backup && e.Kind != fsys.Absent && e.Kind != fsys.Directory {
		kept, err := p.Keep()
		if err != nil {
			return err
		}
		s.c.Fields["backup_file"] = kept
	}
	// A rename puts nothing in the place of a directory. For a moment there is neither of the two.
	if e.Kind == fsys.Directory {
		if err := p.Dir.Remove(p.Name); err != nil { // only if it is empty
			return err
		}
	}
	return p.Dir.Rename(name, p.Name)
}

func countEntries(entries int) string {
	if entries == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", entries)
}
