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

// PutLine puts the line in the place of the one that matches. If there is none and the line is not there already, it is
// added.
func PutLine(text string, args *spec.LineinfileArgs) Edited {
	d := Read(text)
	line := *args.Line
	if matches := lineMatches(args); matches != nil {
		if i := d.Find(args.FirstMatch, matches); i >= 0 {
			old := d.Line(i)
			if args.Template != nil {
				line = string(args.Template.Expand(nil, old, args.Match.FindStringSubmatchIndex(old)))
			}
			if line != old {
				d.Put(i, i+1, strings.Split(line, "\n")...)
			}
			return Edited{Text: d.String(), Says: "line replaced"}
		}
	}
	// With backrefs a line without a match has nothing to refer to, so nothing is added.
	if args.Backrefs || d.Find(true, func(l string) bool { return l == line }) >= 0 {
		return Edited{Text: text}
	}
	at := d.findAnchor(args.Anchor, args.FirstMatch)
	d.Put(at, at, line)
	return Edited{Text: d.String(), Says: "line added", Created: true}
}

// findAnchor returns the number of the line that what is put in shall come before.
func (d *Text) findAnchor(at spec.Anchor, first bool) int {
	if at.Top {
		return 0
	}
	if at.Line == nil {
		return len(d.Lines)
	}
	i := d.Find(first, at.Line.MatchString)
	switch {
	case i < 0:
		return len(d.Lines)
	case at.Before:
		return i
	}
	return i + 1
}

// RemoveLines takes the lines out that the step means.
func RemoveLines(text string, args *spec.LineinfileArgs) (edited Edited, removed int) {
	matches := lineMatches(args)
	// Without a pattern the whole line is what is meant.
	if matches == nil {
		matches = func(line string) bool { return line == *args.Line }
	}
	d := Read(text)
	before := len(d.Lines)
	d.Lines = slices.DeleteFunc(d.Lines, func(l string) bool { return matches(WithoutEnd(l)) })
	removed = before - len(d.Lines)
	return Edited{Text: d.String(), Says: fmt.Sprintf("%d line(s) removed", removed)}, removed
}
