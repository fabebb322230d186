package exec

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/exec/fault"
	"moon/exec/fsys"
)

// change is what an action would do to the files of this machine, and the way to do it. A prediction takes the
// first, a run both, so that they cannot differ.
type change struct {
	diff     events.Diff
	warnings []string
	fields   map[string]any              // of the result, known beforehand
	apply    func(context.Context) error // may add to fields, and correct diff; not called for ChangeNone
	always   bool                        // but with this: something is to be done that is no change
	places   []*fsys.Anchored            // held open until the end
	result   *fsys.Anchored              // whose entry describes the result; may be nil
	plain    []string                    // in plays, all that the result says; nil: everything
	unlock   func()                      // at the end, such as letting others at the file that is edited; may be nil

	skips     bool                  // it does nothing, and counts as skipped
	ahead     []func(*fsys.Overlay) // what later steps of a dry run would find
	resources []events.Resource     // what is changed, if that is not the file at diff.Path
}

// concerns notes what the change is made to: a package, a user, a service. Without it a change is made to a file.
func (c *change) concerns(kind events.ChangeKind, typ, name string) {
	c.resources = append(c.resources, events.Resource{Type: typ, Name: name, Change: kind})
}

// touched is what the change was made to.
func (c *change) touched() []events.Resource {
	if len(c.resources) > 0 || c.diff.Path == "" {
		return c.resources
	}
	r := events.Resource{Type: events.FileResource, Name: c.diff.Path, Change: c.diff.Kind}
	r.Digest, _ = c.fields["checksum"].(string)
	return []events.Resource{r}
}

// after adds to what is done at the end, however it ends.
func (c *change) after(do func()) {
	before := c.unlock
	c.unlock = func() {
		do()
		if before != nil {
			before()
		}
	}
}

func (c *change) close() {
	for _, p := range c.places {
		p.Close()
	}
	if c.unlock != nil {
		c.unlock()
	}
}

// none makes the change nothing, with what is there as the result.
func (c *change) none() *change {
	c.diff.Kind = events.ChangeNone
	return c
}

// to makes the change something.
func (c *change) to(kind events.ChangeKind, apply func(context.Context) error, words ...string) *change {
	c.diff.Kind, c.apply = kind, apply
	c.diff.Summary = strings.Join(words, ", ")
	return c
}

// as is to, for a change to something that is no file.
func (c *change) as(kind events.ChangeKind, typ, name string, apply func(context.Context) error, words ...string) {
	c.concerns(kind, typ, name)
	c.to(kind, apply, words...)
}

// describe adds what is at a place to the result.
func (c *change) describe(p *fsys.Anchored, plays bool) {
	e, err := p.Look()
	if err != nil {
		return // what is not seen is not reported; the step itself went well
	}
	maps.Copy(c.fields, e.Fields())
	if plays && e.Kind != fsys.Absent {
		c.fields["mode"] = fmt.Sprintf("0%03o", e.Mode)
	}
	if plays && e.Kind == fsys.Regular && e.Twins() > 1 {
		c.fields["state"] = fsys.HardLink
	}
}

// foresees notes what a change would make, for the later steps of a dry run. It is called when the change is only
// predicted.
func (c *change) foresees(do func(*fsys.Overlay)) { c.ahead = append(c.ahead, do) }

// changedMeanwhile is the result of a dry run for what looks at something that an earlier step would change.
func (a *attempt) changedMeanwhile(paths ...string) *Result {
	for _, path := range paths {
		if a.overlay.Concerns(path) {
			r := unrun("an earlier step would change " + path)
			return &r
		}
	}
	return nil
}

// apply makes a change and reports it.
func (a *attempt) apply(ctx context.Context, c *change) Result {
	defer c.close()
	r := Result{Outcome: events.OK}
	if c.diff.Kind != events.ChangeNone || c.always {
		if err := c.apply(ctx); err != nil {
			return a.failure(ctx, err)
		}
	}
	switch {
	case c.diff.Kind != events.ChangeNone: // as the prediction had it, or as it turned out
		r.Outcome, r.Resources = events.Changed, c.touched()
	case a.Again:
		r.Resources = c.touched() // by an attempt that died before it could say so
		for i := range r.Resources {
			r.Resources[i].Change = events.ChangeUpdate
		}
	}
	if c.result != nil {
		c.describe(c.result, a.Plays)
	}
	r.Diff, r.Fields, r.Warnings = &c.diff, a.says(c), c.warnings
	if c.skips {
		return asSkipped("skipped, since " + c.diff.Summary)
	}
	return r
}

// says is what the change says of itself.
func (a *attempt) says(c *change) map[string]any {
	if !a.Plays {
		return c.fields
	}
	if c.plain != nil {
		maps.DeleteFunc(c.fields, func(name string, _ any) bool { return !slices.Contains(c.plain, name) })
	}
	return c.fields
}

// predict is the result of a dry run.
func (a *attempt) predict(ctx context.Context, act action) Result {
	c, err := act.plan(ctx, a)
	if s, ok := errors.AsType[supplied](err); ok {
		return unpredicted(s)
	}
	if missing, ok := errors.AsType[fault.NotYet](err); ok {
		r := unrun("unpredictable: " + missing.Error())
		r.Diff.Path, r.Diff.Summary = missing.Path, missing.Error()
		r.Warnings, r.Lacks = []string{missing.Error()}, missing.Error()
		r.Fields = a.failure(ctx, err).Fields
		return r
	}
	if err != nil {
		return a.failure(ctx, err)
	}
	defer c.close()
	if c.diff.Kind == events.ChangeUnknown {
		r := unrun("unpredictable: " + c.diff.Summary)
		r.Diff, r.Warnings = &c.diff, c.warnings
		if a.Plays {
			r.Fields = map[string]any{}
			maps.Copy(r.Fields, a.says(c))
		}
		return r
	}
	r := Result{Outcome: events.OK, Diff: &c.diff, Warnings: c.warnings}
	if c.diff.Kind != events.ChangeNone {
		r.Outcome = events.Changed
		if a.overlay != nil {
			for _, do := range c.ahead {
				do(a.overlay)
			}
		}
	} else if c.result != nil {
		c.describe(c.result, a.Plays)
	}
	r.Fields = a.says(c)
	if c.skips {
		return asSkipped("skipped, since " + c.diff.Summary)
	}
	return r
}
