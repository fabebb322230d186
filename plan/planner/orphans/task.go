package orphans

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/exec/spec"
	"moon/internal/diag"
	"moon/plan"
	"moon/plan/playbook"
	"moon/plan/prior"
)

// Task is the step that removes an orphan: what was recorded to undo it, with values in which nothing is a template. With edited it also
// removes what was edited since.
func Task(o *plan.Orphan, root string, edited bool) (*playbook.Task, error) {
	undo := o.Thing.Undo
	if edited {
		undo, _ = prior.Unguarded(undo)
	}
	t := &o.Thing
	at := diag.Pos{File: t.File, Line: t.Line, Column: 1}
	if t.Run != "" {
		at.File = strings.TrimSpace("run " + t.Run + ", " + t.File)
	}
	what := o.What()
	if t.Type == events.FileResource { // as the paths of other steps are shown
		what = t.Type + " " + plan.ShownPath(root, t.Name)
	}
	name, err := playbook.WrittenData(at, "remove "+what)
	if t.Type == prior.StepUndo {
		name, err = playbook.WrittenData(at, "undo "+o.What())
	}
	if err != nil {
		return nil, err
	}
	action, known := spec.Lookup(undo.Action)
	if !known {
		return nil, fmt.Errorf("there is no action `%s` any more", undo.Action)
	}
	// All of it is data: what a run has recorded may hold braces, and nothing in it is rendered again.
	task := playbook.NewTask(playbook.Task{
		Kind: playbook.Action, Pos: at, Action: action.Name, ActionKey: undo.Action, ActionPos: at, Name: name,
		Loop: &playbook.Loop{Var: "item", Index: "index"},
	})
	var args []playbook.Entry
	for _, key := range plan.SortedKeys(undo.Args) {
		v, err := playbook.WrittenData(at, undo.Args[key])
		if err != nil {
			return nil, err
		}
		args = append(args, playbook.Entry{Key: key, Pos: at, Value: v})
	}
	task.ExtraArgs = playbook.WrittenMap(at, args...)
	if len(undo.Env) > 0 {
		if task.Env, err = playbook.WrittenData(at, undo.Env); err != nil {
			return nil, err
		}
	}
	if undo.Cwd != "" {
		if task.Cwd, err = playbook.WrittenData(at, undo.Cwd); err != nil {
			return nil, err
		}
	}
	if b := t.Become; b != nil {
		task.Become = playbook.Written(at, "true")
		if task.BecomeUser, err = playbook.WrittenData(at, b.User); err == nil && b.Method != "" {
			task.BecomeHow, err = playbook.WrittenData(at, b.Method)
		}
		if err == nil && b.Flags != "" {
			task.BecomeFlags, err = playbook.WrittenData(at, b.Flags)
		}
	}
	return task, err
}
