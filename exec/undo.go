package exec

import (
	"context"
	"maps"

	"moon/events"
	"moon/exec/fsys"
	"moon/exec/spec"
)

// UndoBy is the step that takes away what an action has created.
func UndoBy(action string, args map[string]any) *events.Undo {
	return &events.Undo{Action: action, Args: args}
}

// RemoveEmpty removes a directory or a file if nothing is in it.
func RemoveEmpty(path string) *events.Undo {
	return UndoBy("file", map[string]any{"path": path, "state": fsys.Absent, "if_empty": true})
}

// RemoveUnchanged removes what is at a path if that is still what the digest says.
func RemoveUnchanged(path, digest string) *events.Undo {
	return UndoBy("file", map[string]any{"path": path, "state": fsys.Absent, "checksum": digest})
}

// UndoWithTools is UndoBy for an action that starts programs, which find their way by the environment of the step. What is secret in
// that stays out of the record.
func (a *Attempt) UndoWithTools(action string, args map[string]any) *events.Undo {
	u := UndoBy(action, args)
	u.Env = maps.Clone(a.Env)
	maps.DeleteFunc(u.Env, func(_, value string) bool { return a.Secrets.Has(value) })
	return u
}

// describeResources adds to what the change was made to, now that it was made, what it holds, and how what was created goes again. It
// looks at the files themselves: what is to be compared later is what moon left, and not what it had in mind.
func (a *Attempt) describeResources(ctx context.Context, c *Change, list []events.Resource) {
	for i := range list {
		r := &list[i]
		if r.Type != events.FileResource || r.Change == events.ChangeDelete {
			continue
		}
		tree := r.Digest == spec.TreeDigest
		sum, known := c.written[r.Name]
		if r.Name == c.Diff.Path && !known {
			sum, known = c.Fields["checksum"].(string)
		}
		r.Digest = ""
		switch {
		case known && !a.Secrets.Has(sum):
			r.Digest = sum
		case known, r.Change == events.ChangeCreate:
			var err error
			if r.Digest, err = digestAt(ctx, r.Name, tree, known); err != nil {
				c.Warnings = append(c.Warnings, "moon will not remove "+r.Name+" by itself: "+err.Error())
				continue
			}
		}
		switch {
		case r.Change != events.ChangeCreate || r.Undo != nil:
		case r.Digest == "":
			r.Undo = RemoveEmpty(r.Name)
		default:
			r.Undo = RemoveUnchanged(r.Name, r.Digest)
		}
	}
}

// CreatedFile is what an action without a plan has created at a path.
func (a *Attempt) CreatedFile(ctx context.Context, path string) []events.Resource {
	var c Change
	c.AddFile(events.ChangeCreate, path)
	a.describeResources(ctx, &c, c.Resources)
	return c.Resources
}

// digestAt is the digest of what is at a path; "" for a directory that is not taken as a whole. The digest of a secret would let others
// try out what that is, so of a file with secrets it is a stamp.
func digestAt(ctx context.Context, path string, tree, secret bool) (string, error) {
	p, err := fsys.AnchorAt(path)
	if err != nil {
		return "", err
	}
	defer p.Close()
	is, err := p.Look()
	switch {
	case err != nil:
		return "", err
	case is.Kind == fsys.Directory && !tree:
		return "", nil
	case is.Kind == fsys.Regular && secret:
		return fsys.Stamp(is), nil
	}
	return p.Digest(ctx, is, "")
}
