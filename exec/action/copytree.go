package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

// treeCopy is a directory being compared with its copy, entry by entry.
type treeCopy struct {
	*exec.Attempt
	args    *spec.CopyArgs
	src     string
	dest    string
	attrs   fsys.Attributes // of files
	dirs    fsys.Attributes // of directories, which have the mode of the source if there is none
	c       *exec.Change
	to      *os.Root       // dest; nil as long as it does not exist
	there   bool           // dest exists, or would by now in a dry run
	above   *fsys.Anchored // where dest is or will be
	steps   []func(context.Context, *os.Root) error
	created int
	updated int
	first   string
	inside  map[string]bool // a directory that did not exist, and what is in it
	follow  bool            // links of the source
	links   int             // how many of them lead to where the walk is
	many    bool            // so many files that they go onto the disk together
	text    strings.Builder
}

// planTree copies a directory into dest, or what is in it if src ends in a slash, with everything below. Links that are not followed stay
// links; what is in dest only is left alone; so is the mode of a directory that exists.
func planTree(ctx context.Context, a *exec.Attempt, args *spec.CopyArgs, attrs fsys.Attributes) (*exec.Change, error) {
	if args.Checksum != "" {
		return nil, fmt.Errorf("checksum: src %s is a directory", args.Src)
	}
	dirs := fsys.Attributes{Mode: args.DirMode, UID: attrs.UID, GID: attrs.GID}
	t := &treeCopy{Attempt: a, args: args, attrs: attrs, dirs: dirs, src: filepath.Clean(args.Src), dest: filepath.Clean(args.Dest)}
	t.inside, t.follow = map[string]bool{}, a.FollowsLinks()
	if args.LocalFollow != nil {
		t.follow = *args.LocalFollow
	}
	if args.RemoteSrc {
		t.follow = false
	}
	if !strings.HasSuffix(args.Src, "/") {
		t.dest = filepath.Join(t.dest, filepath.Base(t.src))
	}
	t.c = &exec.Change{Fields: map[string]any{"src": args.Src, "dest": t.dest}}
	t.c.Diff.Path = t.dest
	if err := t.openSource(); err != nil {
		return nil, err
	}
	top, err := t.Files().Stat(t.src)
	if err == nil {
		err = fsys.WalkFrom(ctx, t.Files(), t.src, top,
			func(path string, info fs.FileInfo) error { return t.compareEntry(ctx, path, info) })
	}
	if err != nil {
		t.c.Close()
		return nil, err
	}
	t.c.Result = t.above
	if len(t.steps) == 0 {
		return t.c.PlanNothing(), nil
	}
	kind := events.ChangeUpdate
	if !t.there {
		kind = events.ChangeCreate
	}
	switch {
	case !t.there: // one thing, with all that is in it
		t.c.AddDirs(t.above)
		t.c.Resources = t.c.Resources[:len(t.c.Resources)-1]
		t.c.AddTree(t.dest)
	case t.updated > exec.FewResources:
		t.c.AddFile(events.ChangeUpdate, t.dest)
	}
	t.c.Diff.Text = t.text.String()
	return t.c.Plan(kind, t.applySteps, t.describeChange()), nil
}

func (t *treeCopy) describeChange() string {
	var parts []string
	if t.created > 0 {
		parts = append(parts, fmt.Sprintf("%d new", t.created))
	}
	if t.updated > 0 {
		parts = append(parts, fmt.Sprintf("%d updated", t.updated))
	}
	words := strings.Join(parts, ", ")
	if t.first != "" {
		words += ": " + t.first
	}
	return words
}

func (t *treeCopy) openSource() error {
	var err error
	if t.above, err = t.Overlay.OpenAbove(t.dest); err != nil {
		return err
	}
	t.c.Places = append(t.c.Places, t.above)
	// A directory that is only predicted cannot be opened, and what would be in it has nothing to be compared with.
	if at, ok, missed := t.Overlay.Follow(t.dest); ok && (missed != nil || at.Kind != fsys.Directory || at.Fresh) {
		if missed == nil && at.Kind != fsys.Directory {
			t.c.Close()
			return fmt.Errorf("%s is %s, and src is a directory", t.dest, at.What())
		}
		t.there = missed == nil
		return nil
	}
	err = t.enterDest()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	t.c.Close()
	if info, statErr := os.Stat(t.dest); statErr == nil && !info.IsDir() {
		return fmt.Errorf("%s is %s, and src is a directory", t.dest, fsys.EntryOf(info).What())
	}
	return err
}

// enterDest opens dest. A link to a directory is as good as one.
func (t *treeCopy) enterDest() error {
	to, err := fsys.OpenDir(t.dest)
	if err != nil {
		return err
	}
	t.to, t.there = to, true
	t.c.Places = append(t.c.Places, &fsys.Anchored{Path: t.dest, Name: ".", Dir: to})
	return nil
}

// compareEntry compares one entry of the source with its copy.
func (t *treeCopy) compareEntry(ctx context.Context, path string, info fs.FileInfo) error {
	rel, err := filepath.Rel(t.src, path)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 && t.follow {
		if done, err := t.followLink(ctx, path); done || err != nil {
			return err
		}
	}
	from, is := fsys.EntryOf(info), fsys.Entry{Kind: fsys.Absent}
	if t.there {
		at := fsys.Anchored{Path: filepath.Join(t.dest, rel), Name: rel, Dir: t.to, Overlay: t.Overlay}
		if is, err = at.Look(); err != nil {
			return err
		}
	}
	switch from.Kind {
	case fsys.Directory:
		return t.copyDirectory(rel, from, is)
	case fsys.Link:
		return t.copyLink(rel, path, is)
	case fsys.Regular:
		return t.copyFile(ctx, rel, path, from, is)
	}
	t.c.Warnings = append(t.c.Warnings, filepath.Join(t.src, rel)+" is neither a file nor a directory; it is skipped")
	return nil
}

// maxFollowed is how many links to directories may lead into each other. A source whose links lead in circles is deeper than that.
const maxFollowed = 20

// followLink copies what a link of the source leads to. It reports false if the link itself is to be copied: one that leads nowhere, or
// to a directory that it is in.
func (t *treeCopy) followLink(ctx context.Context, path string) (done bool, err error) {
	end, err := t.Files().Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case end.Mode().IsRegular():
		return true, t.compareEntry(ctx, path, end)
	case !end.IsDir() || t.links >= maxFollowed:
		return false, nil
	}
	for above := filepath.Dir(path); len(above) >= len(t.src); above = filepath.Dir(above) {
		if info, err := t.Files().Stat(above); err == nil && os.SameFile(info, end) {
			return false, nil
		}
	}
	t.links++
	defer func() { t.links-- }()
	return true, fsys.WalkFrom(ctx, t.Files(), path, end,
		func(path string, info fs.FileInfo) error { return t.compareEntry(ctx, path, info) })
}

// addStep notes what is to be done with an entry. The walk comes to a directory before it comes to what is in it.
func (t *treeCopy) addStep(rel string, dir bool, is fsys.Entry, do func(context.Context, *os.Root) error) {
	if is.Kind == fsys.Absent {
		t.created++
	} else {
		t.updated++
	}
	if t.first == "" && rel != "." {
		t.first = rel
	}
	t.steps = append(t.steps, do)
	switch path := filepath.Join(t.dest, rel); {
	case !t.there:
	case is.Kind != fsys.Absent:
		if t.updated <= exec.FewResources {
			t.c.AddFile(events.ChangeUpdate, path)
		}
	case t.inside[filepath.Dir(rel)]: // of a directory that is created as one, with this in it
		t.inside[rel] = true
	case dir:
		t.inside[rel] = true
		t.c.AddTree(path)
	default:
		t.c.AddFile(events.ChangeCreate, path)
	}
}

func (t *treeCopy) copyDirectory(rel string, from, is fsys.Entry) error {
	switch is.Kind {
	case fsys.Absent:
		above, own := t.newDirectory(from)
		t.c.AddPrediction(func(f *fsys.Overlay) { f.Mkdir(filepath.Join(t.dest, rel), own, above) })
		t.addStep(rel, true, is, func(_ context.Context, to *os.Root) error {
			if rel == "." {
				return nil // apply has made it
			}
			return fsys.MakeDir(to, rel, own)
		})
	case fsys.Directory:
		dirs := t.dirs
		if rel == "." { // is only given a mode if it is new
			dirs.Mode = spec.Mode{}
		}
		if w, words := dirs.For(is); len(words) > 0 {
			t.c.AddPrediction(func(f *fsys.Overlay) { f.Own(filepath.Join(t.dest, rel), is, w) })
			t.addStep(rel, true, is, func(_ context.Context, to *os.Root) error { return w.Set(to, rel, is) })
		}
	default:
		return fmt.Errorf("%s is %s, where src has a directory", filepath.Join(t.dest, rel), is.What())
	}
	return nil
}

// newDirectory is what a directory becomes that is as one of the source, and what those above it become.
func (t *treeCopy) newDirectory(from fsys.Entry) (above, own fsys.Wanted) {
	above, _ = t.dirs.ForNew(fsys.Directory)
	if own = above; t.dirs.Mode.IsZero() {
		own.Mode = from.Mode
	}
	return above, own
}

func (t *treeCopy) copyLink(rel, path string, is fsys.Entry) error {
	target, err := t.Files().Readlink(path)
	if err != nil {
		return err
	}
	switch {
	case is.Kind == fsys.Link && is.Target == target, is.Kind != fsys.Absent && !t.args.Force:
		return nil
	case is.Kind == fsys.Directory:
		return fmt.Errorf("%s is a directory, where src has a link", filepath.Join(t.dest, rel))
	}
	t.c.AddPrediction(func(f *fsys.Overlay) {
		e := fsys.Wanted{Mode: 0o777, UID: t.attrs.UID, GID: t.attrs.GID}.Entry(fsys.Link)
		e.Target = target
		f.Put(filepath.Join(t.dest, rel), fsys.Predicted{Entry: e})
	})
	t.addStep(rel, false, is, func(_ context.Context, to *os.Root) error {
		// A link cannot be changed. A new one takes its place by a rename, so there is a link at any moment.
		temp := filepath.Join(filepath.Dir(rel), fsys.TempName())
		if err := to.Symlink(target, temp); err != nil {
			return err
		}
		err := errors.Join(to.Lchown(temp, t.attrs.UID, t.attrs.GID), to.Rename(temp, rel))
		if err != nil {
			_ = to.Remove(temp) // the first error is the one to report
		}
		return err
	})
	return nil
}

func (t *treeCopy) copyFile(ctx context.Context, rel, path string, from, is fsys.Entry) error {
	mode := t.attrs.Mode
	if mode.IsZero() || mode.Preserve() {
		var err error
		if mode, err = spec.ParseMode(fmt.Sprintf("%04o", from.Mode)); err != nil {
			return err
		}
	}
	f := target{
		is: is, attrs: fsys.Attributes{Mode: mode, UID: t.attrs.UID, GID: t.attrs.GID, Flags: t.attrs.Flags},
		from: fsys.Source{Files: t.Files(), Path: path, Size: from.Size}, force: t.args.Force, backup: t.args.Backup,
		validate: t.args.Validate, later: &t.many,
	}
	f.at = &fsys.Anchored{Path: filepath.Join(t.dest, rel), Name: rel, Dir: t.to, Overlay: t.Overlay}
	c, err := f.planWrite(ctx, t.Attempt, &exec.Change{Fields: map[string]any{}})
	if err != nil || c.Diff.Kind == events.ChangeNone {
		return err
	}
	t.c.Predictions = append(t.c.Predictions, c.Predictions...)
	// The diff of a whole tree has the limit of one file; what is beyond is counted but not shown.
	if t.text.Len()+len(c.Diff.Text) <= fsys.DiffLimit {
		t.text.WriteString(c.Diff.Text)
	}
	t.addStep(rel, false, is, func(ctx context.Context, to *os.Root) error {
		// The temporary file must lie beside the new one, so the place is the directory the file is in.
		dir, err := fsys.OpenBelow(to, rel)
		if err != nil {
			return err
		}
		defer func() { _ = dir.Close() }() // the files in it were closed, and are flushed at the end
		f.at.Dir, f.at.Name = dir, filepath.Base(rel)
		if err := c.Apply(ctx); err != nil {
			return err
		}
		if sum, ok := c.Fields["checksum"].(string); ok {
			t.c.Wrote(filepath.Join(t.dest, rel), sum)
		}
		return nil
	})
	return nil
}

func (t *treeCopy) applySteps(ctx context.Context) error {
	if t.to == nil {
		info, err := t.Files().Stat(t.src)
		if err != nil {
			return err
		}
		above, own := t.newDirectory(fsys.EntryOf(info))
		if err := fsys.MakeDirs(t.above.Dir, t.above.Name, own, above); err != nil {
			return t.above.PathError(err)
		}
		if err := t.enterDest(); err != nil {
			return err
		}
	}
	// The files look at this through a pointer: how many there are is known only when all were compared.
	t.many = len(t.steps) > fsys.FewFiles
	for _, do := range t.steps {
		if fault.Stopped(ctx) != "" {
			return context.Cause(ctx)
		}
		if err := do(ctx, t.to); err != nil {
			return err
		}
	}
	if t.many {
		return fsys.SyncAll(t.to)
	}
	return errors.Join(fsys.SyncDir(t.to), fsys.SyncDir(t.above.Dir))
}
