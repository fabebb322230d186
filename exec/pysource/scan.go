package pysource

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kind says what a token is.
type kind uint8

const (
	name    kind = iota
	number       // as it is written
	literal      // a text, decoded
	formed       // a text that is made when it is evaluated: f"…"
	mark         // an operator or a bracket, one character
	line         // the end of a logical line
)

// token is a word of a text.
type token struct {
	kind  kind
	text  string
	first bool // of its logical line
	deep  bool // its logical line is indented
	depth int  // how many brackets are open before it
}

// File is the text of a file in Python, in tokens.
type File struct {
	tokens   []token
	declared []Argument
	asked    bool // for what it declares
}

// Read takes a text apart.
func Read(text []byte) *File {
	s := scanner{rest: string(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))}
	s.scan()
	return &File{tokens: s.tokens}
}

// scanner goes through a text once.
type scanner struct {
	rest   string
	tokens []token
	depth  int
	fresh  bool // nothing of the logical line has come yet
	deep   bool
}

func (s *scanner) scan() {
	s.startLine()
	for s.rest != "" {
		switch c := s.rest[0]; {
		case c == '\n':
			s.rest = s.rest[1:]
			if s.depth > 0 {
				continue // brackets make one line of several
			}
			s.add(line, "")
			s.startLine()
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			s.rest = s.rest[1:]
		case c == '#':
			s.skipComment()
		case c == '\\':
			s.rest = strings.TrimPrefix(strings.TrimPrefix(s.rest[1:], "\r"), "\n")
		case isNameStart(c):
			s.takeName()
		case c == '\'' || c == '"':
			s.takeText("")
		case '0' <= c && c <= '9':
			s.takeNumber()
		default:
			s.takeMark()
		}
	}
	s.add(line, "")
}

// startLine notes how a logical line begins. Lines that are empty have no indentation.
func (s *scanner) startLine() {
	s.fresh = true
	s.deep = strings.HasPrefix(s.rest, " ") || strings.HasPrefix(s.rest, "\t")
}

func (s *scanner) add(k kind, text string) {
	if k == line && s.fresh {
		return // an empty line
	}
	s.tokens = append(s.tokens, token{kind: k, text: text, first: s.fresh, deep: s.deep, depth: s.depth})
	s.fresh = false
}

func (s *scanner) skipComment() {
	end := strings.IndexByte(s.rest, '\n')
	if end < 0 {
		end = len(s.rest)
	}
	s.rest = s.rest[end:]
}

func isNameStart(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf
}

func isNamePart(c byte) bool { return isNameStart(c) || '0' <= c && c <= '9' }

func (s *scanner) takeName() {
	n := 1
	for n < len(s.rest) && isNamePart(s.rest[n]) {
		n++
	}
	word := s.rest[:n]
	s.rest = s.rest[n:]
	// A short word before a quote is the prefix of a text.
	if n <= 2 && s.rest != "" && (s.rest[0] == '\'' || s.rest[0] == '"') && strings.Trim(strings.ToLower(word), "rbuft") == "" {
		s.takeText(strings.ToLower(word))
		return
	}
	s.add(name, word)
}

func (s *scanner) takeNumber() {
	n := 1
	for n < len(s.rest) && (isNamePart(s.rest[n]) || s.rest[n] == '.') {
		n++
	}
	s.add(number, s.rest[:n])
	s.rest = s.rest[n:]
}

func (s *scanner) takeMark() {
	c := s.rest[:1]
	switch c {
	case "(", "[", "{":
		s.add(mark, c)
		s.depth++
	case ")", "]", "}":
		s.depth = max(s.depth-1, 0)
		s.add(mark, c)
	default:
		s.add(mark, c)
	}
	s.rest = s.rest[1:]
}

// takeText reads a text from its first quote on.
func (s *scanner) takeText(prefix string) {
	quote := s.rest[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s.rest, triple) {
		quote = triple
	}
	s.rest = s.rest[len(quote):]
	end := 0
	for end < len(s.rest) && !strings.HasPrefix(s.rest[end:], quote) {
		switch {
		case s.rest[end] == '\\':
			end++ // whatever follows does not end it
		case s.rest[end] == '\n' && len(quote) == 1: // it is not closed: Python refuses it
			s.add(formed, "")
			s.rest = s.rest[end:]
			return
		}
		end++
	}
	end = min(end, len(s.rest))
	text := s.rest[:end]
	s.rest = s.rest[min(end+len(quote), len(s.rest)):]
	switch {
	case strings.ContainsAny(prefix, "ft"):
		s.add(formed, "")
	case strings.Contains(prefix, "r"):
		s.add(literal, text)
	default:
		s.add(literal, unescape(text))
	}
}

// escapes are those of one character. A newline after the backslash is nothing.
var escapes = map[byte]string{
	'\n': "", '\\': `\`, '\'': "'", '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
}

// unescape decodes the escapes of a text. What is none stays as it is, as in Python.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for text != "" {
		at := strings.IndexByte(text, '\\')
		if at < 0 || at == len(text)-1 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:at])
		c := text[at+1]
		rest := text[at+2:]
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		one, simple := escapes[c]
		switch {
		case simple:
			b.WriteString(one)
		case digits > 0 && len(rest) >= digits:
			code, err := strconv.ParseUint(rest[:digits], 16, 32)
			if err != nil {
				b.WriteString(text[at : at+2])
				break
			}
			b.WriteRune(rune(code))
			rest = rest[digits:]
		case '0' <= c && c <= '7':
			n := 1
			for n < 3 && at+1+n < len(text) && '0' <= text[at+1+n] && text[at+1+n] <= '7' {
				n++
			}
			code, _ := strconv.ParseUint(text[at+1:at+1+n], 8, 32) // octal digits
			b.WriteRune(rune(code))
			rest = text[at+1+n:]
		default:
			b.WriteString(text[at : at+2])
		}
		text = rest
	}
	return b.String()
}
