package text

import (
	"sort"
	"strings"
	"unicode/utf8"

	"moon/internal/lsp/wire"
)

// Encoding is the unit in which a client counts the characters of a line.
type Encoding string

// The encodings. UTF16 is what clients have that say nothing.
const (
	UTF16 Encoding = "utf-16"
	UTF8  Encoding = "utf-8"
	UTF32 Encoding = "utf-32"
)

// Choose takes one of the encodings that a client offers. Where it offers bytes they are taken: nothing has to be counted then.
func Choose(offered []string) Encoding {
	for _, want := range []Encoding{UTF8, UTF32} {
		for _, one := range offered {
			if Encoding(one) == want {
				return want
			}
		}
	}
	return UTF16
}

// mark is what some editors put in front of a file.
const mark = "\ufeff"

// Text is a document. It does not change, and may be used from anywhere.
type Text struct {
	all      string
	encoding Encoding
	lines    []int // where they begin, as the protocol has them
	yaml     []int // the same as diagnostics have them
}

// New is a document.
func New(all string, encoding Encoding) *Text {
	t := &Text{all: all, encoding: encoding, lines: []int{0}, yaml: []int{0}}
	if strings.HasPrefix(all, mark) {
		t.yaml[0] = len(mark)
	}
	for i := 0; i < len(all); {
		switch r, w := utf8.DecodeRuneInString(all[i:]); {
		case r == '\r' && strings.HasPrefix(all[i+1:], "\n"): // the next one ends both
			i++
		case r == '\n', r == '\r':
			i += w
			t.lines, t.yaml = append(t.lines, i), append(t.yaml, i)
		case r == '\u0085', r == '\u2028', r == '\u2029':
			i += w
			t.yaml = append(t.yaml, i)
		default:
			i += w
		}
	}
	return t
}

// String is the whole text.
func (t *Text) String() string { return t.all }

// Lines is how many lines there are, as the protocol counts.
func (t *Text) Lines() int { return len(t.lines) }

// Line is a line as the protocol has it, from 0, without its end.
func (t *Text) Line(n int) string {
	if n < 0 || n >= len(t.lines) {
		return ""
	}
	return t.all[t.lines[n]:t.lineEnd(n)]
}

func (t *Text) lineEnd(n int) int {
	end := len(t.all)
	if n+1 < len(t.lines) {
		end = t.lines[n+1]
	}
	return t.lines[n] + len(strings.TrimRight(t.all[t.lines[n]:end], "\r\n"))
}

// units is how much of a line a character takes.
func (t *Text) units(r rune, width int) int {
	switch {
	case t.encoding == UTF8:
		return width
	case t.encoding == UTF16 && r > 0xffff:
		return 2
	}
	return 1
}

// Offset is the byte of a position. One inside a character is that of its beginning.
func (t *Text) Offset(p wire.Position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.lines) {
		return len(t.all)
	}
	at, end := t.lines[p.Line], t.lineEnd(p.Line)
	for left := p.Character; at < end; {
		r, w := utf8.DecodeRuneInString(t.all[at:end])
		if left -= t.units(r, w); left < 0 {
			break
		}
		at += w
	}
	return at
}

// Position is the position of a byte. One within the end of a line is where the line ends.
func (t *Text) Position(offset int) wire.Position {
	offset = max(min(offset, len(t.all)), 0)
	line := sort.Search(len(t.lines), func(i int) bool { return t.lines[i] > offset }) - 1
	p := wire.Position{Line: line}
	for at, end := t.lines[line], min(offset, t.lineEnd(line)); at < end; {
		r, w := utf8.DecodeRuneInString(t.all[at:])
		if at += w; at > end {
			break
		}
		p.Character += t.units(r, w)
	}
	return p
}

// Range is what lies between two bytes.
func (t *Text) Range(from, to int) wire.Range {
	return wire.Range{Start: t.Position(from), End: t.Position(to)}
}

// Find is the byte of a place as diagnostics have it: line and column from 1. Line 0 is the beginning.
func (t *Text) Find(line, column int) int {
	if line < 1 {
		return t.yaml[0]
	}
	if line > len(t.yaml) {
		return len(t.all)
	}
	at, end := t.yaml[line-1], len(t.all)
	if line < len(t.yaml) {
		end = t.yaml[line]
	}
	for ; column > 1 && at < end && !strings.ContainsRune("\r\n\u0085\u2028\u2029", first(t.all[at:])); column-- {
		_, w := utf8.DecodeRuneInString(t.all[at:end])
		at += w
	}
	return at
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// Place is the line and the column of a byte, as diagnostics have them.
func (t *Text) Place(offset int) (line, column int) {
	offset = max(min(offset, len(t.all)), t.yaml[0])
	line = sort.Search(len(t.yaml), func(i int) bool { return t.yaml[i] > offset })
	return line, utf8.RuneCountInString(t.all[t.yaml[line-1]:offset]) + 1
}

// Span is the range of some characters at a place as diagnostics have it. Without a width it is that of the word there.
func (t *Text) Span(line, column, width int) wire.Range {
	from := t.Find(line, column)
	if width <= 0 {
		_, to := t.Word(from)
		if to == from && from < len(t.all) && t.all[from] != '\n' && t.all[from] != '\r' {
			_, w := utf8.DecodeRuneInString(t.all[from:])
			to += w
		}
		return t.Range(from, to)
	}
	return t.Range(from, t.Find(line, column+width))
}

// Word are the ends of the name around a byte. Without one both are the byte itself.
func (t *Text) Word(offset int) (from, to int) {
	for from = offset; from > 0 && isWord(t.all[from-1]); from-- {
	}
	for to = offset; to < len(t.all) && isWord(t.all[to]); to++ {
	}
	return from, to
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Encoding is how the text counts.
func (t *Text) Encoding() Encoding { return t.encoding }
