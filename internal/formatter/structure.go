package formatter

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"moon/internal/pattern"
)

// lineKind is what a line is for the layout.
type lineKind int

const (
	continues lineKind = iota // a text or a flow collection that began above
	structure                 // begins with a key or a dash
	verbatim                  // the text of a block scalar, or a quoted text over several lines
	comment
	blank
	marker // --- and the like
)

// token is a key or a dash that a line begins with.
type token struct {
	old, now int // columns, from 0
	dash     bool
	key      bool // whose colon is looked for
}

// line is a line with what the layout must know of it.
type line struct {
	text   string
	kind   lineKind
	tokens []token
	// Of a block scalar: how far its text moves. Of what continues: the line that it continues.
	shift   int
	content bool // of a block scalar: also blank lines and spaces at its end belong to it
	step    int  // the list of steps whose item begins here, from 1
}

// document is a text with its lines.
type document struct {
	lines []line
	lists int // of steps that were met
}

// stepLists are the keys whose items are steps.
var stepLists = []string{"steps", "tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always"}

// oddError is a layout that the formatter does not know.
type oddError struct {
	line int
	what string
}

func (e *oddError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.what) }

// markStructure gives the blocks of a node their columns.
func (d *document) markStructure(n *yaml.Node, column int, steps bool) error {
	switch {
	case n.Kind == yaml.DocumentNode:
		for _, child := range n.Content {
			if err := d.markStructure(child, 0, child.Kind == yaml.SequenceNode); err != nil {
				return err
			}
		}
	case n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0:
		return d.markMapping(n, column)
	case n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle == 0:
		return d.markSequence(n, column, steps)
	}
	return nil
}

func (d *document) markMapping(n *yaml.Node, column int) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if value.Kind == 0 || key.Line < 1 || key.Line > len(d.lines) {
			return &oddError{key.Line, "a layout that moon does not format"}
		}
		old := key.Column - 1
		if !d.begins(key.Line, old) {
			return &oddError{key.Line, "a key that is not the first on its line, as with ? or a tag before it"}
		}
		d.add(key.Line, token{old: old, now: column, key: key.Kind == yaml.ScalarNode})
		if isBlock(value) {
			steps := value.Kind == yaml.SequenceNode && slices.Contains(stepLists, key.Value)
			if err := d.markStructure(value, column+2, steps); err != nil {
				return err
			}
			continue
		}
		if err := d.markScalar(value, old, column); err != nil {
			return err
		}
	}
	return nil
}

func isBlock(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && n.Style&yaml.FlowStyle == 0
}

func (d *document) markSequence(n *yaml.Node, column int, steps bool) error {
	old, list, from := d.dashColumn(n), 0, 0
	if steps {
		d.lists++
		list = d.lists
	}
	for _, item := range n.Content {
		at := min(item.Line, len(d.lines))
		// The dash is on the line of its item or above it, with comments between.
		for ; at > from && !d.isDash(at, old); at-- {
		}
		if at <= from {
			return &oddError{n.Line, "a list whose dashes moon does not find"}
		}
		d.add(at, token{old: old, now: column, dash: true})
		if list > 0 {
			d.lines[at-1].step = list
		}
		from = at
		if isBlock(item) {
			if err := d.markStructure(item, column+2, false); err != nil {
				return err
			}
			from = max(from, lastLine(item)-1)
			continue
		}
		if err := d.markScalar(item, old, column); err != nil {
			return err
		}
	}
	return nil
}

// dashColumn is where the dashes of a list stand. The parser gives the place of an anchor or a tag, if it has one: then the first dash is
// on a line below, and the first on it.
func (d *document) dashColumn(n *yaml.Node) int {
	if n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 || len(n.Content) == 0 {
		return n.Column - 1
	}
	for at := min(n.Content[0].Line, len(d.lines)); at > n.Line; at-- {
		if column := countSpaces(d.lines[at-1].text); d.isDash(at, column) {
			return column
		}
	}
	return n.Column - 1
}

// lastLine is where the last node below a node begins.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, child := range n.Content {
		last = max(last, lastLine(child))
	}
	return last
}

// begins reports whether only spaces and dashes stand before a column.
func (d *document) begins(number, column int) bool {
	text := d.lines[number-1].text
	return column <= len(text) && strings.Trim(text[:column], " -") == ""
}

func (d *document) isDash(number, column int) bool {
	text := d.lines[number-1].text
	return column < len(text) && text[column] == '-' && (column+1 == len(text) || text[column+1] == ' ') && d.begins(number, column)
}

// add notes a token. Those of a line come in order, as what is inside comes after what it is in.
func (d *document) add(number int, t token) {
	l := &d.lines[number-1]
	l.kind, l.tokens = structure, append(l.tokens, t)
}

// header ends the first line of a block scalar.
var header = pattern.New(`(?:^|[ :-])[|>]([+-]?)([0-9]?)([+-]?)[ ]*(?:#.*)?$`)

// markScalar finds the lines that a value takes below its first.
func (d *document) markScalar(n *yaml.Node, parent, column int) error {
	first := n.Line
	if first < 1 || first > len(d.lines) {
		return &oddError{first, "a layout that moon does not format"}
	}
	switch {
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return d.markBlockScalar(first, parent, column)
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0, n.Style&yaml.FlowStyle != 0:
		last, err := d.endOf(n)
		if err != nil {
			return err
		}
		for i := first; i < last; i++ {
			d.lines[i].kind = verbatim
		}
	}
	return nil
}

// markBlockScalar finds the text of a block scalar, which has everything below its header that is indented further than its parent.
func (d *document) markBlockScalar(first, parent, column int) error {
	m := header.FindStringSubmatch(d.lines[first-1].text)
	if m == nil {
		return &oddError{first, "a text whose | or > is not on its first line"}
	}
	last, indent := first, -1
	for i := first; i < len(d.lines); i++ {
		text := d.lines[i].text
		if strings.Trim(text, " ") == "" {
			continue
		}
		spaces := countSpaces(text)
		if spaces <= parent {
			break
		}
		if indent < 0 {
			indent = spaces
		}
		last = i + 1
	}
	if strings.Contains(m[1]+m[3], "+") { // blank lines at its end are part of it
		for last < len(d.lines) && strings.Trim(d.lines[last].text, " ") == "" {
			last++
		}
	}
	shift := column - parent
	if m[2] == "" && indent >= 0 {
		shift = column + 2 - indent
	}
	for i := first; i < last; i++ {
		d.lines[i].kind, d.lines[i].content, d.lines[i].shift = verbatim, true, shift
	}
	return nil
}

func countSpaces(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }
