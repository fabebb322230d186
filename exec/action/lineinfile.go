package action

import (
	"context"

	"moon/events"
	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
)

var _ = exec.Register("lineinfile", exec.Action{Plan: planLineinfile})

func planLineinfile(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.LineinfileArgs)
	e := edit{
		plain: true,
		path:  args.Path, mode: args.Mode, owner: args.Owner, group: args.Group, more: args.FileAttributes,
		create: args.Create, parents: true, hint: toCreate, gone: args.State == fsys.Absent, backup: args.Backup, validate: args.Validate,
	}
	removed := 0
	var edited lines.Edited
	var wrong error
	c, err := planEdit(ctx, a, e, func(text string) (string, string) {
		if args.State == fsys.Absent {
			edited, removed, wrong = lines.RemoveLines(text, args)
		} else {
			edited, wrong = lines.PutLine(text, args)
		}
		if wrong != nil {
			return text, ""
		}
		return edited.Text, edited.Says
	})
	if err == nil && wrong != nil {
		c.Close()
		err = wrong
	}
	if err != nil {
		return nil, err
	}
	switch {
	case !edited.Created:
	case a.NoLog: // nobody may see the line, and without it nothing says which one to remove
		c.AddPart(events.Resource{Type: "line", Name: c.Diff.Path + ": (hidden by no_log)"})
		c.Warnings = append(c.Warnings, "moon will not remove the line in "+c.Diff.Path+" by itself: no_log keeps it out of the record")
	default:
		c.AddPart(events.Resource{
			Type: "line", Name: c.Diff.Path + ": " + *args.Line,
			Undo: exec.UndoBy("lineinfile", map[string]any{"path": c.Diff.Path, "line": *args.Line, "state": fsys.Absent}),
		})
	}
	if args.State == fsys.Absent {
		c.Fields["found"] = removed
	}
	c.Fields["backup"] = ""
	return c, nil
}
