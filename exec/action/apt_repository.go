package action

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
)

var _ = exec.Register("apt_repository", exec.Action{Plan: planAptRepository})

// Where apt has its sources.
const (
	aptSources    = "/etc/apt/sources.list"
	aptSourcesDir = "/etc/apt/sources.list.d"
)

func planAptRepository(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.AptRepositoryArgs)
	written := args.Line
	if args.PPA != "" {
		var err error
		if args, written, err = lineOfPPA(args); err != nil {
			return nil, err
		}
	}
	files, _ := filepath.Glob(aptSourcesDir + "/*.list") // the pattern is well formed
	files = append([]string{aptSources}, files...)
	own := filepath.Join(aptSourcesDir, args.Filename+".list")
	all := &exec.Change{Fields: map[string]any{"repo": args.Repo, "sources_added": []any{}, "sources_removed": []any{}}}
	all.PlanNothing()
	var holding []string // files with the line, switched on or off
	for _, file := range files {
		text, err := os.ReadFile(file)
		switch on, off := repoIn(string(text), args.Line, written); {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case args.State != fsys.Absent && on:
			return all, nil
		case on, off && args.State != fsys.Absent:
			holding = append(holding, file)
		}
	}
	create := false
	if args.State != fsys.Absent {
		if len(holding) == 0 {
			holding, create = []string{own}, !isPresent(own)
		}
		// One file is enough: apt complains of a source that is configured twice.
		holding = holding[:1]
	}
	signing := ""
	if args.PPA != "" && args.State != fsys.Absent {
		var err error
		if signing, err = planPPAKey(ctx, all, a, args); err != nil {
			all.Close()
			return nil, err
		}
	}
	for _, file := range holding {
		if err := planSource(ctx, all, a, args, written, file, create); err != nil {
			all.Close()
			return nil, err
		}
	}
	if len(holding) == 0 {
		return all, nil
	}
	write := all.Apply
	all.Apply = func(ctx context.Context) error {
		// A source that fails would break every later `apt-get update`, so the files come back if the update with it fails.
		changed := holding
		if signing != "" {
			changed = append([]string{signing}, holding...)
		}
		restore, err := keepFiles(changed)
		if err != nil {
			return err
		}
		err = write(ctx)
		if err == nil && args.Update {
			lists := &apt{args: &spec.AptArgs{
				UpdateRetries: args.Retries, UpdateDelay: time.Duration(args.MaxDelay) * time.Second,
				LockTimeout: time.Minute,
			}}
			err = lists.updateLists(ctx, a)
		}
		if err != nil {
			return errors.Join(err, restore())
		}
		return nil
	}
	return all, nil
}

// planSource adds to a change what is to be done in one file.
func planSource(
	ctx context.Context, c *exec.Change, a *exec.Attempt, args *spec.AptRepositoryArgs, written, file string, create bool,
) error {
	emptied, added := false, false
	e := edit{path: file, create: create}
	if create {
		e.mode = args.Mode
	}
	one, err := planEdit(ctx, a, e, func(text string) (edited, says string) {
		_, off := repoIn(text, args.Line, written)
		added = !off
		edited, says = putRepo(text, args, written)
		emptied = args.State == fsys.Absent && file != aptSources && strings.TrimSpace(edited) == ""
		return edited, says
	})
	if err != nil {
		return err
	}
	c.Places = append(c.Places, one.Places...)
	if one.Unlock != nil {
		c.AtEnd(one.Unlock)
	}
	before, apply := c.Apply, one.Apply
	kind := one.Diff.Kind
	switch {
	// A list in which nothing remains is removed, but never the main one of apt.
	case emptied:
		kind = events.ChangeDelete
		apply = func(context.Context) error { return os.Remove(file) }
		c.Fields["sources_removed"] = append(c.Fields["sources_removed"].([]any), file)
	case create:
		c.Fields["sources_added"] = []any{file}
		c.Predictions = append(c.Predictions, one.Predictions...)
	default:
		c.Predictions = append(c.Predictions, one.Predictions...)
	}
	if emptied {
		c.AddPrediction(func(f *fsys.Overlay) { f.Put(file, fsys.Nothing) })
	}
	c.Diff.Path, c.Diff.Text = file, c.Diff.Text+one.Diff.Text
	c.Hidden = exec.ShownURLs(args.Line) != args.Line // a password must not be recorded, nor a digest that lets others try it out
	if added && args.State != fsys.Absent && !c.Hidden {
		own := &exec.Change{Diff: events.Diff{Kind: kind, Path: file}, Ended: one.Ended}
		own.AddPart(events.Resource{Type: "apt_repository", Name: args.Line, Undo: a.UndoWithTools("apt_repository", map[string]any{
			"repo": args.Line, "state": fsys.Absent, "update_cache": args.Update,
		})})
		c.Resources = append(c.Resources, own.Resources...)
	} else {
		c.AddFile(kind, file)
	}
	c.Plan(kind, func(ctx context.Context) error {
		if before != nil {
			if err := before(ctx); err != nil {
				return err
			}
		}
		return apply(ctx)
	}, one.Diff.Summary)
	return nil
}

// repoIn reports whether a text has a line of sources, in either way of writing it, and whether it has it as a comment.
func repoIn(text, line, written string) (on, off bool) {
	for l := range strings.Lines(text) {
		switch is, enabled := readRepo(l); {
		case is != line && is != written:
		case enabled:
			on = true
		default:
			off = true
		}
	}
	return on, off
}

// readRepo is a line of sources with single spaces, without what is behind a #.
func readRepo(line string) (repo string, enabled bool) {
	line = strings.TrimSpace(line)
	rest := strings.TrimLeft(line, "# \t")
	enabled = !strings.HasPrefix(line, "#")
	rest, _, _ = strings.Cut(rest, "#")
	return strings.Join(strings.Fields(rest), " "), enabled
}

// putRepo switches the line on where it is a comment, adds it, or takes it away.
func putRepo(text string, args *spec.AptRepositoryArgs, written string) (edited, says string) {
	same := func(repo string) bool { return repo == args.Line || repo == written }
	d := lines.Read(text)
	if args.State == fsys.Absent {
		d.Lines = slices.DeleteFunc(d.Lines, func(l string) bool {
			// A comment is not a source, so it stays.
			is, on := readRepo(l)
			return on && same(is)
		})
		return d.String(), "source removed"
	}
	at := d.Find(true, func(l string) bool { is, _ := readRepo(l); return same(is) })
	if at >= 0 {
		d.Put(at, at+1, args.Line)
	} else {
		d.Put(len(d.Lines), len(d.Lines), args.Line)
	}
	d.Open = false
	return d.String(), "source added"
}

// keepFiles remembers what is in files, to have it back.
func keepFiles(files []string) (restore func() error, err error) {
	kept := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		kept[file] = text
	}
	return func() error {
		var failed error
		for file, text := range kept {
			if text == nil {
				if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
					failed = errors.Join(failed, err)
				}
				continue
			}
			failed = errors.Join(failed, os.WriteFile(file, text, 0o644)) // apt reads it as another user
		}
		return failed
	}, nil
}
