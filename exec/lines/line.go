package lines

import (
	"fmt"
	"slices"
	"strings"

	"moon/exec/spec"
)

// Edited is a text with what was done to it.
type Edited struct {
	Text    string
	Says    string // in words; "": nothing
	Created bool   // what was put in was not there before
	Digest  string // of what was put in
	Space   string // where an empty line was put next to it: above, below, both; "": nowhere

	Values  []string // of an option: those that were put in
	Section bool     // which is new, too
}

// lineMatches says which lines regexp or search_string mean; nil if neither is given. What is wrong with matching is put into wrong.
func lineMatches(args *spec.LineinfileArgs, wrong *error) func(string) bool {
	switch {
	case args.Match != nil:
		return args.Match.Matching(wrong)
	case args.SearchString != nil:
		return func(line string) bool { return strings.Contains(line, *args.SearchString) }
	}
	return nil
}

// PutLine puts the line in the place of the one that matches. If there is none and the line is not there already, it is
// added. It may be several lines.
func PutLine(text string, args *spec.LineinfileArgs) (Edited, error) {
	d := Read(text)
	line := *args.Line
	var wrong error
	if matches := lineMatches(args, &wrong); matches != nil {
		i := d.Find(args.FirstMatch, matches)
		if wrong != nil {
			return Edited{}, wrong
		}
		if i >= 0 {
			old := d.Line(i)
			if args.Template != nil {
				groups, err := args.Match.Find(old)
				if err != nil {
					return Edited{}, err
				}
				line = string(args.Template.Expand(nil, old, groups))
			}
			if put := strings.Split(line, "\n"); !d.holdsAround(i, put) {
				d.Put(i, i+1, put...)
			}
			return Edited{Text: d.String(), Says: "line replaced"}, nil
		}
	}
	put := strings.Split(line, "\n")
	// With backrefs a line without a match has nothing to refer to, so nothing is added.
	if args.Backrefs || d.findLines(put) >= 0 {
		return Edited{Text: text}, nil
	}
	at, err := d.findAnchor(args.Anchor, args.FirstMatch)
	if err != nil {
		return Edited{}, err
	}
	d.Put(at, at, put...)
	return Edited{Text: d.String(), Says: "line added", Created: true}, nil
}

// holds reports whether the lines are there, from the one with that number.
func (d *Text) holds(from int, put []string) bool {
	if from < 0 || from+len(put) > len(d.Lines) {
		return false
	}
	for i, line := range put {
		if d.Line(from+i) != line {
			return false
		}
	}
	return true
}

// holdsAround reports whether the lines are there, with the one of that number among them.
func (d *Text) holdsAround(i int, put []string) bool {
	for before := range put {
		if d.holds(i-before, put) {
			return true
		}
	}
	return false
}

// findLines is the number of the line from which the lines are there, -1 if they are not.
func (d *Text) findLines(put []string) int {
	for i := range d.Lines {
		if d.holds(i, put) {
			return i
		}
	}
	return -1
}

// findAnchor returns the number of the line that what is put in shall come before.
func (d *Text) findAnchor(at spec.Anchor, first bool) (n int, wrong error) {
	if at.Top {
		return 0, nil
	}
	if at.Line == nil {
		return len(d.Lines), nil
	}
	i := d.Find(first, at.Line.Matching(&wrong))
	switch {
	case i < 0:
		return len(d.Lines), wrong
	case at.Before:
		return i, wrong
	}
	return i + 1, wrong
}

// RemoveLines takes the lines out that the step means.
func RemoveLines(text string, args *spec.LineinfileArgs) (edited Edited, removed int, wrong error) {
	matches := lineMatches(args, &wrong)
	d := Read(text)
	before := len(d.Lines)
	if matches != nil {
		d.Lines = slices.DeleteFunc(d.Lines, func(l string) bool { return matches(WithoutEnd(l)) })
	} else {
		// Without a pattern the whole line is what is meant, or all lines in a row.
		meant := strings.Split(*args.Line, "\n")
		for i := d.findLines(meant); i >= 0; i = d.findLines(meant) {
			d.Lines = slices.Delete(d.Lines, i, i+len(meant))
		}
	}
	removed = before - len(d.Lines)
	return Edited{Text: d.String(), Says: fmt.Sprintf("%d line(s) removed", removed)}, removed, wrong
}
