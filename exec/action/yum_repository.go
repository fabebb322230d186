package action

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"moon/events"
	"moon/exec"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
)

var _ = exec.Register("yum_repository", exec.Action{Plan: planYumRepository})

func planYumRepository(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.YumRepositoryArgs)
	if isMissing(a, args.Dir) {
		return nil, fault.Missing(args.Dir, "the directory %s of repositories does not exist", args.Dir)
	}
	path := filepath.Join(args.Dir, args.File+".repo")
	e := edit{
		path: path, mode: args.Mode, owner: args.Owner, group: args.Group, more: args.FileAttributes,
		create: args.State != fsys.Absent, gone: args.State == fsys.Absent,
	}
	var wrong error
	var had, empty, fresh bool
	c, err := planEdit(ctx, a, e, func(text string) (string, string) {
		f, err := lines.ReadRepoFile(text)
		if err != nil {
			wrong = fmt.Errorf("%s, %w", path, err)
			return text, ""
		}
		had, fresh = f.Has(args.Name), text == ""
		if args.State == fsys.Absent {
			if !had {
				return text, ""
			}
			f.Remove(args.Name)
			empty = f.IsEmpty()
			return f.String(), "repository removed"
		}
		var options []lines.Option
		for _, line := range args.Lines() {
			options = append(options, lines.Option{Name: line[0], Value: line[1]})
		}
		if !f.Put(args.Name, options) {
			return text, ""
		}
		if had {
			return f.String(), "repository changed"
		}
		return f.String(), "repository added"
	})
	if err != nil || wrong != nil {
		if err == nil {
			c.Close()
		}
		return nil, errors.Join(err, wrong)
	}
	// A file without any repository goes.
	if empty {
		c.Close()
		c = &exec.Change{Fields: map[string]any{}}
		c.Diff.Path = path
		c.PlanNothing()
		planRemoval(a, c, path)
	}
	// Nothing else is said of it, and a password must not be recorded, nor a digest that lets others try it out.
	c.Result, c.PlainFields = nil, []string{"repo", "state"}
	c.Fields = map[string]any{"repo": args.Name, "state": args.State}
	c.Hidden = args.Password != nil || args.ProxyPassword != nil
	if !had && !fresh && args.State != fsys.Absent && c.Diff.Kind == events.ChangeUpdate {
		c.AddPart(events.Resource{Type: "repository", Name: path + ": [" + args.Name + "]", Undo: exec.UndoBy("yum_repository",
			map[string]any{"name": args.Name, "file": args.File, "reposdir": args.Dir, "state": fsys.Absent})})
	}
	return c, nil
}
