package playbook

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/internal/pattern"
	"moon/plan/playbook/node"
	"moon/plan/playbook/placed"
)

// Literal is a value as INI inventories write it: a literal of Python, as in 5, 'text', [1, 2] or {'a': None}, or else the text
// as it is. So `true` is text, as is 007. Byte i of the text stands in column columns[i] of the line.
func Literal(f *File, text string, line int, columns []int) Value {
	l := &pythonReader{text: text, line: line, columns: columns}
	if n, ok := l.readWhole(); ok {
		return Value{n, f}
	}
	l.at = 0
	return Value{l.makeScalar(node.Str, text, 0), f}
}

// maxLiteral is how deep lists and maps of a literal may lie in each other. What is deeper is text, as it is for Python.
const maxLiteral = 90

// pythonReader reads one literal. What it cannot read is no mistake, but text.
type pythonReader struct {
	text    string
	at      int
	depth   int
	line    int
	columns []int
}

func (l *pythonReader) makeScalar(tag node.Tag, value string, at int) *node.Node {
	return node.NewScalar(tag, value, l.line, l.columnOf(at))
}

func (l *pythonReader) columnOf(at int) int {
	switch {
	case at < len(l.columns):
		return l.columns[at]
	case len(l.columns) > 0:
		return l.columns[len(l.columns)-1]
	}
	return 1
}

func (l *pythonReader) skipSpace() {
	for l.at < len(l.text) && strings.IndexByte(" \t\f", l.text[l.at]) >= 0 {
		l.at++
	}
}

// skipNext reports whether the character follows, and goes past it and the space around it.
func (l *pythonReader) skipNext(c byte) bool {
	l.skipSpace()
	if l.at >= len(l.text) || l.text[l.at] != c {
		return false
	}
	l.at++
	l.skipSpace()
	return true
}

// readWhole reads the text to its end. Values with commas between them are a list without brackets, and # begins a comment.
func (l *pythonReader) readWhole() (*node.Node, bool) {
	l.skipSpace()
	from := l.at
	n, ok := l.readValue()
	if !ok {
		return nil, false
	}
	if l.skipNext(',') {
		list := l.makeList(from)
		// As in Python, commas alone make a list: "a", "b".
		list.Content = append(list.Content, n)
		if n, ok = l.readRest(list, 0); !ok {
			return nil, false
		}
	}
	l.skipSpace()
	return n, l.at == len(l.text) || l.text[l.at] == '#'
}

func (l *pythonReader) makeList(at int) *node.Node {
	return node.NewList(l.line, l.columnOf(at))
}

// readRest reads further values of a list up to the closing bracket, which 0 has none of.
func (l *pythonReader) readRest(list *node.Node, closing byte) (*node.Node, bool) {
	for {
		l.skipSpace()
		switch {
		case closing != 0 && l.skipNext(closing):
			return list, true
		case closing == 0 && (l.at == len(l.text) || l.text[l.at] == '#'):
			return list, true
		}
		n, ok := l.readValue()
		if !ok {
			return nil, false
		}
		list.Content = append(list.Content, n)
		if l.skipNext(',') {
			continue
		}
		if closing == 0 {
			return list, true
		}
		return list, l.skipNext(closing)
	}
}

func (l *pythonReader) readValue() (*node.Node, bool) {
	l.depth++
	defer func() { l.depth-- }()
	l.skipSpace()
	// The depth is bounded, as the text comes from a program or a variable.
	if l.at >= len(l.text) || l.depth > maxLiteral {
		return nil, false
	}
	from := l.at
	switch c := l.text[l.at]; {
	case c == '[':
		l.at++
		return l.readRest(l.makeList(from), ']')
	case c == '(':
		return l.readParentheses(from)
	case c == '{':
		return l.readBraces(from)
	case c == '+' || c == '-' || c == '.' || c >= '0' && c <= '9':
		return l.readNumber(from)
	}
	if n, ok := l.readQuoted(from); ok {
		return n, true
	}
	for word, n := range pythonWords {
		// A longer word begins with True as well.
		if after, ok := strings.CutPrefix(l.text[from:], word); ok && !wordStart.MatchString(after) {
			l.at = from + len(word)
			return l.makeScalar(n.tag, n.value, from), true
		}
	}
	return nil, false
}

// pythonWords are the words of Python that are values.
var pythonWords = map[string]struct {
	tag   node.Tag
	value string
}{"True": {node.Bool, "true"}, "False": {node.Bool, "false"}, "None": {node.Null, "null"}}

var wordStart = pattern.New(`^[\pL\pN_]`)

// readParentheses reads what is in parentheses: one value, or a list.
func (l *pythonReader) readParentheses(from int) (*node.Node, bool) {
	l.at++
	list := l.makeList(from)
	if l.skipNext(')') {
		return list, true
	}
	n, ok := l.readValue()
	if !ok {
		return nil, false
	}
	// Parentheses around one value mean nothing; a comma makes a list.
	if !l.skipNext(',') {
		return n, l.skipNext(')')
	}
	list.Content = append(list.Content, n)
	return l.readRest(list, ')')
}

// readBraces reads what is in braces: a map, or a set, which is taken for a list.
func (l *pythonReader) readBraces(from int) (*node.Node, bool) {
	l.at++
	m := node.NewMap(l.line, l.columnOf(from))
	m.Mark = node.Flow
	seen := map[string]int{}
	for !l.skipNext('}') {
		key, ok := l.readValue()
		if !ok {
			return nil, false
		}
		if !l.skipNext(':') {
			// Without a colon behind the first it is a set; behind a later one it is a mistake.
			if len(m.Content) > 0 {
				return nil, false
			}
			set := l.makeList(from)
			set.Content = append(set.Content, key)
			if !l.skipNext(',') {
				return set, l.skipNext('}')
			}
			return l.readRest(set, '}')
		}
		v, ok := l.readValue()
		if !ok || key.Kind != node.Scalar {
			return nil, false
		}
		if i, ok := seen[key.Value]; ok { // the last one counts
			m.Content[i] = v
		} else {
			m.Content = append(m.Content, key, v)
			seen[key.Value] = len(m.Content) - 1
		}
		if !l.skipNext(',') {
			return m, l.skipNext('}')
		}
	}
	return m, true
}

var (
	numberText = pattern.New(`^(?:[0-9][0-9a-zA-Z_]*)?(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]+)?`)
	wholeText  = pattern.New(`^(?:0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|[1-9](?:_?[0-9])*|0(?:_?0)*)$`)
	digits     = `[0-9](?:_?[0-9])*`
	floatWhole = pattern.New(`^(?:(?:` + digits + `)?\.` + digits + `|` + digits + `\.?)(?:[eE][+-]?` + digits + `)?$`)
)

// longestWhole is how many digits of a whole number Python reads.
const longestWhole = 4300

func (l *pythonReader) readNumber(from int) (*node.Node, bool) {
	sign := ""
	if c := l.text[l.at]; c == '+' || c == '-' {
		if c == '-' {
			sign = "-"
		}
		l.at++
		l.skipSpace()
	}
	text := numberText.FindString(l.text[l.at:])
	l.at += len(text)
	// A number that runs into a letter is a word.
	if wordStart.MatchString(l.text[l.at:]) {
		return nil, false
	}
	switch {
	// Python takes whole numbers of any size, so their length is bounded here.
	case wholeText.MatchString(text) && len(text) <= longestWhole:
		i, ok := new(big.Int).SetString(text, 0)
		if !ok {
			return nil, false
		}
		if sign == "-" {
			i.Neg(i)
		}
		tag, value := placed.NumberTag(i.String())
		return l.makeScalar(tag, value, from), true
	// A number needs a point or an exponent to be a fraction.
	case strings.ContainsAny(text, ".eE") && floatWhole.MatchString(text):
		_, value := placed.NumberTag(sign + strings.ReplaceAll(text, "_", ""))
		return l.makeScalar(node.Float, value, from), true
	}
	return nil, false
}

var quotePrefix = pattern.New(`^(?i:r|u|b|br|rb)?("""|'''|"|')`)

// readQuoted reads texts in quotes; several in a row are one.
func (l *pythonReader) readQuoted(from int) (*node.Node, bool) {
	var b strings.Builder
	for count := 0; ; count++ {
		m := quotePrefix.FindStringSubmatchIndex(l.text[l.at:])
		if m == nil {
			return l.makeScalar(node.Str, b.String(), from), count > 0
		}
		prefix, quote := strings.ToLower(l.text[l.at:l.at+m[2]]), l.text[l.at+m[2]:l.at+m[3]]
		l.at += m[1]
		for !strings.HasPrefix(l.text[l.at:], quote) {
			if l.at >= len(l.text) || !l.readCharacter(&b, prefix) {
				return nil, false
			}
		}
		l.at += len(quote)
		l.skipSpace()
	}
}

// simpleEscapes are what a letter after a backslash stands for.
var simpleEscapes = map[byte]string{
	'\\': "\\", '\'': "'", '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t",
	'v': "\v",
}

var numberEscape = pattern.New(`^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3}))`)

// readCharacter reads one of a quoted text. A backslash before a letter that means nothing stays.
func (l *pythonReader) readCharacter(b *strings.Builder, prefix string) bool {
	rest := l.text[l.at:]
	if rest[0] != '\\' {
		_, w := utf8.DecodeRuneInString(rest)
		b.WriteString(rest[:w])
		l.at += w
		return true
	}
	if len(rest) < 2 {
		return false
	}
	// In a raw text the backslash stays, also in front of a quote.
	if strings.Contains(prefix, "r") {
		b.WriteString(rest[:2])
		l.at += 2
		return true
	}
	if s, ok := simpleEscapes[rest[1]]; ok {
		b.WriteString(s)
		l.at += 2
		return true
	}
	m := numberEscape.FindStringSubmatch(rest)
	if m == nil {
		if strings.IndexByte("xuUN", rest[1]) >= 0 {
			return false // half a code is no text, and there are no names of characters here
		}
		b.WriteByte('\\')
		l.at++
		return true
	}
	digits, base := m[1]+m[2]+m[3], 16
	if digits == "" {
		digits, base = m[4], 8
	}
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || !utf8.ValidRune(rune(code)) {
		return false
	}
	b.WriteRune(rune(code))
	l.at += len(m[0])
	return true
}
