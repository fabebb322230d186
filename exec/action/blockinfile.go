package action

import (
	"context"

	"moon/events"
	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
)

var _ = exec.Register("blockinfile", exec.Action{Plan: planBlockinfile})

func planBlockinfile(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.BlockinfileArgs)
	e := edit{
		plain: true,
		path:  args.Path, mode: args.Mode, owner: args.Owner, group: args.Group, more: args.FileAttributes,
		create: args.Create, parents: true, fresh: "File created", hint: toCreate, gone: args.State == fsys.Absent, backup: args.Backup, validate: args.Validate,
	}
	var edited lines.Edited
	var wrong error
	c, err := planEdit(ctx, a, e, func(text string) (string, string) {
		if edited, wrong = lines.PutBlock(text, args); wrong != nil {
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
	if edited.Created {
		undo := map[string]any{
			"path": c.Diff.Path, "marker": args.Marker, "marker_begin": args.MarkerBegin, "marker_end": args.MarkerEnd,
			"state": fsys.Absent, "checksum": edited.Digest,
		}
		if edited.Space != "" {
			undo["empty_lines"] = edited.Space
		}
		c.AddPart(events.Resource{Type: "block", Name: c.Diff.Path + ": " + args.Begin, Digest: edited.Digest, Undo: exec.UndoBy("blockinfile", undo)})
	}
	return c, nil
}
