package action

import (
	"context"
	"slices"
	"strings"

	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("blockinfile", exec.Action{Plan: planBlockinfile})

func planBlockinfile(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.BlockinfileArgs)
	e := edit{
		plain: true,
		path:  args.Path, mode: args.Mode, owner: args.Owner, group: args.Group,
		create: args.Create, hint: toCreate, gone: args.State == fsys.Absent, backup: args.Backup, validate: args.Validate,
	}
	return planEdit(ctx, a, e, func(text string) (string, string) { return putBlock(text, args) })
}

// putBlock puts the block in the place of the one between the markers, or where the anchor is.
func putBlock(text string, args *spec.BlockinfileArgs) (edited, says string) {
	d := readDocument(text)
	from, to, found := d.findBlock(args.Begin, args.End)
	if args.State == fsys.Absent || args.Block == "" {
		if !found {
			return text, ""
		}
		d.putLines(from, to)
		return d.String(), "Block removed"
	}
	if !found {
		from = d.blockAnchor(args.Anchor)
		to = from
	}
	lines := []string{args.Begin}
	for l := range strings.Lines(args.Block) {
		lines = append(lines, withoutEnd(l))
	}
	lines = append(lines, args.End)
	// Lines that are right keep their ends, even where those are mixed.
	if now := d.textsBetween(from, to); !slices.Equal(now, lines) {
		d.putLines(from, to, lines...)
	}
	end := from + len(lines)
	if args.Append && end < len(d.lines) && d.lineText(end) != "" {
		d.putLines(end, end, "")
	}
	if args.Prepend && from > 0 && d.lineText(from-1) != "" {
		d.putLines(from, from, "")
	}
	return d.String(), "Block inserted"
}

// findBlock finds the lines between two markers, with them: the last beginning that has an end, and the nearest one. A
// marker without the other is a line like any other, so that nothing is lost where somebody has removed one.
func (d *document) findBlock(begin, end string) (from, to int, found bool) {
	open := -1
	for i := range d.lines {
		switch d.lineText(i) {
		case begin:
			open = i
		case end:
			if open >= 0 {
				from, to, found = open, i+1, true
			}
			open = -1
		}
	}
	return from, to, found
}

// blockAnchor is anchor, for a pattern that may be for the whole text.
func (d *document) blockAnchor(at spec.Anchor) int {
	if !at.Whole {
		return d.findAnchor(at, false)
	}
	text := strings.Join(d.lines, "")
	m := at.Line.FindStringIndex(text)
	switch {
	case m == nil:
		return len(d.lines)
	case at.Before:
		return strings.Count(text[:m[0]], "\n")
	}
	return min(strings.Count(text[:m[1]], "\n")+1, len(d.lines))
}

func (d *document) textsBetween(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, d.lineText(i))
	}
	return all
}
