package placed

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/plan/playbook/node"
)

// answer is what a plugin says of a file that it has read: the document, with the place of each key and value in the file by its JSON
// pointer. Or else what is wrong with the file, and where.
type answer struct {
	Doc       json.RawMessage  `json:"doc"`
	Positions map[string]place `json:"positions"`

	Error  string `json:"error"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Hint   string `json:"hint"`
}

// place is where a key and its value begin: lines and columns, both from 1. A column counts characters, as editors do.
type place struct {
	Key   []int `json:"key"`
	Value []int `json:"value"`
}

// ReadAnswer reads the answer of a plugin about a file with these lines.
func ReadAnswer(text []byte, lines []string) (*node.Node, *Mistake) {
	var said answer
	fail := func(format string, args ...any) (*node.Node, *Mistake) {
		return nil, &Mistake{Line: 1, Column: 1, Text: "the plugin that reads this file " + fmt.Sprintf(format, args...)}
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return fail("answered what cannot be read: %s", err)
	}
	if said.Error != "" {
		wrong := &Mistake{Line: max(said.Line, 1), Column: max(said.Column, 1), Text: said.Error, Hint: said.Hint}
		wrong.Line = min(wrong.Line, max(len(lines), 1))
		return nil, wrong
	}
	if said.Doc == nil {
		return fail("answered neither a `doc` nor an `error`")
	}
	root, wrong := Read(said.Doc)
	if wrong != nil {
		return fail("answered a document that cannot be read: %s", wrong.Text)
	}
	p := placer{lines: lines, positions: said.Positions}
	p.placeNode(root, "", 1, 1)
	if p.wrong != "" {
		return fail("%s", p.wrong)
	}
	return root, nil
}

// placer gives nodes their places in the file. What has none of its own has that of what it is in.
type placer struct {
	lines     []string
	positions map[string]place
	wrong     string
}

func (p *placer) placeNode(n *node.Node, pointer string, line, column int) {
	n.Place(p.find(pointer, p.positions[pointer].Value, line, column))
	switch n.Kind {
	case node.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			at := pointer + "/" + pointerEscape.Replace(key.Value)
			key.Place(p.find(at, p.positions[at].Key, n.Line(), n.Column()))
			p.placeNode(n.Content[i+1], at, key.Line(), key.Column())
		}
	case node.List:
		for i, item := range n.Content {
			p.placeNode(item, pointer+"/"+strconv.Itoa(i), n.Line(), n.Column())
		}
	case node.Scalar:
		if n.Tag == node.Str {
			p.noteQuote(n)
		}
	case node.Alias: // JSON has none
	}
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// find is the place that the plugin has named, if it has.
func (p *placer) find(pointer string, named []int, line, column int) (int, int) {
	if named == nil {
		return line, column
	}
	if len(named) != 2 || named[0] < 1 || named[0] > len(p.lines) || named[1] < 1 ||
		named[1] > utf8.RuneCountInString(p.lines[named[0]-1])+1 {
		p.wrong = fmt.Sprintf("answered the place %v for `%s`, which is not [LINE, COLUMN] of a place in it", named, pointer)
		return line, column
	}
	return named[0], named[1]
}

// noteQuote says how a text is quoted, if it is: where in the file something in the text stands is found by that. Most languages agree
// on what quotes look like, and three of them begin a text of several lines.
func (p *placer) noteQuote(n *node.Node) {
	rest := ""
	if n.Line() <= len(p.lines) {
		rest = string([]rune(p.lines[n.Line()-1])[min(n.Column()-1, utf8.RuneCountInString(p.lines[n.Line()-1])):])
	}
	if strings.HasPrefix(rest, `"""`) || strings.HasPrefix(rest, `'''`) {
		n.Place(n.Line(), n.Column()+2) // the last of them begins the text
	}
	switch {
	case strings.HasPrefix(rest, `"`):
		n.Mark = node.DoubleQuoted
	case strings.HasPrefix(rest, `'`):
		n.Mark = node.SingleQuoted
	}
}
