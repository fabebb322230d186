package exec

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/exec/digest"
	"moon/exec/fault"
	"moon/exec/fsys"
	"moon/exec/spec"
)

// Change is what an action would do to the files of this machine, and the way to do it. A prediction takes the
// first, a run both, so that they cannot differ.
type Change struct {
	Diff        events.Diff
	Warnings    []string
	Fields      map[string]any              // of the result, known beforehand
	Apply       func(context.Context) error // may add to fields, and correct diff; not called for ChangeNone
	Always      bool                        // but with this: something is to be done that is no change
	Places      []*fsys.Anchored            // held open until the end
	Result      *fsys.Anchored              // whose entry describes the result; may be nil
	PlainFields []string                    // in plays, all that the result says; nil: everything
	InPlays     []func(map[string]any)      // what plays change in the result
	seen        *fsys.Entry                 // what Describe has found
	Unlock      func()                      // at the end, such as letting others at the file that is edited; may be nil

	Skips       bool                  // it does nothing, and counts as skipped
	Predictions []func(*fsys.Overlay) // what later steps of a dry run would find
	Resources   []events.Resource     // what is changed, if that is not the file at diff.Path
	Ended       bool                  // an edit has put an end to a last line that had none
	Hidden      bool                  // what it writes must not even be digested
	parted      string                // the file that a part was put into, to be taken out again
	written     map[string]string     // SHA-1 of the files whose whole content it has written, by path
}

// AddResource notes what the change is made to: a package, a user, a service. Without it a change is made to a file.
func (c *Change) AddResource(kind events.ChangeKind, typ, name string) {
	c.Resources = append(c.Resources, events.Resource{Type: typ, Name: name, Change: kind})
}

// FewResources is how many files that were there before are recorded one by one. All that is created is, to be removed again.
const FewResources = 100

// ShownURLs is spec.ShownURL for each word of a text.
func ShownURLs(text string) string {
	words := strings.Split(text, " ")
	for i := range words {
		words[i] = spec.ShownURL(words[i])
	}
	return strings.Join(words, " ")
}

// AddCreated notes something that the change creates and that is not a file, with the step that takes it away again.
func (c *Change) AddCreated(typ, name string, undo *events.Undo) {
	c.Resources = append(c.Resources, events.Resource{Type: typ, Name: name, Change: events.ChangeCreate, Undo: undo})
}

// AddFile is AddResource for a file, directory or link at a path.
func (c *Change) AddFile(kind events.ChangeKind, path string) {
	c.AddResource(kind, events.FileResource, path)
}

// AddDirs notes the directories that are created down to the place, whose name may have several parts: the outermost first, since what
// they hold is removed before them.
func (c *Change) AddDirs(p *fsys.Anchored) {
	parts := strings.Split(p.Name, "/")
	for i := range parts {
		c.AddFile(events.ChangeCreate, strings.TrimSuffix(p.Path, p.Name)+strings.Join(parts[:i+1], "/"))
	}
}

// AddTree notes a directory that is created with everything in it: one thing, which is removed as one.
func (c *Change) AddTree(path string) {
	c.Resources = append(c.Resources, events.Resource{
		Type: events.FileResource, Name: path, Change: events.ChangeCreate, Digest: digest.Tree, // until it is known
	})
}

// AddPart notes something that is put into the file which the change is made to, and before it the file: one that is created for it
// goes when nothing is left in it.
func (c *Change) AddPart(part events.Resource) {
	if !slices.ContainsFunc(c.Resources, func(r events.Resource) bool { return r.Type == events.FileResource && r.Name == c.Diff.Path }) {
		whole := events.Resource{Type: events.FileResource, Name: c.Diff.Path, Change: c.Diff.Kind}
		if c.Diff.Kind == events.ChangeCreate {
			whole.Undo = RemoveEmpty(whole.Name)
		}
		c.Resources = append(c.Resources, whole)
	}
	// The line that was the last has got an end, which is a thing of its own.
	if c.Ended {
		c.Ended = false
		c.AddCreated("line", c.Diff.Path+": the end of the last line",
			UndoBy("replace", map[string]any{"path": c.Diff.Path, "regexp": `\n\Z`, "replace": ""}))
	}
	c.parted = c.Diff.Path
	part.Change = events.ChangeCreate
	c.Resources = append(c.Resources, part)
}

// PlanCreation is PlanFor for what is created, with the step that takes it away again.
func (c *Change) PlanCreation(typ, name string, undo *events.Undo, apply func(context.Context) error, words ...string) {
	c.AddCreated(typ, name, undo)
	c.Plan(events.ChangeCreate, apply, words...)
}

// Watch is for what programs make that the change itself does not: it looks what of the paths is not there. What it returns is called
// when they have run, and records what has come to be, with the directories above it, before everything else. Whole says that a new
// directory at the end of a path is one thing with all that is in it.
func (c *Change) Watch(whole bool, paths ...string) (record func()) {
	var missing []string
	last := map[string]bool{}
	for _, path := range paths {
		path = filepath.Clean(path)
		last[path] = true
		var of []string
		for at := path; at != "/" && at != "."; at = filepath.Dir(at) {
			if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
				break
			}
			if !slices.Contains(missing, at) {
				of = append(of, at)
			}
		}
		slices.Reverse(of)
		missing = append(missing, of...)
	}
	return func() {
		var found Change
		for _, path := range missing {
			switch _, err := os.Lstat(path); {
			case err != nil:
			case whole && last[path]:
				found.AddTree(path)
			default:
				found.AddFile(events.ChangeCreate, path)
			}
		}
		c.Resources = append(found.Resources, c.Resources...)
	}
}

// Wrote notes the SHA-1 of a file whose whole content the change has written.
func (c *Change) Wrote(path, checksum string) {
	if c.written == nil {
		c.written = map[string]string{}
	}
	c.written[path] = checksum
}

// touched is what the change was made to.
func (c *Change) touched() []events.Resource {
	if len(c.Resources) > 0 || c.Diff.Path == "" {
		return c.Resources
	}
	return []events.Resource{{Type: events.FileResource, Name: c.Diff.Path, Change: c.Diff.Kind}}
}

// AtEnd adds to what is done at the end, however it ends.
func (c *Change) AtEnd(do func()) {
	before := c.Unlock
	c.Unlock = func() {
		do()
		if before != nil {
			before()
		}
	}
}

// Close lets go of what the change has held open, however it ended.
func (c *Change) Close() {
	for _, p := range c.Places {
		p.Close()
	}
	if c.Unlock != nil {
		c.Unlock()
	}
}

// PlanNothing makes the change nothing, with what is there as the result.
func (c *Change) PlanNothing() *Change {
	c.Diff.Kind = events.ChangeNone
	return c
}

// Plan makes the change something.
func (c *Change) Plan(kind events.ChangeKind, apply func(context.Context) error, words ...string) *Change {
	c.Diff.Kind, c.Apply = kind, apply
	c.Diff.Summary = strings.Join(words, ", ")
	return c
}

// PlanFor is to, for a change to something that is no file.
func (c *Change) PlanFor(kind events.ChangeKind, typ, name string, apply func(context.Context) error, words ...string) {
	c.AddResource(kind, typ, name)
	c.Plan(kind, apply, words...)
}

// Describe adds what is at a place to the result.
func (c *Change) Describe(p *fsys.Anchored) {
	e, err := p.Look()
	if err != nil {
		return // what is not seen is not reported; the step itself went well
	}
	maps.Copy(c.Fields, e.Fields())
	c.seen = &e
}

// AddPrediction notes what a change would make, for the later steps of a dry run. It is called when the change is only
// predicted.
func (c *Change) AddPrediction(do func(*fsys.Overlay)) { c.Predictions = append(c.Predictions, do) }

// ChangedEarlier is the result of a dry run for what looks at something that an earlier step would change.
func (a *Attempt) ChangedEarlier(paths ...string) *Result {
	for _, path := range paths {
		if a.Overlay.Concerns(path) {
			r := UnknownChange("an earlier step would change " + path)
			return &r
		}
	}
	return nil
}

// Apply makes a change and reports it.
func (a *Attempt) Apply(ctx context.Context, c *Change) Result {
	defer c.Close()
	r := Result{Outcome: events.OK}
	if c.Diff.Kind != events.ChangeNone || c.Always {
		if err := c.Apply(ctx); err != nil {
			return a.Failure(ctx, err)
		}
	}
	switch {
	case c.Diff.Kind != events.ChangeNone: // as the prediction had it, or as it turned out
		r.Outcome, r.Resources = events.Changed, c.touched()
		a.describeResources(ctx, c, r.Resources)
	// The attempt before was lost after it had made the change, so this one found nothing to do.
	case a.Again:
		r.Resources = c.touched() // by an attempt that died before it could say so
		for i := range r.Resources {
			r.Resources[i].Change, r.Resources[i].Digest, r.Resources[i].Undo = events.ChangeUpdate, "", nil
		}
		a.describeResources(ctx, c, r.Resources)
	}
	if c.Result != nil {
		// Described after the change: what is there now counts.
		c.Describe(c.Result)
	}
	r.Diff, r.Fields, r.Warnings = &c.Diff, a.Says(c), c.Warnings
	if c.Skips {
		return AsSkipped("skipped, since " + c.Diff.Summary)
	}
	return r
}

// Says is what the change says of itself.
func (a *Attempt) Says(c *Change) map[string]any { return a.form().fields(c) }

// predict is the result of a dry run.
func (a *Attempt) predict(ctx context.Context, act Action) Result {
	began := time.Now()
	r := a.predictChange(ctx, act)
	if r.Diff != nil && filepath.IsAbs(r.Diff.Path) {
		r.Age, r.Took = fsys.Age(r.Diff.Path), time.Since(began)
	}
	return r
}

func (a *Attempt) predictChange(ctx context.Context, act Action) Result {
	c, err := act.Plan(ctx, a)
	if s, ok := errors.AsType[supplied](err); ok {
		return unpredicted(s)
	}
	if missing, ok := errors.AsType[fault.NotYet](err); ok {
		r := UnknownChange("unpredictable: " + missing.Error())
		r.Diff.Path, r.Diff.Summary = missing.Path, missing.Error()
		r.Warnings, r.Lacks = []string{missing.Error()}, missing.Error()
		r.Fields = a.Failure(ctx, err).Fields
		return r
	}
	if err != nil {
		return a.Failure(ctx, err)
	}
	defer c.Close()
	// The effect is open, so later steps must not see any of it.
	if c.Diff.Kind == events.ChangeUnknown {
		r := UnknownChange("unpredictable: " + c.Diff.Summary)
		r.Diff, r.Warnings = &c.Diff, c.Warnings
		if r.Fields = a.Says(c); r.Fields == nil {
			r.Fields = map[string]any{}
		}
		return r
	}
	r := Result{Outcome: events.OK, Diff: &c.Diff, Warnings: c.Warnings}
	if c.Diff.Kind != events.ChangeNone {
		r.Outcome = events.Changed
		// Later steps of the dry run see what this one would leave.
		if a.Overlay != nil {
			for _, do := range c.Predictions {
				do(a.Overlay)
			}
		}
	} else if c.Result != nil {
		// Without an overlay nothing has changed, so what is there is the result.
		c.Describe(c.Result)
	}
	r.Fields = a.Says(c)
	if c.Skips {
		return AsSkipped("skipped, since " + c.Diff.Summary)
	}
	return r
}

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
	maps.DeleteFunc(u.Env, func(_, value string) bool { return a.Secrets.Has(value) || ShownURLs(value) != value })
	return u
}

// describeResources adds to what the change was made to, now that it was made, what it holds, and how what was created goes again. It
// looks at the files themselves: what is to be compared later is what moon left, and not what it had in mind.
func (a *Attempt) describeResources(ctx context.Context, c *Change, list []events.Resource) {
	hidden := a.NoLog || c.Hidden
	for i := range list {
		r := &list[i]
		if r.Undo != nil && len(a.Secrets.Within(r.Undo.Args)) > 0 {
			c.Warnings = append(c.Warnings, "moon will not remove "+r.Type+" "+r.Name+" by itself: it could not without recording a secret")
			r.Undo = nil
			continue
		}
		if r.Type != events.FileResource || r.Change == events.ChangeDelete {
			continue
		}
		tree := r.Digest == digest.Tree
		sum, known := c.written[r.Name]
		if r.Name == c.Diff.Path && !known {
			sum, known = c.Fields["checksum"].(string)
		}
		r.Digest = ""
		// Without the part the file is what it was before, and that is what its own undo will find.
		if r.Name == c.parted && r.Change == events.ChangeUpdate {
			continue
		}
		switch {
		case known && !hidden && !a.Secrets.Has(sum):
			r.Digest = sum
		case known, r.Change == events.ChangeCreate:
			var err error
			if r.Digest, err = digestAt(ctx, r.Name, tree, known || hidden); err != nil {
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
