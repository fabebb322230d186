package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/exec/spec"
)

// treeCopy is a directory being compared with its copy, entry by entry.
type treeCopy struct {
	*attempt
	args    *spec.CopyArgs
	src     string
	dest    string
	attrs   attributes // mode is for files only: directories keep the source's
	c       *change
	to      *os.Root // dest; nil as long as it does not exist
	there   bool     // dest exists, or would by now in a dry run
	above   *place   // where dest is or will be
	steps   []func(context.Context, *os.Root) error
	created int
	updated int
	first   string
	many    bool // so many files that they go onto the disk together
	text    strings.Builder
}

// planTree copies a directory into dest, or what is in it if src ends in a slash, with everything below. Links stay
// links; what is in dest only is left alone; so is the mode of a directory that exists.
func planTree(ctx context.Context, a *attempt, args *spec.CopyArgs, attrs attributes) (*change, error) {
	if args.Checksum != "" {
		return nil, fmt.Errorf("checksum: src %s is a directory", args.Src)
	}
	t := &treeCopy{attempt: a, args: args, attrs: attrs, src: filepath.Clean(args.Src), dest: filepath.Clean(args.Dest)}
	if !strings.HasSuffix(args.Src, "/") {
		t.dest = filepath.Join(t.dest, filepath.Base(t.src))
	}
	t.c = &change{fields: map[string]any{"src": args.Src, "dest": t.dest}}
	t.c.diff.Path = t.dest
	if err := t.open(); err != nil {
		return nil, err
	}
	top, err := t.files().Stat(t.src)
	if err == nil {
		err = walkFrom(ctx, t.files(), t.src, top, func(path string, info fs.FileInfo) error { return t.entry(ctx, path, info) })
	}
	if err != nil {
		t.c.close()
		return nil, err
	}
	t.c.result = t.above
	if len(t.steps) == 0 {
		return t.c.none(), nil
	}
	kind := events.ChangeUpdate
	if !t.there {
		kind = events.ChangeCreate
	}
	if !t.there || len(t.c.resources) > fewResources { // all that is in it
		t.c.resources = nil
	}
	t.c.diff.Text = t.text.String()
	return t.c.to(kind, t.apply, t.words()), nil
}

// fewResources is how many files of a directory that was there before are recorded one by one.
const fewResources = 100

func (t *treeCopy) words() string {
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

func (t *treeCopy) open() error {
	var err error
	if t.above, err = t.openAbove(t.dest); err != nil {
		return err
	}
	t.c.places = append(t.c.places, t.above)
	if at, ok, missed := t.foresight.stat(t.dest); ok && (missed != nil || at.kind != directory || at.fresh) {
		if missed == nil && at.kind != directory {
			t.c.close()
			return fmt.Errorf("%s is %s, and src is a directory", t.dest, at.what())
		}
		t.there = missed == nil
		return nil
	}
	err = t.enter()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	t.c.close()
	if info, statErr := os.Stat(t.dest); statErr == nil && !info.IsDir() {
		return fmt.Errorf("%s is %s, and src is a directory", t.dest, entryOf(info).what())
	}
	return err
}

// enter opens dest. A link to a directory is as good as one.
func (t *treeCopy) enter() error {
	to, err := openDir(t.dest)
	if err != nil {
		return err
	}
	t.to, t.there = to, true
	t.c.places = append(t.c.places, &place{path: t.dest, name: ".", dir: to})
	return nil
}

// entry compares one entry of the source with its copy.
func (t *treeCopy) entry(ctx context.Context, path string, info fs.FileInfo) error {
	rel, err := filepath.Rel(t.src, path)
	if err != nil {
		return err
	}
	from, is := entryOf(info), entry{kind: absent}
	if t.there {
		at := place{path: filepath.Join(t.dest, rel), name: rel, dir: t.to, foresight: t.foresight}
		if is, err = at.look(); err != nil {
			return err
		}
	}
	switch from.kind {
	case directory:
		return t.directory(rel, from, is)
	case link:
		return t.link(rel, path, is)
	case regular:
		return t.file(ctx, rel, path, from, is)
	}
	t.c.warnings = append(t.c.warnings, filepath.Join(t.src, rel)+" is neither a file nor a directory; it is left out")
	return nil
}

func (t *treeCopy) step(rel string, is entry, do func(context.Context, *os.Root) error) {
	if is.kind == absent {
		t.created++
	} else {
		t.updated++
	}
	if t.first == "" && rel != "." {
		t.first = rel
	}
	kind := events.ChangeUpdate
	if is.kind == absent {
		kind = events.ChangeCreate
	}
	t.c.concerns(kind, events.FileResource, filepath.Join(t.dest, rel))
	t.steps = append(t.steps, do)
}

func (t *treeCopy) directory(rel string, from, is entry) error {
	owners := attributes{uid: t.attrs.uid, gid: t.attrs.gid}
	switch is.kind {
	case absent:
		t.c.foresees(func(f *Foresight) {
			above, _ := owners.anew(directory)
			f.mkdir(filepath.Join(t.dest, rel), wanted{from.mode, owners.uid, owners.gid}, above)
		})
		t.step(rel, is, func(_ context.Context, to *os.Root) error {
			if rel == "." {
				return nil // apply has made it
			}
			return mkdir(to, rel, wanted{from.mode, owners.uid, owners.gid})
		})
	case directory:
		if w, words := owners.on(is); len(words) > 0 {
			t.c.foresees(func(f *Foresight) { f.own(filepath.Join(t.dest, rel), is, w) })
			t.step(rel, is, func(_ context.Context, to *os.Root) error { return w.set(to, rel, is) })
		}
	default:
		return fmt.Errorf("%s is %s, where src has a directory", filepath.Join(t.dest, rel), is.what())
	}
	return nil
}

func (t *treeCopy) link(rel, path string, is entry) error {
	target, err := t.files().Readlink(path)
	if err != nil {
		return err
	}
	switch {
	case is.kind == link && is.target == target, is.kind != absent && !t.args.Force:
		return nil
	case is.kind == directory:
		return fmt.Errorf("%s is a directory, where src has a link", filepath.Join(t.dest, rel))
	}
	t.c.foresees(func(f *Foresight) {
		e := wanted{mode: 0o777, uid: t.attrs.uid, gid: t.attrs.gid}.entry(link)
		e.target = target
		f.put(filepath.Join(t.dest, rel), foreseen{entry: e})
	})
	t.step(rel, is, func(_ context.Context, to *os.Root) error {
		temp := filepath.Join(filepath.Dir(rel), tempName())
		if err := to.Symlink(target, temp); err != nil {
			return err
		}
		err := errors.Join(to.Lchown(temp, t.attrs.uid, t.attrs.gid), to.Rename(temp, rel))
		if err != nil {
			_ = to.Remove(temp) // the first error is the one to report
		}
		return err
	})
	return nil
}

func (t *treeCopy) file(ctx context.Context, rel, path string, from, is entry) error {
	mode := t.attrs.mode
	if mode.IsZero() || mode.Preserve() {
		var err error
		if mode, err = spec.ParseMode(fmt.Sprintf("%04o", from.mode)); err != nil {
			return err
		}
	}
	f := target{
		is: is, attrs: attributes{mode, t.attrs.uid, t.attrs.gid},
		from: source{files: t.files(), path: path, size: from.size}, force: t.args.Force, backup: t.args.Backup, validate: t.args.Validate, later: &t.many,
	}
	f.at = &place{path: filepath.Join(t.dest, rel), name: rel, dir: t.to, foresight: t.foresight}
	c, err := f.plan(ctx, t.attempt, &change{fields: map[string]any{}})
	if err != nil || c.diff.Kind == events.ChangeNone {
		return err
	}
	t.c.ahead = append(t.c.ahead, c.ahead...)
	if t.text.Len()+len(c.diff.Text) <= diffLimit {
		t.text.WriteString(c.diff.Text)
	}
	t.step(rel, is, func(ctx context.Context, to *os.Root) error {
		// The temporary file must lie beside the new one, so the place is the directory the file is in.
		dir, err := openBelow(to, rel)
		if err != nil {
			return err
		}
		defer func() { _ = dir.Close() }() // the files in it were closed, and are flushed at the end
		f.at.dir, f.at.name = dir, filepath.Base(rel)
		return c.apply(ctx)
	})
	return nil
}

func (t *treeCopy) apply(ctx context.Context) error {
	if t.to == nil {
		info, err := t.files().Stat(t.src)
		if err != nil {
			return err
		}
		above, _ := attributes{uid: t.attrs.uid, gid: t.attrs.gid}.anew(directory)
		if err := mkdirAll(t.above.dir, t.above.name, wanted{entryOf(info).mode, t.attrs.uid, t.attrs.gid}, above); err != nil {
			return t.above.error(err)
		}
		if err := t.enter(); err != nil {
			return err
		}
	}
	t.many = len(t.steps) > few
	for _, do := range t.steps {
		if stopped(ctx) != "" {
			return context.Cause(ctx)
		}
		if err := do(ctx, t.to); err != nil {
			return err
		}
	}
	if t.many {
		return syncAll(t.to)
	}
	return errors.Join(syncDir(t.to), syncDir(t.above.dir))
}

// few is how many files are brought onto the disk one by one; for more it is quicker to wait for the whole disk.
const few = 32
