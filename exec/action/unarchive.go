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
	"moon/exec/unpack"
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
	attrs, err := a.Overlay.NewAttributes(args.Mode, args.Owner, args.Group, args.FileAttributes)
	if err == nil {
		err = attrs.OnlyFiles()
	}
	if err != nil {
		return err
	}
	at, err := openUnpackDest(a, c.Diff.Path)
	if err != nil {
		return err
	}
	c.Places, c.Result = append(c.Places, at), at
	c.Fields["format"] = ar.Format
	u := unpack.New(a, args, attrs, c, ar, at)
	c.AtEnd(u.Close)
	if err := ar.Each(ctx, func(m *fsys.Member) error { return u.Compare(ctx, m) }); err != nil {
		return err
	}
	return u.Plan()
}
