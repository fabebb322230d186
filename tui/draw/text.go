package draw

import (
	"strconv"
	"strings"

	"moon/themes"
)

// Doc is text for a pane of w cells: lines of spans, wrapped when they are added, drawn when they are visible.
type Doc struct {
	W     int
	H     int // rows of the pane
	Dots  string
	Above int // lines before the others that were not made, because they are above the screen
	Lines [][]Text
}

// Text is a stretch of one ink.
type Text struct {
	Ink Ink
	S   string
}

// Inked is a text in an ink.
func Inked(look Ink, s string) Text { return Text{look, s} }

// NewDoc starts a text of w cells by h lines.
func NewDoc(w, h int, g *Glyphs) *Doc { return &Doc{W: max(w, 1), H: h, Dots: g.Dots} }

// Add appends a line; what does not fit is cut when it is drawn.
func (d *Doc) Add(spans ...Text) { d.Lines = append(d.Lines, spans) }

// Blank appends an empty line, unless there is one already.
func (d *Doc) Blank() {
	if n := len(d.Lines); n > 0 && len(d.Lines[n-1]) > 0 {
		d.Add()
	}
}

// Heading appends a title with room above it.
func (d *Doc) Heading(s string) {
	d.Blank()
	d.Add(Inked(InkTitle, Plain(s)))
}

// Para appends a text of any length, indented.
func (d *Doc) Para(i Ink, indent int, s string) {
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		for _, part := range WrapText(Plain(line), max(d.W-indent, 8)) {
			d.Add(Inked(themes.Text, Spaces(indent)), Inked(i, part))
		}
	}
}

// LabelWidth is where the values of fields begin.
const LabelWidth = 10

// Field appends a name and its value, which may have several lines, in several inks.
func (d *Doc) Field(label string, value ...Text) {
	label = Plain(label)
	indent := LabelWidth
	if w := Cells(label); w >= LabelWidth {
		indent = w + 2
	}
	first := []Text{Inked(themes.Dim, label), Inked(themes.Text, Spaces(indent-Cells(label)))}
	for _, line := range WrapSpans(value, max(d.W-indent, 8)) {
		d.Add(append(first, line...)...)
		first = []Text{Inked(themes.Text, Spaces(indent))}
	}
}

// WrapSpans breaks spans into lines of at most w cells, at blanks where it can and at newlines.
func WrapSpans(spans []Text, w int) (lines [][]Text) {
	var line []Text
	used := 0
	for _, span := range spans {
		for i, part := range strings.Split(strings.TrimRight(span.S, "\n"), "\n") {
			if i > 0 {
				lines, line, used = append(lines, line), nil, 0
			}
			part = Plain(part)
			// What does not fit starts a new line, unless it is long and most of this one is free.
			if fits := Cells(part) <= w-used; !fits && used > 0 && (Cells(part) <= w || used > w/2) {
				lines, line, used = append(lines, line), nil, 0
				part = strings.TrimLeft(part, " ")
			}
			if room := w - used; used > 0 && Cells(part) > room {
				begin := WrapText(part, room)[0]
				line = append(line, Inked(span.Ink, begin))
				lines, line, used = append(lines, line), nil, 0
				part = strings.TrimLeft(strings.TrimPrefix(part, begin), " ")
			}
			parts := WrapText(part, w)
			for k, p := range parts {
				if k > 0 {
					lines, line, used = append(lines, line), nil, 0
				}
				line = append(line, Inked(span.Ink, p))
				used += Cells(p)
			}
		}
	}
	return append(lines, line)
}

// Value is the field most have: one text.
func (d *Doc) Value(label, s string) {
	if s != "" {
		d.Field(label, Inked(themes.Text, s))
	}
}

// Columns appends a table row: texts at columns, each cut where the next begins.
func (d *Doc) Columns(at []int, spans ...Text) {
	var line []Text
	column := 0
	for i, span := range spans {
		if column < at[i] {
			line = append(line, Inked(themes.Text, Spaces(at[i]-column)))
			column = at[i]
		}
		room := d.W - column
		// One blank at least stays between columns.
		if i+1 < len(spans) {
			room = at[i+1] - 1 - column
		}
		s := CutRight(Plain(span.S), max(room, 0), d.Dots)
		line = append(line, Inked(span.Ink, s))
		column += Cells(s)
	}
	d.Add(line...)
}

// Place is a file and line at a column, cut so that its end shows.
func (d *Doc) Place(at int, s string) Text {
	return Inked(themes.Dim, CutLeft(Plain(s), max(d.W-at, 0), d.Dots))
}

// Raw appends a line of output with its own colours.
func (d *Doc) Raw(indent int, s string) {
	d.Add(Inked(themes.Text, Spaces(indent)), Inked(InkRaw, s))
}

// Draw writes one line into the stretch that is open.
func (d *Doc) Draw(b *Brush, line int) {
	line -= d.Above
	if line < 0 || line >= len(d.Lines) {
		return
	}
	for _, span := range d.Lines[line] {
		s := span.S
		if b.Left < Cells(s) && span.Ink != InkRaw && b.Left > len(d.Dots) {
			s = CutRight(s, b.Left, d.Dots)
		}
		b.Put(span.Ink, s)
	}
}

// Flow breaks a line of spans between those that begin with room.
func (d *Doc) Flow(spans []Text) [][]Text {
	var lines [][]Text
	var line []Text
	w := 0
	for i := 0; i < len(spans); {
		j, n := i+1, Cells(spans[i].S)
		for j < len(spans) && spans[j].S != "   " {
			n += Cells(spans[j].S)
			j++
		}
		if w+n > d.W && w > 0 {
			lines, line, w = append(lines, line), nil, 0
			// Room at the beginning of a line is dropped.
			if spans[i].S == "   " {
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

// Section appends a title in a rule.
func (d *Doc) Section(title string, g *Glyphs) {
	d.Add(Inked(themes.Border, g.Across+g.Across), Inked(themes.Dim, " "+title+" "),
		Inked(themes.Border, strings.Repeat(g.Across, max(d.W-Cells(title)-4, 0))))
}

// Pin puts lines below a text: after it, or where the pane ends if that is before.
func (d *Doc) Pin(lines [][]Text, scroll int) {
	if d.Above+len(d.Lines)+len(lines) > d.H {
		at := max(min(scroll+d.H-len(lines)-d.Above, len(d.Lines)), 0)
		d.Lines = d.Lines[:at:at]
	}
	d.Lines = append(d.Lines, lines...)
}

// Hint is the text of a tab that has nothing to show.
func (d *Doc) Hint(s string) { d.Para(themes.Dim, 0, s) }

// WidthOf is the number of cells that stretches of text take.
func WidthOf(spans []Text) (w int) {
	for _, s := range spans {
		w += Cells(s.S)
	}
	return w
}

// shortLine bounds what is looked at of a text that is to stand on one line.
const shortLine = 1 << 10

// QuotedLines is a value on one line: a text with ends of lines stands in quotes, so that they are seen.
func QuotedLines(s string) string {
	if !strings.ContainsAny(s, "\n\r\t") {
		return OneLine(s)
	}
	return strconv.Quote(s[:min(len(s), shortLine)])
}

// OneLine is the beginning of a text, with blanks for the ends of its lines.
func OneLine(s string) string {
	if len(s) > shortLine {
		s = strings.ToValidUTF8(s[:shortLine], "")
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// NameColumn is how wide the column of names is where the widest is known: as it must be, in bounds.
func NameColumn(w, widest int) int { return min(max(w/4, 10, min(widest+2, w/3)), 22) }

// WindowStart is the first of some rows that keeps a cursor among the high that are shown.
func WindowStart(top, cursor, high, n int) int {
	top = max(min(top, n-high), 0)
	return max(min(top, cursor), cursor-high+1)
}
