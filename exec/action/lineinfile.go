package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"moon/exec"
	"moon/exec/fsys"
	"moon/exec/spec"
)

var _ = exec.Register("lineinfile", exec.Action{Plan: planLineinfile})

func planLineinfile(ctx context.Context, a *exec.Attempt) (*exec.Change, error) {
	args := a.Args.(*spec.LineinfileArgs)
	e := edit{
		plain: true,
		path:  args.Path, mode: args.Mode, owner: args.Owner, group: args.Group,
		create: args.Create, hint: toCreate, gone: args.State == fsys.Absent, backup: args.Backup, validate: args.Validate,
	}
	removed := 0
	c, err := planEdit(ctx, a, e, func(text string) (edited, says string) {
		if args.State != fsys.Absent {
			return putLine(text, args)
		}
		edited, removed = removeLines(text, args)
		return edited, fmt.Sprintf("%d line(s) removed", removed)
	})
	if err != nil {
		return nil, err
	}
	if args.State == fsys.Absent {
		c.Fields["found"] = removed
	}
	c.Fields["backup"] = ""
	return c, nil
}

// lineMatches says which lines regexp or search_string mean; nil if neither is given.
func lineMatches(args *spec.LineinfileArgs) func(string) bool {
	switch {
	case args.Match != nil:
		return args.Match.MatchString
	case args.SearchString != nil:
		return func(line string) bool { return strings.Contains(line, *args.SearchString) }
	}
	return nil
}

// putLine puts the line in the place of the one that matches. If there is none and the line is not there already, it is
// added.
func putLine(text string, args *spec.LineinfileArgs) (edited, says string) {
	d := readDocument(text)
	line := *args.Line
	if matches := lineMatches(args); matches != nil {
		if i := d.findLine(args.FirstMatch, matches); i >= 0 {
			old := d.lineText(i)
			if args.Template != nil {
				line = string(args.Template.Expand(nil, old, args.Match.FindStringSubmatchIndex(old)))
			}
			if line != old {
				d.putLines(i, i+1, strings.Split(line, "\n")...)
			}
			return d.String(), "line replaced"
		}
	}
	// With backrefs a line without a match has nothing to refer to, so nothing is added.
	if args.Backrefs || d.findLine(true, func(l string) bool { return l == line }) >= 0 {
		return text, ""
	}
	at := d.findAnchor(args.Anchor, args.FirstMatch)
	d.putLines(at, at, line)
	return d.String(), "line added"
}

// findAnchor returns the number of the line that what is put in shall come before.
func (d *document) findAnchor(at spec.Anchor, first bool) int {
	if at.Top {
		return 0
	}
	if at.Line == nil {
		return len(d.lines)
	}
	i := d.findLine(first, at.Line.MatchString)
	switch {
	case i < 0:
		return len(d.lines)
	case at.Before:
		return i
	}
	return i + 1
}

func removeLines(text string, args *spec.LineinfileArgs) (edited string, removed int) {
	matches := lineMatches(args)
	// Without a pattern the whole line is what is meant.
	if matches == nil {
		matches = func(line string) bool { return line == *args.Line }
	}
	d := readDocument(text)
	before := len(d.lines)
	d.lines = slices.DeleteFunc(d.lines, func(l string) bool { return matches(withoutEnd(l)) })
	return d.String(), before - len(d.lines)
}
