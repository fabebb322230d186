package formatter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// byteOrderMark is at the beginning of some files.
const byteOrderMark = "\ufeff"

// Format lays out a text of YAML. The error says where it is not YAML, or what of it moon does not format.
func Format(text []byte) ([]byte, error) {
	docs, err := read(text)
	if err != nil {
		return nil, err
	}
	whole, crlf := string(text), bytes.Contains(text, []byte("\r\n"))
	whole, marked := strings.CutPrefix(whole, byteOrderMark)
	if crlf {
		whole = strings.ReplaceAll(whole, "\r\n", "\n")
	}
	if strings.Contains(whole, "\r") {
		return nil, errors.New("it has line breaks that moon does not format: a carriage return alone")
	}
	unended := !strings.HasSuffix(whole, "\n")
	d := newDocument(strings.TrimSuffix(whole, "\n"))
	for _, doc := range docs {
		if err := d.markStructure(doc, 0, false); err != nil {
			return nil, err
		}
	}
	d.classify()
	out := d.write()
	// A text that the file ends with would get a line break that it does not have.
	if last := d.lines[len(d.lines)-1]; !unended || !last.content {
		out += "\n"
	}
	if strings.TrimSpace(out) == "" {
		out = ""
	}
	if crlf {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	if marked {
		out = byteOrderMark + out
	}
	return []byte(out), check(text, []byte(out), docs)
}

// read gives the documents of a text.
func read(text []byte) (docs []*yaml.Node, err error) {
	in := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		err := in.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
		}
		docs = append(docs, &doc)
	}
}

// newDocument takes a text apart. Each line continues what is above, until it is known to be something else.
func newDocument(text string) *document {
	d := &document{}
	for l := range strings.SplitSeq(text, "\n") {
		d.lines = append(d.lines, line{text: l})
	}
	return d
}

// classify says of the lines that no value has taken what they are.
func (d *document) classify() {
	for i := range d.lines {
		l := &d.lines[i]
		trimmed := strings.TrimSpace(l.text)
		switch {
		case l.kind != continues:
		case trimmed == "":
			l.kind = blank
		case trimmed[0] == '#':
			l.kind = comment
		case strings.HasPrefix(l.text, "---"), strings.HasPrefix(l.text, "..."), l.text[0] == '%':
			l.kind = marker
		}
	}
	// A blank line in a plain text is a line break of it.
	for i := len(d.lines) - 2; i >= 0; i-- {
		if below := d.lines[i+1].kind; d.lines[i].kind == blank && below == continues {
			d.lines[i].kind = continues
		}
	}
}

// write puts the lines together again.
func (d *document) write() string {
	var out []string
	var open []token // of the blocks that a line is in
	spaced := d.spacedLists()
	shift, seen := 0, map[int]bool{}
	for i := range d.lines {
		l := &d.lines[i]
		switch l.kind {
		case blank:
			// One is enough, and none at the beginning.
			if len(out) > 0 && out[len(out)-1] != "" || d.above(i).content && len(out) > 0 && d.above(i).kind == verbatim {
				out = append(out, "")
			}
			continue
		case marker:
			open = nil
			out = append(out, strings.TrimRight(l.text, " \t"))
			continue
		case comment:
			out = append(out, strings.Repeat(" ", d.commentColumn(i, open))+strings.TrimSpace(l.text))
			continue
		case structure: // below
		case verbatim, continues:
			out = append(out, l.moved(shift))
			continue
		}
		open = slices.DeleteFunc(open, func(t token) bool {
			return t.old > l.tokens[0].old || t.old == l.tokens[0].old && t.dash && !l.tokens[0].dash
		})
		open = append(open, l.tokens...)
		last := l.tokens[len(l.tokens)-1]
		shift = last.now - last.old
		if spaced[l.step] && seen[l.step] {
			out = separate(out)
		}
		seen[l.step] = true
		out = append(out, l.layOut())
	}
	for len(out) > 0 && out[len(out)-1] == "" && !d.lines[len(d.lines)-1].content {
		out = out[:len(out)-1]
	}
	return strings.Join(out, "\n")
}

// above is the line before a line.
func (d *document) above(i int) line {
	if i == 0 {
		return line{}
	}
	return d.lines[i-1]
}

// spacedLists are the lists of steps in which a blank line stands between two: then it stands between all of them.
func (d *document) spacedLists() map[int]bool {
	spaced, first := map[int]bool{}, map[int]bool{}
	for i := range d.lines {
		list := d.lines[i].step
		if list == 0 {
			continue
		}
		at := i - 1
		for ; at >= 0 && d.lines[at].kind == comment; at-- {
		}
		// A text that keeps its blank lines has taken them.
		if first[list] && at >= 0 && d.lines[at].kind == blank {
			spaced[list] = true
		}
		first[list] = true
	}
	return spaced
}

// separate puts a blank line before the comments at the end.
func separate(out []string) []string {
	at := len(out)
	for at > 0 && strings.HasPrefix(strings.TrimSpace(out[at-1]), "#") {
		at--
	}
	if at == 0 || out[at-1] == "" || slices.Contains(out[at:], "") {
		return out
	}
	return slices.Insert(out, at, "")
}

// commentColumn is where a comment goes: with the line below it, or with the block that it stands in.
func (d *document) commentColumn(i int, open []token) int {
	old := countSpaces(d.lines[i].text)
	for j := i + 1; j < len(d.lines); j++ {
		if below := d.lines[j]; below.kind == structure {
			if below.tokens[0].old == old {
				return below.tokens[0].now
			}
			break
		}
	}
	for _, t := range slices.Backward(open) {
		if t.old <= old {
			return t.now + old - t.old
		}
	}
	return old
}

// moved is a line that belongs to the value of a line above, which has moved.
func (l *line) moved(shift int) string {
	text := l.text
	if l.content {
		shift = l.shift
	} else {
		text = strings.TrimRight(text, " \t")
		if l.kind == verbatim && strings.HasSuffix(text, `\`) {
			text = l.text // the space behind it is meant
		}
	}
	if strings.Trim(text, " ") == "" && (!l.content || len(text)+shift <= 0 || len(text) <= 0) {
		return ""
	}
	if shift < 0 {
		return text[min(-shift, countSpaces(text)):]
	}
	return strings.Repeat(" ", shift) + text
}

// layOut writes the tokens of a line, with one space behind each.
func (l *line) layOut() string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", l.tokens[0].now))
	rest := l.text[l.tokens[0].old:]
	for _, t := range l.tokens {
		if t.dash {
			b.WriteString("-")
			rest = rest[1:]
		} else if t.key {
			end := keyEnd(rest)
			if end < 0 {
				break
			}
			b.WriteString(strings.TrimRight(rest[:end], " \t") + ":")
			rest = rest[end+1:]
		} else {
			break
		}
		trimmed := strings.TrimLeft(rest, " \t")
		if strings.HasPrefix(trimmed, "#") { // comments may stand below each other
			break
		}
		if rest = trimmed; rest != "" {
			b.WriteString(" ")
		}
	}
	b.WriteString(rest)
	// Nothing but a quoted text may end with a space that is meant, and only behind a backslash.
	text := strings.TrimRight(b.String(), " \t")
	if strings.HasSuffix(text, `\`) {
		return b.String()
	}
	return text
}

// keyEnd is where the colon of a key stands, or -1.
func keyEnd(text string) int {
	if text == "" {
		return -1
	}
	at := 0
	if text[0] == '"' || text[0] == '\'' {
		s := &scanner{d: newDocument(text)}
		if s.next(); !s.skipQuoted(text[0]) || s.line > 0 {
			return -1
		}
		at = s.at
	}
	for ; at < len(text); at++ {
		if text[at] == ':' && (at+1 == len(text) || text[at+1] == ' ' || text[at+1] == '\t') {
			return at
		}
	}
	return -1
}

// check compares what was made with what there was.
func check(before, after []byte, docs []*yaml.Node) error {
	if !bytes.Equal(withoutSpace(before), withoutSpace(after)) {
		return errors.New("formatting it would change more than white space; please report this")
	}
	again, err := read(after)
	if err == nil && len(again) != len(docs) {
		err = errors.New("another number of documents")
	}
	for i := 0; err == nil && i < len(docs); i++ {
		err = compare(docs[i], again[i])
	}
	if err != nil {
		return fmt.Errorf("formatting it would change what it means; please report this: %w", err)
	}
	return nil
}

func withoutSpace(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n", r) {
			return -1
		}
		return r
	}, text)
}

// compare finds the first difference between two nodes.
func compare(a, b *yaml.Node) error {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || a.Anchor != b.Anchor || a.Style != b.Style ||
		len(a.Content) != len(b.Content) {
		return fmt.Errorf("line %d", a.Line)
	}
	for i := range a.Content {
		if err := compare(a.Content[i], b.Content[i]); err != nil {
			return err
		}
	}
	return nil
}
