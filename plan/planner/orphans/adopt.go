package orphans

import (
	"moon/events"
	"moon/exec/spec"
	"moon/plan"
	"moon/plan/prior"
)

// unseen stands for a digest that is not known yet. Nothing has it.
const unseen = "0000000000000000000000000000000000000000"

// Adopted is what a step makes, as if it had created it.
func Adopted(s *plan.Step) (list []prior.Thing) {
	if s.Task == nil || s.Task.Known == nil {
		return nil
	}
	own := makes(s.Task.Known.Args)
	for _, name := range own.names {
		undo := undoOf(s.Task.Known.Args, name)
		if undo == nil {
			return nil
		}
		t := prior.Thing{
			Resource: events.Resource{Type: own.typ, Name: name, Change: events.ChangeCreate, Undo: undo},
			Host:     s.Machine(), Created: true,
			Maker: prior.Maker{
				Step: s.Path, Title: s.Title(), Action: s.Action, File: s.Origin.File, Line: s.Origin.Line, Definition: s.Digest,
			},
		}
		if s.Become != nil {
			t.Become = &prior.Become{User: s.Become.User, Method: s.Become.Method, Flags: s.Become.Flags}
		}
		list = append(list, t)
	}
	return list
}

// undoOf takes away what an action makes, as the action itself would have recorded it; nil if that is not known from its arguments.
func undoOf(args any, name string) *events.Undo {
	// Only what tells one thing from another: that it is unchanged is asked of files alone.
	by := func(action string, args map[string]any) *events.Undo {
		args["state"] = "absent"
		return &events.Undo{Action: action, Args: args}
	}
	file := by("file", map[string]any{"path": name, "checksum": unseen})
	switch a := args.(type) {
	case *spec.FileArgs:
		switch a.State {
		case "directory":
			return by("file", map[string]any{"path": name, "if_empty": true})
		case "link":
			return by("file", map[string]any{"path": name, "checksum": "link:" + a.Src})
		}
		return file
	case *spec.CopyArgs, *spec.TemplateArgs, *spec.AssembleArgs, *spec.GetURLArgs:
		return file
	case *spec.UserArgs:
		return by("user", map[string]any{"name": name})
	case *spec.GroupArgs:
		return by("group", map[string]any{"name": name})
	case *spec.CronArgs:
		args := map[string]any{"name": name}
		for key, value := range map[string]string{"user": a.User, "cron_file": a.CronFile} {
			if value != "" {
				args[key] = value
			}
		}
		if a.Env {
			args["env"] = true
		}
		return by("cron", args)
	case *spec.PackageArgs:
		return by("package", map[string]any{"name": name})
	case *spec.AptArgs:
		return by("apt", map[string]any{"name": name})
	case *spec.DnfArgs:
		return by("dnf", map[string]any{"name": name})
	}
	return nil
}
