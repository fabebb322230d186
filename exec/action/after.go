package action

import (
	"context"

	"moon/events"
	"moon/exec"
)

// planAfter adds to a change something that is done after it. A change that is nothing becomes one of the given kind; any other keeps
// its own.
func planAfter(c *exec.Change, kind events.ChangeKind, do func(context.Context) error, words string) {
	before := c.Apply
	if c.Diff.Kind == events.ChangeNone {
		before = nil
	} else {
		kind, words = c.Diff.Kind, c.Diff.Summary+", "+words
	}
	c.Plan(kind, func(ctx context.Context) error {
		if before != nil {
			if err := before(ctx); err != nil {
				return err
			}
		}
		return do(ctx)
	}, words)
}

// addChange adds another change to one that consists of several: it is made after those before it, and closed with them.
func addChange(c, one *exec.Change) {
	c.Places = append(c.Places, one.Places...)
	if one.Unlock != nil {
		c.AtEnd(one.Unlock)
	}
	c.Predictions, c.Warnings = append(c.Predictions, one.Predictions...), append(c.Warnings, one.Warnings...)
	if one.Diff.Kind == events.ChangeNone {
		return
	}
	c.Diff.Text += one.Diff.Text
	if len(one.Resources) > 0 {
		c.Resources = append(c.Resources, one.Resources...)
	} else {
		c.AddFile(one.Diff.Kind, one.Diff.Path)
	}
	planAfter(c, one.Diff.Kind, one.Apply, one.Diff.Summary)
}
