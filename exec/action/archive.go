package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"moon/events"
	"moon/exec"
	"moon/exec/facts"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("archive", exec.Action{Plan: planArchive})

// archiving is an archive being planned.
type archiving struct {
	*exec.Attempt
	args    *spec.ArchiveArgs
	c       *exec.Change
	attrs   fsys.Attributes
	pack    fsys.Packing
	paths   []string // what there is of path
	missing []any
	root    string
	dest    string
}

func planArchive(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.ArchiveArgs)
	attrs, err := a.Overlay.NewAttributes(args.Mode, args.Owner, args.Group, args.FileAttributes)
	if err != nil {
		return nil, err
	}
	r := &archiving{Attempt: a, args: args, attrs: attrs, c: &exec.Change{Fields: map[string]any{}}, dest: args.Dest, missing: []any{}}
	r.pack.Format = args.Format
	if err := r.planArchive(ctx); err != nil {
		r.c.Close()
		return nil, err
	}
	return r.c, nil
}

func (r *archiving) planArchive(ctx context.Context) error {
	globs, err := r.expandPaths()
	if err != nil {
		return err
	}
	if done, err := r.settleNothing(); done || err != nil {
		return err
	}
	if err := r.detectSingle(globs); err != nil {
		return err
	}
	at, err := r.Overlay.OpenPlace(r.dest)
	if err != nil {
		return err
	}
	r.c.Places = append(r.c.Places, at)
	r.c.Result, r.c.Diff.Path = at, at.Path
	is, err := at.Look()
	if err != nil {
		return err
	}
	if is.Kind == fsys.Directory || is.Kind == fsys.Other {
		return fmt.Errorf("%s is %s", at.Path, is.What())
	}
	for _, path := range r.paths {
		if err := r.collectPath(ctx, path); err != nil {
			return err
		}
	}
	// Paths and patterns may overlap. Each entry is packed once, and the order does not depend on how they were written.
	slices.SortFunc(r.pack.Items, func(a, b fsys.Item) int { return strings.Compare(a.Name, b.Name) })
	r.pack.Items = slices.CompactFunc(r.pack.Items, func(a, b fsys.Item) bool { return a.Name == b.Name })
	r.describeResult()
	files := slices.ContainsFunc(r.pack.Items, func(i fsys.Item) bool { return i.Is.Kind != fsys.Directory })
	if r.args.Remove && !files && is.Kind == fsys.Regular { // the directories hold only what is not packed
		r.reportPacked()
		return nil
	}
	return r.compareArchive(ctx, at, is)
}

// expandPaths finds what there is of path, less exclude_path.
func (r *archiving) expandPaths() (globs bool, err error) {
	find := func(patterns []string, lost func(string)) ([]string, error) {
		var all []string
		for _, p := range patterns {
			p = strings.TrimSuffix(p, "/")
			if !strings.ContainsAny(p, "*?[") {
				if _, err := os.Lstat(p); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
					lost(p)
				} else if err != nil {
					return nil, err
				}
				all = append(all, p)
				continue
			}
			globs = true
			matches, err := filepath.Glob(p)
			if err != nil {
				return nil, fmt.Errorf("%s is not a pattern of paths", p)
			}
			all = append(all, matches...)
		}
		slices.Sort(all)
		return slices.Compact(all), nil
	}
	for _, p := range slices.Concat(r.args.Path, r.args.ExcludePath) {
		// Of a pattern only the part before the first wildcard is a path that an earlier step can have changed.
		if at, _, _ := strings.Cut(p, "*"); r.Overlay.Concerns(strings.TrimSuffix(at, "/")) {
			return false, fault.Missing(r.dest, "an earlier step would change %s", p)
		}
	}
	excluded, err := find(r.args.ExcludePath, func(string) {})
	if err != nil {
		return false, err
	}
	// Patterns of exclude_path do not count: they say nothing about how many files there are to pack.
	globs = false
	all, err := find(r.args.Path, func(p string) { r.missing = append(r.missing, p) })
	if err != nil {
		return false, err
	}
	r.c.Fields["expanded_paths"], r.c.Fields["expanded_exclude_paths"] = facts.AnyList(all), facts.AnyList(excluded)
	for _, p := range all {
		if !slices.Contains(excluded, p) && !slices.Contains(r.missing, any(p)) {
			r.paths = append(r.paths, p)
		}
	}
	return globs, nil
}

// settleNothing settles the case that there is nothing to pack: with remove that is how it looks afterwards.
func (r *archiving) settleNothing() (done bool, err error) {
	if len(r.paths) > 0 {
		return false, nil
	}
	if r.dest == "" && len(r.args.Path) == 1 {
		r.dest = r.args.Path[0] + "." + r.args.Format
	}
	if r.args.Remove {
		if _, err := r.Overlay.Stat(r.dest); err == nil {
			r.c.Fields["dest"], r.c.Fields["missing"], r.c.Diff.Path = r.dest, r.missing, r.dest
			r.reportPacked()
			return true, nil
		}
	}
	return false, fault.Missing(r.dest, "there is nothing to pack at %s", strings.Join(r.args.Path, ", "))
}

// reportPacked says that an earlier run has done it.
func (r *archiving) reportPacked() {
	r.c.Diff.Summary = strings.Join(r.args.Path, ", ") + " is packed and removed"
	r.c.PlanNothing()
}

// detectSingle finds out whether it is one file that is packed as it is, and what the archive is called then.
func (r *archiving) detectSingle(globs bool) error {
	info, err := os.Lstat(r.paths[0])
	if err != nil {
		return err
	}
	one := len(r.args.Path) == 1 && !globs && info.Mode().IsRegular()
	r.pack.Alone = one && !r.args.ForceArchive && r.args.Format != "tar" && r.args.Format != "zip"
	if r.dest == "" && !one {
		return fmt.Errorf("%s is not a file; an archive of it needs `dest`", r.paths[0])
	}
	if r.dest == "" {
		r.dest = r.paths[0] + "." + r.args.Format
	}
	// Names in the archive are relative to the directory that all paths have in common.
	r.root = filepath.Dir(r.paths[0])
	for _, p := range r.paths[1:] {
		for !strings.HasPrefix(p, strings.TrimSuffix(r.root, "/")+"/") {
			r.root = filepath.Dir(r.root)
		}
	}
	if !r.args.Remove {
		return nil
	}
	for _, p := range r.paths {
		if r.dest == p || strings.HasPrefix(r.dest, p+"/") {
			return fmt.Errorf("the archive %s is in %s, which would be removed", r.dest, p)
		}
	}
	return nil
}

// collectPath takes up a path with everything below it, in the directory that the way there has led to.
func (r *archiving) collectPath(ctx context.Context, path string) error {
	at, err := fsys.AnchorAt(path)
	if err != nil {
		return err
	}
	defer at.Close()
	above := filepath.Dir(at.Path)
	return fs.WalkDir(at.Dir.FS(), at.Name, func(below string, d fs.DirEntry, err error) error {
		path := filepath.Join(above, below)
		if err == nil && fault.Stopped(ctx) != "" {
			err = context.Cause(ctx)
		}
		// The archive itself may be below what it packs.
		if err != nil || path == r.dest {
			return err
		}
		name := strings.TrimPrefix(strings.TrimPrefix(path, r.root), "/")
		if slices.ContainsFunc(r.args.Unwanted, func(re *regexp.Regexp) bool { return re.MatchString(name) }) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		i := fsys.Item{Name: name, Path: path, Is: fsys.EntryOf(info)}
		switch i.Is.Kind {
		case fsys.Other:
			r.c.Warnings = append(r.c.Warnings, path+" is neither a file nor a directory; it is skipped")
			return nil
		case fsys.Link:
			if i.Target, err = at.Dir.Readlink(below); err != nil {
				return err
			}
		}
		if name != "" {
			r.pack.Items = append(r.pack.Items, i)
		}
		return nil
	})
}

func (r *archiving) describeResult() {
	archived := make([]any, len(r.pack.Items))
	for i := range r.pack.Items {
		archived[i] = r.pack.Items[i].Path
	}
	state := "archive"
	if r.pack.Alone {
		state = "compress"
	}
	if len(r.missing) > 0 {
		state = "incomplete"
	}
	maps.Copy(r.c.Fields, map[string]any{
		"dest": r.dest, "dest_state": state, "archived": archived, "missing": r.missing, "arcroot": r.root,
	})
}

// compareArchive plans to write the archive, if there is none with the same in it.
func (r *archiving) compareArchive(ctx context.Context, at *fsys.Anchored, is fsys.Entry) error {
	differs, err := r.describeDifference(ctx, at, is)
	if err != nil {
		return err
	}
	w, words := r.attrs.For(is)
	var make func(context.Context) error
	kind := events.ChangeUpdate
	switch {
	case is.Kind != fsys.Regular:
		w, words = r.attrs.ForNew(fsys.Regular)
		if is.Kind == fsys.Absent {
			kind = events.ChangeCreate
		}
		words = append([]string{"new archive of " + r.describeAmount()}, words...)
		make = r.makeArchive(at, is, w)
	case len(differs) > 0:
		words = append([]string{"archive of " + r.describeAmount()}, words...)
		make = r.makeArchive(at, is, w)
	case len(words) > 0:
		make = func(context.Context) error { return at.PathError(w.Set(at.Dir, at.Name, is)) }
		r.c.AddPrediction(func(f *fsys.Overlay) { f.Own(at.Path, is, w) })
	}
	if len(differs) > 0 {
		// there, but nobody can look into it
		r.c.AddPrediction(func(f *fsys.Overlay) { f.Put(at.Path, fsys.Predicted{Entry: w.Entry(fsys.Other)}) })
		if r.Diff && !r.NoLog {
			r.c.Diff.Text = listLines(differs)
		}
	}
	if r.args.Remove {
		words = append(words, "what is packed is removed")
		// make may be nil: a run that was killed after the archive was complete still has to remove what is in it.
		make = r.removeSources(make)
	}
	if make == nil {
		r.c.PlanNothing()
		return nil
	}
	r.c.AddFile(kind, at.Path)
	if r.args.Remove {
		for _, p := range r.paths {
			r.c.AddFile(events.ChangeDelete, p)
			r.c.AddPrediction(func(f *fsys.Overlay) { f.Put(p, fsys.Nothing) })
		}
	}
	r.c.Plan(kind, make, words...)
	return nil
}

// listLines joins lines, up to a number.
func listLines(lines []string) string {
	text := strings.Join(lines[:min(len(lines), fsys.MaxListed)], "\n") + "\n"
	if more := len(lines) - fsys.MaxListed; more > 0 {
		text += fmt.Sprintf("… and %d more\n", more)
	}
	return text
}

func (r *archiving) describeAmount() string {
	total := int64(0)
	for i := range r.pack.Items {
		if m := &r.pack.Items[i]; m.Is.Kind == fsys.Regular {
			total += m.Is.Size
		}
	}
	if len(r.pack.Items) == 1 {
		return "1 entry, " + fsys.FormatSize(total)
	}
	return fmt.Sprintf("%d entries, %s", len(r.pack.Items), fsys.FormatSize(total))
}

// describeDifference says how the archive that is there is another one.
func (r *archiving) describeDifference(ctx context.Context, at *fsys.Anchored, is fsys.Entry) ([]string, error) {
	if is.Kind != fsys.Regular {
		var all []string
		for i := range r.pack.Items {
			all = append(all, "+ "+fsys.Quoted(r.pack.Items[i].Name))
		}
		return all, nil
	}
	if at.Dir == nil || is.Info == nil {
		return nil, fault.Missing(at.Path, "an earlier step would change %s", at.Path)
	}
	f, err := at.OpenFile(is)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if !r.pack.Alone {
		return r.pack.Differing(ctx, f, at.Path)
	}
	if other, err := r.pack.DiffersAlone(ctx, f); err != nil || !other {
		return nil, err
	}
	return []string{"~ " + fsys.Quoted(r.pack.Items[0].Name)}, nil
}

func (r *archiving) makeArchive(at *fsys.Anchored, is fsys.Entry, w fsys.Wanted) func(context.Context) error {
	return func(ctx context.Context) error {
		t := target{at: at, is: is, attrs: r.attrs}
		t.from = fsys.Source{Size: fsys.CopySize, Stream: func() (io.ReadCloser, error) { return r.pack.Stream(ctx) }}
		return t.replaceFile(r.Attempt, r.c, w)(ctx)
	}
}

// removeSources removes what is in the archive once that is made. What is not in it stays, and so do directories that are not empty.
func (r *archiving) removeSources(first func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if first != nil {
			if err := first(ctx); err != nil {
				return err
			}
		}
		// Backwards, since the names are sorted: what is in a directory goes before the directory.
		for i := range slices.Backward(r.pack.Items) {
			if fault.Stopped(ctx) != "" {
				return context.Cause(ctx)
			}
			m := &r.pack.Items[i]
			at, err := fsys.AnchorAt(m.Path)
			if err != nil {
				return err
			}
			err = at.PathError(at.Dir.Remove(at.Name))
			at.Close()
			// POSIX allows either error for a directory that is not empty.
			full := m.Is.Kind == fsys.Directory && (errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST))
			if err != nil && !full && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	}
}
