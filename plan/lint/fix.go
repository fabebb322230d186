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
		if f.Edit != nil && f.Edit.Line >= 1 && f.Edit.Line <= len(lines) {
			edits = append(edits, *f.Edit)
		}
	}
	// From the end of each line, so that those before keep their places.
	slices.SortFunc(edits, func(a, b Edit) int { return b.Column - a.Column })
	for _, e := range edits {
		line := []rune(lines[e.Line-1])
		old := []rune(e.Old)
		from := e.Column - 1
		if from < 0 || from+len(old) > len(line) || string(line[from:from+len(old)]) != e.Old {
			continue
		}
		lines[e.Line-1] = string(line[:from]) + e.New + string(line[from+len(old):])
		fixed++
	}
	return strings.Join(lines, "\n"), fixed
}
