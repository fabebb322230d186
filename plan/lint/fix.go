package lint

import (
	"slices"
	"strings"
)

// Fix makes the edits of findings in the text of their file. fixed is how many could be made: an edit whose text is not there, as it is
// written in another way in the file, is left to a person.
func Fix(text string, findings []Finding) (now string, fixed int) {
	lines := strings.Split(text, "\n")
	var edits []Edit
	for _, f := range findings {
		if f.Edit == nil || !fits(lines, f.Edit) {
			continue
		}
		fixed++
		for e := f.Edit; e != nil; e = e.Also {
			edits = append(edits, *e)
		}
	}
	// From the end of each line, so that those before keep their places; a line that is moved goes last of all.
	slices.SortStableFunc(edits, func(a, b Edit) int { return b.Column - a.Column })
	dropped := map[int]bool{}
	for _, e := range edits {
		line := []rune(lines[e.Line-1])
		from := e.Column - 1
		switch {
		case e.Drop:
			dropped[e.Line-1] = true
		case fits(lines, &Edit{Line: e.Line, Column: e.Column, Old: e.Old}):
			lines[e.Line-1] = string(line[:from]) + e.New + string(line[from+len([]rune(e.Old)):])
		}
	}
	kept := lines[:0]
	for i, line := range lines {
		if !dropped[i] {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n"), fixed
}

// fits reports whether the texts of an edit are where it says.
func fits(lines []string, e *Edit) bool {
	for ; e != nil; e = e.Also {
		if e.Line < 1 || e.Line > len(lines) {
			return false
		}
		line, old := []rune(lines[e.Line-1]), []rune(e.Old)
		from := e.Column - 1
		if from < 0 || from+len(old) > len(line) || string(line[from:from+len(old)]) != e.Old {
			return false
		}
	}
	return true
}
