package tui

import (
	"strings"

	"moon/themes"
)

// doc is text for a pane of w cells: lines of spans, wrapped when they are added, drawn when they are visible.
type doc struct {
	w     int
	h     int // rows of the pane
	dots  string
	lines [][]text
}

// text is a stretch of one ink.
type text struct {
	ink ink
	s   string
}

// inked is a text in an ink.
func inked(look ink, s string) text { return text{look, s} }

func newDoc(w, h int, g *glyphs) *doc { return &doc{w: max(w, 1), h: h, dots: g.dots} }

// add appends a line; what does not fit is cut when it is drawn.
func (d *doc) add(spans ...text) { d.lines = append(d.lines, spans) }

// blank appends an empty line, unless there is one already.
func (d *doc) blank() {
	if n := len(d.lines); n > 0 && len(d.lines[n-1]) > 0 {
		d.add()
	}
}

// heading appends a title with room above it.
func (d *doc) heading(s string) {
	d.blank()
	d.add(inked(inkTitle, plain(s)))
}

// para appends a text of any length, indented.
func (d *doc) para(i ink, indent int, s string) {
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		for _, part := range wrapText(plain(line), max(d.w-indent, 8)) {
			d.add(inked(themes.Text, spaces(indent)), inked(i, part))
		}
	}
}

// labelWidth is where the values of fields begin.
const labelWidth = 10

// field appends a name and its value, which may have several lines, in several inks.
func (d *doc) field(label string, value ...text) {
	label = plain(label)
	indent := labelWidth
	if w := cells(label); w >= labelWidth {
		indent = w + 2
	}
	first := []text{inked(themes.Dim, label), inked(themes.Text, spaces(indent-cells(label)))}
	for _, line := range wrapSpans(value, max(d.w-indent, 8)) {
		d.add(append(first, line...)...)
		first = []text{inked(themes.Text, spaces(indent))}
	}
}

// wrapSpans breaks spans into lines of at most w cells, at blanks where it can and at newlines.
func wrapSpans(spans []text, w int) (lines [][]text) {
	var line []text
	used := 0
	for _, span := range spans {
		for i, part := range strings.Split(strings.TrimRight(span.s, "\n"), "\n") {
			if i > 0 {
				lines, line, used = append(lines, line), nil, 0
			}
			part = plain(part)
			if fits := cells(part) <= w-used; !fits && used > 0 && (cells(part) <= w || used > w/2) {
				lines, line, used = append(lines, line), nil, 0
				part = strings.TrimLeft(part, " ")
			}
			if room := w - used; used > 0 && cells(part) > room {
				begin := wrapText(part, room)[0]
				line = append(line, inked(span.ink, begin))
				lines, line, used = append(lines, line), nil, 0
				part = strings.TrimLeft(strings.TrimPrefix(part, begin), " ")
			}
			parts := wrapText(part, w)
			for k, p := range parts {
				if k > 0 {
					lines, line, used = append(lines, line), nil, 0
				}
				line = append(line, inked(span.ink, p))
				used += cells(p)
			}
		}
	}
	return append(lines, line)
}

// value is the field most have: one text.
func (d *doc) value(label, s string) {
	if s != "" {
		d.field(label, inked(themes.Text, s))
	}
}

// columns appends a table row: texts at columns, each cut where the next begins.
func (d *doc) columns(at []int, spans ...text) {
	var line []text
	column := 0
	for i, span := range spans {
		if column < at[i] {
			line = append(line, inked(themes.Text, spaces(at[i]-column)))
			column = at[i]
		}
		room := d.w - column
		if i+1 < len(spans) {
			room = at[i+1] - 1 - column
		}
		s := cutRight(plain(span.s), max(room, 0), d.dots)
		line = append(line, inked(span.ink, s))
		column += cells(s)
	}
	d.add(line...)
}

// place is a file and line at a column, cut so that its end shows.
func (d *doc) place(at int, s string) text {
	return inked(themes.Dim, cutLeft(plain(s), max(d.w-at, 0), d.dots))
}

// raw appends a line of output with its own colours.
func (d *doc) raw(indent int, s string) {
	d.add(inked(themes.Text, spaces(indent)), inked(inkRaw, s))
}

// draw writes one line into the stretch that is open.
func (d *doc) draw(b *brush, line int) {
	if line >= len(d.lines) {
		return
	}
	for _, span := range d.lines[line] {
		s := span.s
		if b.left < cells(s) && span.ink != inkRaw && b.left > len(d.dots) {
			s = cutRight(s, b.left, d.dots)
		}
		b.put(span.ink, s)
	}
}

// flow breaks a line of spans between those that begin with room.
func (d *doc) flow(spans []text) [][]text {
	var lines [][]text
	var line []text
	w := 0
	for i := 0; i < len(spans); {
		j, n := i+1, cells(spans[i].s)
		for j < len(spans) && spans[j].s != "   " {
			n += cells(spans[j].s)
			j++
		}
		if w+n > d.w && w > 0 {
			lines, line, w = append(lines, line), nil, 0
			if spans[i].s == "   " {
				i++
				n -= 3
			}
		}
		line = append(line, spans[i:j]...)
		w += n
		i = j
	}
	return append(lines, line)
}

// section appends a title in a rule.
func (d *doc) section(title string, g *glyphs) {
	d.add(inked(themes.Border, g.across+g.across), inked(themes.Dim, " "+title+" "),
		inked(themes.Border, strings.Repeat(g.across, max(d.w-cells(title)-4, 0))))
}

// pin puts lines below a text: after it, or where the pane ends if that is before.
func (d *doc) pin(lines [][]text, scroll int) {
	if len(d.lines)+len(lines) > d.h {
		at := max(min(scroll+d.h-len(lines), len(d.lines)), 0)
		d.lines = d.lines[:at:at]
	}
	d.lines = append(d.lines, lines...)
}

// hint is the text of a tab that has nothing to show.
func (d *doc) hint(s string) { d.para(themes.Dim, 0, s) }

func widthOf(spans []text) (w int) {
	for _, s := range spans {
		w += cells(s.s)
	}
	return w
}
