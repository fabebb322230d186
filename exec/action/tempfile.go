package action

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("tempfile", exec.Action{Run: runTempfile, Dry: dryTempfile, Effect: events.ChangeCreate})

// dryTempfile leaves the result open: what comes later cannot know the path.
func dryTempfile(context.Context, *exec.Attempt) exec.Result {
	return exec.UnknownChange("would make something whose name is known only then")
}

func runTempfile(ctx context.Context, a *exec.Attempt) exec.Result {
	args := a.Args.(*spec.TempfileArgs)
	path, is, err := makeTemp(args)
	if errors.Is(err, fs.ErrNotExist) {
		err = fault.Missing(args.Path, "directory %s does not exist", args.Path)
	}
	if err != nil {
		return a.Failure(ctx, err)
	}
	fields := is.Fields()
	fields["path"] = path
	r := exec.Result{
		Outcome: events.Changed, Fields: fields,
		Diff: &events.Diff{Kind: events.ChangeCreate, Path: path, Summary: "new " + args.State},
	}
	r.Resources = a.CreatedFile(ctx, path)
	return r
}

// makeTemp makes it for the owner only, as the names of such files are no secret, in the directory that the way there leads to.
func makeTemp(args *spec.TempfileArgs) (path string, is fsys.Entry, err error) {
	where := args.Path
	if where == "" {
		where = os.TempDir()
	}
	dir, err := fsys.OpenDir(where)
	if err != nil {
		return "", is, err
	}
	defer func() { _ = dir.Close() }() // what is made in it is closed already
	// The name is random, so a collision is someone's attempt, or the directory's fault: not worth more tries.
	for range 1000 {
		name := args.Prefix + rand.Text()[:10] + args.Suffix
		if args.State == fsys.Directory {
			err = dir.Mkdir(name, 0o700)
		} else {
			var f *os.File
			if f, err = dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				err = f.Close()
			}
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", is, err
		}
		info, err := dir.Lstat(name)
		if err != nil {
			return "", is, err
		}
		return filepath.Join(where, name), fsys.EntryOf(info), nil
	}
	return "", is, err
}
