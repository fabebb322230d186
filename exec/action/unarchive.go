package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

var _ = exec.Register("unarchive", exec.Action{Plan: planUnarchive, Served: true})

func planUnarchive(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.UnarchiveArgs)
	c := &exec.Change{Fields: map[string]any{"src": hidePassword(args.Src), "dest": args.Dest}}
	c.Diff.Path = strings.TrimSuffix(args.Dest, "/")
	if args.Creates != "" {
		if there, err := a.Exists(args.Creates); err != nil || there {
			c.Diff.Summary = args.Creates + " exists"
			return a.PlanUnneeded(c), err
		}
	}
	if err := planUnpack(ctx, a, c, args); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func planUnpack(ctx context.Context, a *exec.Attempt, c *exec.Change, args *spec.UnarchiveArgs) error {
	if !strings.Contains(args.Src, "://") {
		f, err := openUnpackSource(ctx, a, args, c.Diff.Path)
		if err != nil {
			return err
		}
		return unpackArchive(ctx, a, c, args, f, args.Src)
	}
	d := download{path: args.Dest, request: request{
		method: "GET", url: args.Src, timeout: args.Timeout, env: a.Getenv,
		args: &spec.HTTPArgs{ValidateCerts: args.ValidateCerts, UseProxy: true, HTTPAgent: "moon"},
	}}
	p, err := d.peekAt(ctx)
	if err != nil {
		return err
	}
	if p.data == nil {
		return unpackLarge(a, c, args, d, p.size)
	}
	f, err := tempWith(bytes.NewReader(p.data))
	if err != nil {
		return err
	}
	return unpackArchive(ctx, a, c, args, f, hidePassword(args.Src))
}

// checked is an open file of this machine that must have a certain content: Checked has looked at all of it.
type checked interface{ Checked() (*os.File, error) }

// openUnpackSource opens the archive where it is: with the other files that steps copy, or where it is unpacked, as earlier
// steps of a dry run would have made it.
func openUnpackSource(ctx context.Context, a *exec.Attempt, args *spec.UnarchiveArgs, dest string) (*os.File, error) {
	var f io.ReadCloser
	var err error
	// a.From is nil on the controller itself, where both ways lead to the same file.
	if !args.There() && a.From != nil {
		f, err = a.Files().Open(args.Src)
	} else if at, ahead, missed := a.Overlay.Follow(args.Src); ahead && missed == nil && at.Kind == fsys.Other {
		return nil, fault.Missing(dest, "an earlier step would change %s", args.Src)
	} else if err = missed; ahead && missed == nil {
		f, err = at.Open()
	} else if !ahead {
		f, err = fsys.OpenRegular(args.Src)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fault.Missing(dest, "src %s does not exist", args.Src)
	}
	if err != nil {
		return nil, err
	}
	switch file := f.(type) {
	case *os.File:
		return file, nil
	case checked:
		return file.Checked()
	}
	defer func() { _ = f.Close() }()           // it was only read
	return tempWith(fsys.UntilStopped(ctx, f)) // it is read twice, and not always in order
}

// openUnpackDest opens the directory to unpack into. In a dry run it may be one that is not there yet.
func openUnpackDest(a *exec.Attempt, dest string) (*fsys.Anchored, error) {
	at := &fsys.Anchored{Path: dest, Name: ".", Overlay: a.Overlay}
	is, err := a.Overlay.Stat(dest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Missing(dest, "directory %s does not exist", dest)
	case err != nil:
		return nil, err
	case is.Kind != fsys.Directory:
		return nil, fmt.Errorf("%s is %s, and no directory", dest, is.What())
	}
	if ahead, ok, _ := a.Overlay.Follow(dest); ok && ahead.Fresh {
		return at, nil
	}
	// The directory is opened where the path leads now; what is swapped later does not count.
	at.Dir, err = fsys.OpenDir(filepath.Dir(a.Overlay.Leads(dest + "/x")))
	return at, err
}

// tempWith copies something to a file without a name.
func tempWith(from io.Reader) (*os.File, error) {
	f, err := os.CreateTemp("", ".moon-*")
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(f, from)
	// Unlinked at once: nothing is left of it if moon is killed.
	if err := errors.Join(err, os.Remove(f.Name())); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// unpackLarge leaves open what will change: a dry run does not load a large archive to find out.
func unpackLarge(a *exec.Attempt, c *exec.Change, args *spec.UnarchiveArgs, d download, n int64) error {
	amount := "large"
	if n >= 0 {
		amount = fsys.FormatSize(n)
	}
	c.Plan(events.ChangeUnknown, func(ctx context.Context) error {
		f, err := d.loadUnnamed(ctx, "")
		if err != nil {
			return err
		}
		if err := unpackArchive(ctx, a, c, args, f, hidePassword(args.Src)); err != nil || c.Diff.Kind == events.ChangeNone {
			return err
		}
		return c.Apply(ctx)
	}, "would be downloaded and compared, "+amount)
	return nil
}

// unpackArchive plans to unpack a file, which it takes over.
func unpackArchive(ctx context.Context, a *exec.Attempt, c *exec.Change, args *spec.UnarchiveArgs, f *os.File, name string) error {
	c.AtEnd(func() { _ = f.Close() }) // it was only read
	ar, err := fsys.OpenArchive(f, name)
	if err != nil {
		return err
	}
	// Limits are checked while unpacking, because what an archive says of its sizes may be a lie.
	ar.MaxBytes, ar.MaxEntries, ar.MaxRatio = args.Bytes, args.MaxEntries, int64(args.MaxRatio)
	attrs, err := a.Overlay.NewAttributes(args.Mode, args.Owner, args.Group)
	if err != nil {
		return err
	}
	at, err := openUnpackDest(a, c.Diff.Path)
	if err != nil {
		return err
	}
	c.Places, c.Result = append(c.Places, at), at
	c.Fields["format"] = ar.Format
	u := newUnpacking(a, args, attrs, c, ar, at)
	c.AtEnd(u.closeDirectory)
	if err := ar.Each(ctx, func(m *fsys.Member) error { return u.compareMember(ctx, m) }); err != nil {
		return err
	}
	return u.planUnpack()
}

// planUnpack says what is to be done, once all members were compared.
func (u *unpacking) planUnpack() error {
	// An `include` without a match is more likely a typo than a wish.
	for i, found := range u.found {
		if !found {
			return fmt.Errorf("include: nothing in %s is called %s", u.ar.Path, u.args.Include[i])
		}
	}
	if u.args.ListFiles {
		u.c.Fields["files"] = u.listNames()
	}
	if u.special != "" {
		u.c.Warnings = append(u.c.Warnings,
			u.special+": its setuid and setgid bits, and those of others, are skipped; a `file` step can set them")
	}
	created, updated, first := 0, 0, ""
	var lines []string
	for i := range u.list {
		p := &u.list[i]
		if p.state == same {
			continue
		}
		mark := "+"
		if p.state == fresh {
			created++
			u.addCreated(p)
		} else {
			updated++
			mark = "~"
			if updated <= fewResources {
				u.c.AddFile(events.ChangeUpdate, u.destPath(p.name))
			}
		}
		if first == "" {
			first = p.name
		}
		if len(lines) < maxListed {
			lines = append(lines, strings.TrimSuffix(mark+" "+fsys.Quoted(p.name)+": "+p.words, ": ")+"\n")
		}
	}
	if created+updated == 0 {
		u.c.PlanNothing()
		return nil
	}
	if updated > fewResources {
		u.c.AddFile(events.ChangeUpdate, u.c.Diff.Path) // all that is in it
	}
	u.c.AddPrediction(u.predictFiles)
	if n := created + updated - len(lines); n > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more\n", n))
	}
	if u.Diff && !u.NoLog {
		u.c.Diff.Text = strings.Join(lines, "")
	}
	u.many = created+updated > few
	u.c.Plan(events.ChangeUpdate, u.applyPlan, countWords(created, updated)+": "+fsys.Quoted(first))
	return nil
}

// addCreated records what did not exist: a directory with everything in it as one thing.
func (u *unpacking) addCreated(p *planned) {
	switch {
	case p.below:
	case p.kind == fsys.Directory:
		u.c.AddTree(u.destPath(p.name))
	default:
		u.c.AddFile(events.ChangeCreate, u.destPath(p.name))
	}
}

// maxListed is how many entries are named.
const maxListed = 1000

func countWords(created, updated int) string {
	var parts []string
	if created > 0 {
		parts = append(parts, fmt.Sprintf("%d new", created))
	}
	if updated > 0 {
		parts = append(parts, fmt.Sprintf("%d updated", updated))
	}
	return strings.Join(parts, ", ")
}

// listNames returns those of the archive's members, as they are unpacked.
func (u *unpacking) listNames() []any {
	names := []any{}
	for i := range u.list {
		if p := &u.list[i]; p.member >= 0 {
			name := p.name
			if p.kind == fsys.Directory {
				name += "/"
			}
			names = append(names, name)
		}
	}
	return names
}
