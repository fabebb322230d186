package playbook

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"moon/internal/diag"
	"moon/internal/pattern"
	"moon/plan/playbook/node"
	"moon/plan/playbook/yaml11"
)

// Kind is the type of a value as written.
type Kind uint8

// The kinds of value.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	List
	Map
)

var kindWords = [...]string{"nothing", "a boolean", "a number", "a number", "text", "a list", "a map"}

// String is the kind in words, with its article: "a list".
func (k Kind) String() string { return kindWords[k] }

// Value is a value as written, with its place. The zero Value is Null and lies nowhere.
type Value struct {
	node *node.Node
	file *File
}

// identifier is what a key must look like that names a variable or a step. The layout of a broken file takes words of this form for keys.
var identifier = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Entry is one key of a map.
type Entry struct {
	Key    string
	Pos    diag.Pos // of the key
	Value  Value
	NoText bool  // the key is a list or a map: Key is empty, and the mistake has been said
	Name   Value // the key itself, which may be a number
}

// IsZero reports whether there is no value at all, as opposed to a null.
func (v Value) IsZero() bool { return v.node == nil }

// Pos is where the value begins. Of an alias it is the place of the alias.
func (v Value) Pos() diag.Pos {
	if v.node == nil {
		return diag.Pos{}
	}
	return diag.Pos{File: v.file.Name, Line: v.node.Line(), Column: v.node.Column()}
}

// aliasTarget is the node itself, or what an alias stands for.
func (v Value) aliasTarget() *node.Node {
	n := v.node
	for n != nil && n.Kind == node.Alias {
		n = n.Target
	}
	return n
}

// Kind returns the type of the value. Plain yes, no, on and off are booleans, as users of playbooks expect.
func (v Value) Kind() Kind {
	n := v.aliasTarget()
	if n == nil {
		return Null
	}
	if n.Kind == node.Map {
		return Map
	}
	if n.Kind == node.List {
		return List
	}
	switch n.Tag {
	case node.Null:
		return Null
	case node.Bool:
		return Bool
	case node.Int:
		return Int
	case node.Float:
		return Float
	case node.Str:
		if !n.Has(node.SingleQuoted | node.DoubleQuoted | node.Literal | node.Folded | node.Tagged) {
			// YAML 1.1 takes yes and no for booleans, the library's 1.2 does not; quotes make them text.
			if _, ok := oldBools[n.Value]; ok {
				return Bool
			}
		}
	case node.Other, node.Seq, node.Mapping, node.Merge: // of a scalar they say nothing here
	}
	return String
}

// oldBools are the YAML 1.1 spellings that yaml.v3 reads as text.
var oldBools = map[string]bool{
	"yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

// Text is a scalar as written (without quotes), and "" for null, lists and maps.
func (v Value) Text() string {
	n := v.aliasTarget()
	if n == nil || n.Kind != node.Scalar || v.Kind() == Null {
		return ""
	}
	return n.Value
}

// Secret reports whether nobody may see the value.
func (v Value) Secret() bool { return v.file != nil && v.file.Secret || v.Encrypted() }

// Encrypted reports whether the value itself is encrypted where it is written. Then its Text, which is what was encrypted, is no
// template.
func (v Value) Encrypted() bool {
	n := v.aliasTarget()
	return n != nil && n.Has(node.Encrypted)
}

// Literal reports whether the Text is no template although it may look like one: it was encrypted, or is !unsafe.
func (v Value) Literal() bool {
	n := v.aliasTarget()
	return n != nil && n.Has(node.Encrypted|node.Unsafe)
}

// Bool is the value of a Bool.
func (v Value) Bool() bool {
	text := v.Text()
	if b, ok := oldBools[text]; ok {
		return b
	}
	return strings.EqualFold(text, "true")
}

// Number is the value of an Int (as int, or as float64 where it does not fit) or a Float.
func (v Value) Number() any {
	n := v.aliasTarget()
	if n == nil {
		return nil
	}
	if n.Old {
		if number, ok := yaml11.Number(n.Value); ok {
			return number
		}
	}
	read := yaml.Node{Kind: yaml.ScalarNode, Tag: map[node.Tag]string{node.Int: "!!int", node.Float: "!!float"}[n.Tag], Value: n.Value}
	var i int
	if n.Tag != node.Float { // of 1.5 the library would make 1
		if err := read.Decode(&i); err == nil {
			return i
		}
	}
	var f float64
	if err := read.Decode(&f); err == nil {
		return f
	}
	return nil
}

// isUnquotedTemplate reports whether the value is what YAML makes of {{ x }}: a map whose key is a map.
func (v Value) isUnquotedTemplate() bool {
	n := v.aliasTarget()
	return n != nil && n.Kind == node.Map && n.Has(node.Flow) && len(n.Content) == 2 && n.Content[0].Kind == node.Map
}

// Len is the number of items of a list or keys of a map.
func (v Value) Len() int {
	n := v.aliasTarget()
	switch {
	case n == nil:
		return 0
	case n.Kind == node.Map:
		return len(v.Entries())
	}
	return len(n.Content)
}

// AsPlays gives the numbers of a value the meaning that plays have for them, which is YAML 1.1's. The library reads 1.2.
func (v Value) AsPlays() Value {
	if v.node != nil {
		v.node.ReadOldNumbers()
	}
	return v
}

// Items are the items of a list.
func (v Value) Items() []Value {
	n := v.aliasTarget()
	if n == nil || n.Kind != node.List {
		return nil
	}
	items := make([]Value, len(n.Content))
	for i, c := range n.Content {
		items[i] = Value{c, v.file}
	}
	return items
}

// Entries are the keys of a map in document order, merged maps (`<<`) last and only where they are not overridden.
func (v Value) Entries() []Entry {
	n := v.aliasTarget()
	if n == nil || n.Kind != node.Map {
		return nil
	}
	entries := make([]Entry, 0, len(n.Content)/2)
	var merged []Value
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], Value{n.Content[i+1], v.file}
		// Merged maps come after the map's own keys, which win.
		if key.Tag == node.Merge {
			if value.Kind() == List {
				merged = append(merged, value.Items()...)
			} else {
				merged = append(merged, value)
			}
			continue
		}
		k := Value{key, v.file}
		name := k.aliasTarget()
		entries = append(entries, Entry{name.Value, k.Pos(), value, name.Kind != node.Scalar, k})
	}
	for _, m := range merged {
		for _, e := range m.Entries() {
			if !hasKey(entries, e.Key) {
				entries = append(entries, e)
			}
		}
	}
	return entries
}

func hasKey(entries []Entry, key string) bool {
	for _, e := range entries {
		if e.Key == key {
			return true
		}
	}
	return false
}

// Get returns the value of a map's key.
func (v Value) Get(key string) (Value, bool) {
	for _, e := range v.Entries() {
		if e.Key == key {
			return e.Value, true
		}
	}
	return Value{}, false
}

// PosAt is the place in the file of the byte at offset of Text. In a block scalar that is a place inside the block.
func (v Value) PosAt(offset int) diag.Pos {
	n := v.aliasTarget()
	pos := Value{n, v.file}.Pos()
	if n == nil || n.Kind != node.Scalar || offset < 0 {
		return v.Pos()
	}
	if n.Has(node.Literal) {
		return v.inLiteral(n, pos, offset)
	}
	return v.inFlow(n, pos, offset)
}

// inLiteral maps line by line: a literal block keeps its lines.
func (v Value) inLiteral(n *node.Node, pos diag.Pos, offset int) diag.Pos {
	before := n.Value[:min(offset, len(n.Value))]
	line := strings.Count(before, "\n")
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	indent := -1
	for _, l := range v.file.Lines()[min(n.Line(), len(v.file.Lines())):] {
		if trimmed := strings.TrimLeft(l, " "); trimmed != "" {
			indent = len(l) - len(trimmed)
			break
		}
	}
	// An indentation indicator or a first line that is itself indented makes the block wider than its text.
	if first, _, _ := strings.Cut(strings.TrimLeft(n.Value, "\n"), "\n"); indent >= 0 {
		indent -= len(first) - len(strings.TrimLeft(first, " "))
	}
	return diag.Pos{File: pos.File, Line: n.Line() + 1 + line, Column: max(indent, 0) + column + 1}
}

// inFlow walks text and source side by side and counts what is not white space: folding and line breaks change only
// white space, and quotes are undone on the way.
func (v Value) inFlow(n *node.Node, pos diag.Pos, offset int) diag.Pos {
	want := 0
	for _, r := range n.Value[:min(offset, len(n.Value))] {
		if !unicode.IsSpace(r) {
			// The places of characters without white space are the same in the value and in the source.
			want++
		}
	}
	src := newCursor(v.file.Lines(), n.Line(), n.Column())
	src.skipProperties()
	quote := rune(0)
	switch {
	case n.Has(node.SingleQuoted):
		quote = '\''
		src.nextRune()
	case n.Has(node.DoubleQuoted):
		quote = '"'
		src.nextRune()
	// A folded block begins on the line below its mark.
	case n.Has(node.Folded):
		src.nextLine()
	}
	for src.inText() {
		line, at := src.line, src.at
		r := src.nextRune()
		switch {
		case quote == '\'' && r == '\'' && src.peekRune() == '\'':
			src.nextRune()
		case quote == '"' && r == '\\':
			r = src.readEscape()
		}
		if unicode.IsSpace(r) {
			continue
		}
		if want == 0 {
			return diag.Pos{File: pos.File, Line: line, Column: utf8.RuneCountInString(src.lines[line-1][:at]) + 1}
		}
		want--
	}
	return pos
}

// cursor walks the characters of a file's lines.
type cursor struct {
	lines []string
	line  int // from 1
	at    int // byte in the line
}

func newCursor(lines []string, line, column int) *cursor {
	c := &cursor{lines: lines, line: line}
	for i := 1; i < column && c.inText(); i++ {
		_, w := utf8.DecodeRuneInString(lines[line-1][c.at:])
		c.at += w
	}
	return c
}

func (c *cursor) inText() bool { return c.line >= 1 && c.line <= len(c.lines) }

func (c *cursor) peekRune() rune {
	if !c.inText() || c.at >= len(c.lines[c.line-1]) {
		return '\n'
	}
	r, _ := utf8.DecodeRuneInString(c.lines[c.line-1][c.at:])
	return r
}

// nextRune returns the character here, a line's end as '\n', and goes past it.
func (c *cursor) nextRune() rune {
	if !c.inText() {
		return 0
	}
	l := c.lines[c.line-1]
	if c.at >= len(l) {
		c.nextLine()
		return '\n'
	}
	r, w := utf8.DecodeRuneInString(l[c.at:])
	c.at += w
	return r
}

func (c *cursor) nextLine() { c.line, c.at = c.line+1, 0 }

// skipProperties goes past an anchor and a tag in front of a scalar.
func (c *cursor) skipProperties() {
	for r := c.peekRune(); r == '&' || r == '!'; r = c.peekRune() {
		for r := c.peekRune(); !unicode.IsSpace(r); r = c.peekRune() {
			c.nextRune()
		}
		for c.inText() && unicode.IsSpace(c.peekRune()) {
			c.nextRune()
		}
	}
}

// readEscape reads what follows a backslash in double quotes and returns the character it stands for.
func (c *cursor) readEscape() rune {
	width := 0
	switch r := c.nextRune(); r {
	// All of these are white space, which is not counted.
	case 'n', 't', 'r', ' ', '\n', '\t', 'v', 'f', 'N', '_', 'L', 'P':
		return ' '
	case 'x':
		width = 2
	case 'u':
		width = 4
	case 'U':
		width = 8
	default:
		return 'x' // any visible character
	}
	var hex strings.Builder
	for range width {
		hex.WriteRune(c.nextRune())
	}
	code, err := strconv.ParseUint(hex.String(), 16, 32)
	if err != nil {
		return 'x'
	}
	return rune(code)
}

// Part is a piece of a scalar as a text value of its own, at the place where the scalar has it.
func (v Value) Part(offset int, text string) Value {
	pos := v.PosAt(offset)
	return Value{
		node.NewScalar(node.Str, text, pos.Line, pos.Column), v.file,
	}
}
