package action

import (
	"slices"
	"strings"
)

// document is a text in lines, with its style: what ends them, and whether the last one has an end. Lines that are put
// in take the style over, and no other line is touched.
type document struct {
	lines []string // each with its end
	eol   string   // of lines that are put in
	open  bool     // the last line has no end
}

func readDocument(text string) *document {
	d := &document{lines: slices.Collect(strings.Lines(text)), eol: "\n"}
	if len(d.lines) == 0 {
		// An empty file has no line that could say which end its lines have.
		return d
	}
	if strings.HasSuffix(d.lines[0], "\r\n") {
		d.eol = "\r\n"
	}
	last := &d.lines[len(d.lines)-1]
	if !strings.HasSuffix(*last, "\n") {
		d.open = true
		// The last line gets an end for the time of the edit; open takes it away again.
		*last += d.eol
	}
	return d
}

func (d *document) String() string {
	text := strings.Join(d.lines, "")
	// An empty line is nothing but its end.
	if n := len(d.lines); d.open && n > 0 && d.lineText(n-1) != "" {
		return withoutEnd(text)
	}
	return text
}

// lineText returns a line without its end.
func (d *document) lineText(i int) string { return withoutEnd(d.lines[i]) }

func withoutEnd(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }

// putLines puts lines where others are. A line that has no other text than the one it replaces stays the very same.
func (d *document) putLines(from, to int, lines ...string) {
	var ended []string
	for _, l := range lines {
		ended = append(ended, withoutEnd(l)+d.eol)
	}
	d.lines = slices.Replace(d.lines, from, to, ended...)
}

// findLine returns the last line that is as wanted, or the first, or -1.
func (d *document) findLine(first bool, wanted func(line string) bool) int {
	found := -1
	for i := range d.lines {
		if wanted(d.lineText(i)) {
			found = i
			if first {
				break
			}
		}
	}
	return found
}
