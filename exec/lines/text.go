package lines

import (
	"slices"
	"strings"
)

// Text is a text in lines, with its style: what ends them, and whether the last one has an end. Lines that are put
// in take the style over, and no other line is touched.
type Text struct {
	Lines []string // each with its end
	EOL   string   // of lines that are put in
	Open  bool     // the last line has no end
}

// Read takes a text apart.
func Read(text string) *Text {
	d := &Text{Lines: slices.Collect(strings.Lines(text)), EOL: "\n"}
	if len(d.Lines) == 0 {
		// An empty file has no line that could say which end its lines have.
		return d
	}
	if strings.HasSuffix(d.Lines[0], "\r\n") {
		d.EOL = "\r\n"
	}
	last := &d.Lines[len(d.Lines)-1]
	if !strings.HasSuffix(*last, "\n") {
		d.Open = true
		// The last line gets an end for the time of the edit; open takes it away again.
		*last += d.EOL
	}
	return d
}

// String is the text again.
func (d *Text) String() string {
	text := strings.Join(d.Lines, "")
	// An empty line is nothing but its end.
	if n := len(d.Lines); d.Open && n > 0 && d.Line(n-1) != "" {
		return WithoutEnd(text)
	}
	return text
}

// Line returns a line without its end.
func (d *Text) Line(i int) string { return WithoutEnd(d.Lines[i]) }

// WithoutEnd is a line without what ends it.
func WithoutEnd(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }

// Put puts lines where others are. A line that has no other text than the one it replaces stays the very same.
func (d *Text) Put(from, to int, lines ...string) {
	var ended []string
	for _, l := range lines {
		ended = append(ended, WithoutEnd(l)+d.EOL)
	}
	d.Lines = slices.Replace(d.Lines, from, to, ended...)
}

// Find returns the last line that is as wanted, or the first, or -1.
func (d *Text) Find(first bool, wanted func(line string) bool) int {
	found := -1
	for i := range d.Lines {
		if wanted(d.Line(i)) {
			found = i
			if first {
				break
			}
		}
	}
	return found
}
