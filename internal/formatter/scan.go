package formatter

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// endOf is the line on which a quoted text or a flow collection ends: the parser says only where it begins.
func (d *document) endOf(n *yaml.Node) (number int, err error) {
	s := &scanner{d: d, line: n.Line - 1}
	text := d.lines[s.line].text
	for range n.Column - 1 { // columns are characters
		_, size := utf8.DecodeRuneInString(text[s.at:])
		s.at += size
	}
	// An anchor or a tag comes first.
	for {
		s.skipBlanks()
		c := s.peek()
		if c != '&' && c != '!' {
			break
		}
		for c := s.peek(); c != ' ' && c != '\n' && c != 0; c = s.peek() {
			s.at++
		}
	}
	if !s.skipValue() {
		return 0, &oddError{n.Line, "a value whose end moon does not find"}
	}
	return s.line + 1, nil
}

// scanner goes through the characters of a text in YAML. Whatever it looks for is ASCII, so it counts bytes.
type scanner struct {
	d        *document
	line, at int
}

// peek is the next character: a line break at the end of a line, 0 at that of the text.
func (s *scanner) peek() byte {
	if s.line >= len(s.d.lines) {
		return 0
	}
	if text := s.d.lines[s.line].text; s.at < len(text) {
		return text[s.at]
	}
	return '\n'
}

func (s *scanner) next() byte {
	c := s.peek()
	if c == '\n' {
		s.line, s.at = s.line+1, 0
		return c
	}
	s.at++
	return c
}

func (s *scanner) skipBlanks() {
	for c := s.peek(); c == ' ' || c == '\n' || c == '\t'; c = s.peek() {
		s.next()
	}
}

// skipValue goes behind a quoted text or a flow collection.
func (s *scanner) skipValue() bool {
	switch c := s.next(); c {
	case '"', '\'':
		return s.skipQuoted(c)
	case '{', '[':
		return s.skipFlow()
	}
	return false
}

func (s *scanner) skipQuoted(quote byte) bool {
	for {
		switch c := s.next(); {
		case c == 0:
			return false
		case c == '\\' && quote == '"':
			s.next()
		case c == quote && quote == '\'' && s.peek() == '\'':
			s.next()
		case c == quote:
			return true
		}
	}
}

// skipFlow goes behind the bracket that closes. Quotes count only where a value begins: an apostrophe in a word is none.
func (s *scanner) skipFlow() bool {
	begins := true
	for depth := 1; depth > 0; {
		c := s.next()
		switch {
		case c == 0:
			return false
		case (c == '"' || c == '\'') && begins:
			if !s.skipQuoted(c) {
				return false
			}
		case c == '#' && s.at > 1 && strings.ContainsRune(" \t", rune(s.d.lines[s.line].text[s.at-2])) || c == '#' && s.at == 1:
			s.line, s.at = s.line+1, 0
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		begins = strings.IndexByte("{[,: \n\t", c) >= 0
	}
	return true
}
