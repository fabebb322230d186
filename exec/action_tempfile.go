package exec

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"moon/events"
	"moon/exec/spec"
)

var _ = act("tempfile", action{run: runTempfile, dry: dryTempfile, effect: events.ChangeCreate})

// dryTempfile leaves the result open: what comes later cannot know the path.
func dryTempfile(context.Context, *attempt) Result {
	return unrun("would make something whose name is known only then")
}

func runTempfile(ctx context.Context, a *attempt) Result {
	args := a.Args.(*spec.TempfileArgs)
	path, err := makeTemp(args)
	if errors.Is(err, fs.ErrNotExist) {
		err = missing(args.Path, "directory %s does not exist", args.Path)
	}
	if err != nil {
		return a.failure(ctx, err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return a.failure(ctx, err)
	}
	fields := entryOf(info).fields()
	fields["path"] = path
	return Result{Outcome: events.Changed, Fields: fields, Diff: &events.Diff{Kind: events.ChangeCreate, Path: path, Summary: "new " + args.State}}
}

// makeTemp makes it for the owner only, as the names of such files are no secret.
func makeTemp(args *spec.TempfileArgs) (path string, err error) {
	// The last star is where the name is made up; one of the playbook's own must not be it.
	pattern := args.Prefix + "*" + strings.ReplaceAll(args.Suffix, "*", "_")
	if args.State == directory {
		return os.MkdirTemp(args.Path, pattern)
	}
	f, err := os.CreateTemp(args.Path, pattern)
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}
