package eval

import (
	"fmt"
	"slices"
	"strings"
)

// Style is how the text of a document is written, as the template action of plays lets people say it. The zero value is
// Jinja's own with Ansible's defaults.
type Style struct {
	KeepBreaks bool // trim_blocks: false, the newline after a tag stays
	Lstrip     bool // lstrip_blocks: true, the space before a tag that begins a line goes
	// The delimiters; "" for the usual ones.
	BlockStart, BlockEnd, VariableStart, VariableEnd, CommentStart, CommentEnd string
}

// header begins a first line that says the style: #jinja2: lstrip_blocks: True
const header = "#jinja2:"

// delimiters in the order block, variable, comment.
func (s Style) delimiters() (opening, closing [3]string) {
	or := func(given, usual string) string {
		if given == "" {
			return usual
		}
		return given
	}
	return [3]string{or(s.BlockStart, "{%"), or(s.VariableStart, "{{"), or(s.CommentStart, "{#")},
		[3]string{or(s.BlockEnd, "%}"), or(s.VariableEnd, "}}"), or(s.CommentEnd, "#}")}
}

// usual reports whether the delimiters are those that Templated knows.
func (s Style) usual() bool {
	opening, closing := s.delimiters()
	usualOpening, usualClosing := Style{}.delimiters()
	return opening == usualOpening && closing == usualClosing
}

// withHeader takes what a first line #jinja2: says, and gives where the text goes on.
func (s Style) withHeader(text string) (Style, int, *Error) {
	if !strings.HasPrefix(text, header) {
		return s, 0, nil
	}
	line, _, found := strings.Cut(text, "\n")
	end := len(line)
	if found {
		end++
	}
	at := len(header)
	for pair := range strings.SplitSeq(line[at:], ",") {
		if err := s.say(pair); err != nil {
			err.Offset, err.Width = at, len(strings.TrimRight(pair, "\r"))
			return s, 0, err
		}
		at += len(pair) + 1
	}
	return s, end, nil
}

// say takes one `name: value` of the header.
func (s *Style) say(pair string) *Error {
	name, value, ok := strings.Cut(pair, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok {
		return &Error{Message: "the first line says how the template is read, as `name: value`", Hint: "write `" + header + " trim_blocks: False`"}
	}
	flags := map[string]*bool{"trim_blocks": &s.KeepBreaks, "lstrip_blocks": &s.Lstrip, "keep_trailing_newline": nil}
	texts := map[string]*string{
		"block_start_string": &s.BlockStart, "block_end_string": &s.BlockEnd,
		"variable_start_string": &s.VariableStart, "variable_end_string": &s.VariableEnd,
		"comment_start_string": &s.CommentStart, "comment_end_string": &s.CommentEnd,
	}
	if flag, known := flags[name]; known {
		if given, ok := literal(value); ok {
			if said, isText := given.(string); isText { // in quotes; Python takes any text but none for true
				value = "False"
				if said != "" {
					value = "True"
				}
			}
		}
		if value != "True" && value != "False" {
			return &Error{Message: "`" + name + "` needs True or False, not `" + value + "`"}
		}
		if flag != nil {
			*flag = (value == "True") != (name == "trim_blocks")
		}
		return nil
	}
	text, known := texts[name]
	if !known {
		return misspelt("setting", name, append(sortedNames(texts), sortedNames(flags)...))
	}
	v, isLiteral := literal(value)
	given, isText := v.(string)
	if !isLiteral || !isText || given == "" {
		return &Error{Message: "`" + name + "` needs a text in quotes, not `" + value + "`"}
	}
	*text = given
	return nil
}

func sortedNames[T any](m map[string]T) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// DocumentIn is Document for a text that is written in a style of its own. A first line `#jinja2: …` of the text wins.
func (e *Engine) DocumentIn(text string, style Style) (*Template, error) {
	style, from, err := style.withHeader(text)
	if err != nil {
		return nil, err
	}
	if from == 0 && style.usual() && !Templated(text) {
		return &Template{engine: e, text: text, literal: true}, nil
	}
	key := text
	if style != (Style{}) || from > 0 {
		key = fmt.Sprintf("%+v\x00%s", style, text)
	}
	return compiledAs(&e.documents, key, text, func() (*Template, error) {
		return e.compileTemplate(text, reading{Style: style, document: true, from: from, python: true})
	})
}

// reading is how a text is cut into pieces.
type reading struct {
	Style
	document bool
	python   bool // one newline at the end goes, and strings in outputs are as they are written unless it is a document
	from     int  // where the text begins
}

// trailing counts the newlines at the end of a text.
func trailing(s string) int { return len(s) - len(strings.TrimRight(s, "\n")) }

// likeSource gives a text as many newlines at its end as its template has, if it has fewer: Ansible keeps those.
func likeSource(text, source string) string {
	if more := trailing(source) - trailing(text); more > 0 {
		return text + strings.Repeat("\n", more)
	}
	return text
}

// literal reads a list, map, text or number as Python writes them.
func literal(text string) (any, bool) {
	tokens, _, err := lexExpression(text, 0, "", "", lexing{})
	if err != nil {
		return nil, false
	}
	n, perr := parseExpression(tokens)
	if perr != nil {
		return nil, false
	}
	return constantOf(n)
}

func constantOf(n node) (any, bool) {
	switch n := n.(type) {
	case *constant:
		return n.value, true
	case *signed:
		v, ok := constantOf(n.of)
		x, isNumber := number(v)
		if !ok || !isNumber {
			return nil, false
		}
		if n.minus {
			negative, err := arithmeticOf("-", 0, x)
			return negative, err == nil
		}
		return x, true
	case *listing:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			v, ok := constantOf(item)
			if !ok {
				return nil, false
			}
			list[i] = v
		}
		return list, true
	case *dict:
		m := NewDict(len(n.keys))
		for i := range n.keys {
			key, ok := constantOf(n.keys[i])
			v, ok2 := constantOf(n.values[i])
			if !ok || !ok2 {
				return nil, false
			}
			m.SetAny(key, v)
		}
		return m, true
	}
	return nil, false
}
