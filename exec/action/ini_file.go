package action

import (
	"context"

	"moon/events"
	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/lines"
	"moon/exec/spec"
)

var _ = exec.Register("ini_file", exec.Action{Plan: planIniFile})

func planIniFile(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.IniFileArgs)
	e := edit{
		path: args.Path, mode: args.Mode, owner: args.Owner, group: args.Group, more: args.FileAttributes,
		backup: args.Backup, parents: true,
		create: args.Create && args.State != fsys.Absent, hint: toCreate, gone: args.Create && args.State == fsys.Absent,
	}
	var edited lines.Edited
	c, err := planEdit(ctx, a, e, func(text string) (string, string) {
		edited = lines.PutOption(text, args)
		return edited.Text, edited.Says
	})
	if err != nil {
		return nil, err
	}
	c.Fields["msg"] = "OK"
	if edited.Says != "" {
		c.Fields["msg"] = edited.Says
	}
	c.InPlays = append(c.InPlays, func(fields map[string]any) {
		delete(fields, "checksum")
		delete(fields, "md5sum")
	})
	if edited.Created {
		recordOption(a, c, args, edited)
	}
	return c, nil
}

// recordOption notes what was added: the section first, as it can go only when nothing else is left in it.
func recordOption(a *exec.Attempt, c *exec.Change, args *spec.IniFileArgs, edited lines.Edited) {
	path := c.Diff.Path
	undo := func(in map[string]any) *events.Undo {
		in["path"], in["state"] = path, fsys.Absent
		if args.Section != "" {
			in["section"] = args.Section
		}
		return exec.UndoBy("ini_file", in)
	}
	if edited.Section {
		c.AddPart(events.Resource{Type: "section", Name: path + ": [" + args.Section + "]", Undo: undo(map[string]any{"if_empty": true})})
	}
	switch {
	case len(edited.Values) == 0:
	case a.NoLog: // the values must not be recorded, and without them nothing says which lines to remove
		c.AddPart(events.Resource{Type: "option", Name: path + ": (hidden by no_log)"})
		c.Warnings = append(c.Warnings, "moon will not remove the option in "+path+" by itself: no_log keeps it out of the record")
	default:
		c.AddPart(events.Resource{
			Type: "option", Name: path + ": [" + args.Section + "] " + args.Option,
			Undo: undo(map[string]any{"option": args.Option, "values": anyList(edited.Values), "exclusive": false}),
		})
	}
}
