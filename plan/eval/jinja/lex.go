package jinja

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PieceKind says what a piece is.
type PieceKind uint8

// The kinds of piece.
const (
	PieceText PieceKind = iota
	PieceOutput
	PieceTag
)

// Piece is a stretch of template text: text as it is, {{ an output }}, or {% a tag %}. Comments leave no piece.
type Piece struct {
	Kind   PieceKind
	Start  int // in the template, delimiters included
	End    int
	Text   string  // of PieceText: what is left after whitespace control
	Tokens []token // of the others: the inside, ending in tokenEnd
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenNumber
	tokenString
	tokenSign
)

// token is one word of an expression.
type token struct {
	kind  tokenKind
	text  string // of a name or sign: as written; of a string: its value
	value any    // of a number
	Start int    // in the template
	end   int
}

// Templated reports whether text has anything to render.
func Templated(text string) bool {
	for {
		i := strings.IndexByte(text, '{')
		// Braces alone are frequent in JSON and shell; only the second character decides.
		if i < 0 || i+1 == len(text) {
			return false
		}
		if c := text[i+1]; c == '{' || c == '%' || c == '#' {
			return true
		}
		text = text[i+1:]
	}
}

// splitter cuts a template into pieces. It does what Jinja's lexer does and no more: the meaning of outputs and tags is
// left to the parser.
type splitter struct {
	Reading
	text             string
	at               int
	opening, closing [3]string // of tags, outputs, comments
	pieces           []Piece
	from             int  // where the pending text begins
	trimLeft         bool // the pending text loses its leading space
	dropBreak        bool // the pending text loses its first newline
}

// Split cuts a text into pieces.
func Split(text string, how Reading) ([]Piece, *Error) {
	// Most have text on both sides of each output.
	s := &splitter{Reading: how, text: text, at: how.From, from: how.From, pieces: make([]Piece, 0, 2*strings.Count(text, "{{")+1)}
	s.opening, s.closing = how.delimiters()
	// The usual delimiters share their first byte.
	firsts := "{"
	if !how.Usual() {
		firsts = s.opening[0][:1] + s.opening[1][:1] + s.opening[2][:1]
	}
	for {
		i := strings.IndexAny(text[s.at:], firsts)
		if i < 0 {
			break
		}
		s.at += i
		if err := s.take(); err != nil {
			return nil, err
		}
	}
	end := len(text)
	// Jinja drops one line break at the end of a text; Ansible gives it back, see Template.ended.
	if how.LikeAnsible && end > s.from && text[end-1] == '\n' {
		end--
	}
	s.emitText(end, false)
	return s.pieces, nil
}

// take takes what begins here, the longest delimiter first: one may begin with another.
func (s *splitter) take() *Error {
	kind := -1
	for i, opening := range s.opening {
		if strings.HasPrefix(s.text[s.at:], opening) && (kind < 0 || len(opening) > len(s.opening[kind])) {
			kind = i
		}
	}
	switch kind {
	case 0:
		return s.tag()
	case 1:
		return s.output()
	case 2:
		return s.comment()
	}
	// A brace that begins nothing is text.
	s.at++
	return nil
}

// open takes the opening delimiter and its whitespace control and ends the text before it.
func (s *splitter) open(kind int) (inside int) {
	start := s.at
	s.at += len(s.opening[kind])
	trim, lstrip := false, s.Lstrip && kind != 1
	// `+` only says that the style's own lstrip_blocks does not apply here.
	if s.at < len(s.text) && (s.text[s.at] == '-' || s.text[s.at] == '+') {
		trim, lstrip = s.text[s.at] == '-', false
		s.at++
	}
	if line := s.text[s.from:start]; lstrip {
		indented := strings.TrimRight(line, " \t")
		// Only if the tag is the first on its line: space between words stays.
		if strings.HasSuffix(indented, "\n") || indented == "" && (s.from == s.From || s.text[s.from-1] == '\n') {
			s.emitText(s.from+len(indented), false)
			// What the tag before has asked for ended with the text just written.
			s.trimLeft, s.dropBreak = false, false
			s.from = start
			return s.at
		}
	}
	s.emitText(start, trim)
	return s.at
}

// closeAt moves behind a closing delimiter that begins, whitespace control included, at i.
func (s *splitter) closeAt(i, kind int) {
	control := s.text[i]
	if control == '-' || control == '+' {
		i++
	}
	s.at = i + len(s.closing[kind])
	s.from = s.at
	s.trimLeft = control == '-'
	// trim_blocks is for tags and comments; the line break behind an output stays.
	s.dropBreak = kind != 1 && !s.KeepBreaks && control != '+'
}

func (s *splitter) emitText(end int, trimRight bool) {
	text := s.text[s.from:end]
	switch {
	// `-` takes all white space, and with it the line break that trim_blocks would have dropped.
	case s.trimLeft:
		text = strings.TrimLeft(text, " \t\r\n\f\v")
	case s.dropBreak:
		text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	}
	if trimRight {
		text = strings.TrimRight(text, " \t\r\n\f\v")
	}
	s.trimLeft, s.dropBreak = false, false
	if text != "" {
		s.pieces = append(s.pieces, Piece{Kind: PieceText, Start: s.from, End: end, Text: text})
	}
	// Also if nothing was left of it: what follows must not count it again.
	s.from = end
}

func (s *splitter) output() *Error {
	start := s.at
	inside := s.open(1)
	tokens, stop, err := LexExpression(s.text, inside, s.opening[1], s.closing[1], Lexing{rawStrings: s.RawStrings})
	if err != nil {
		return withRawHint(s.text, start, err)
	}
	s.closeAt(stop, 1)
	s.pieces = append(s.pieces, Piece{Kind: PieceOutput, Start: start, End: s.at, Tokens: tokens})
	return nil
}

func (s *splitter) tag() *Error {
	start := s.at
	inside := s.open(0)
	tokens, stop, err := LexExpression(s.text, inside, s.opening[0], s.closing[0], Lexing{})
	if err != nil {
		return withRawHint(s.text, start, err)
	}
	s.closeAt(stop, 0)
	// Here and not in the parser: what follows must not be read as a template at all.
	if tokens[0].kind == tokenName && (tokens[0].text == "raw" || tokens[0].text == "verbatim") {
		return s.raw(start, tokens)
	}
	s.pieces = append(s.pieces, Piece{Kind: PieceTag, Start: start, End: s.at, Tokens: tokens})
	return nil
}

// raw takes everything up to {% endraw %} as text.
func (s *splitter) raw(start int, tokens []token) *Error {
	if tokens[1].kind != tokenEnd {
		return &Error{
			Message: "`{% " + tokens[0].text + " %}` takes no arguments", Offset: tokens[1].Start, Width: tokens[1].end - tokens[1].Start,
		}
	}
	// Any other tag inside is text, so only this one end is looked for.
	for i := s.at; ; {
		j := strings.Index(s.text[i:], s.opening[0])
		if j < 0 {
			return &Error{
				Message: "`{% " + tokens[0].text + " %}` is never closed",
				Hint:    "end it with `{% end" + tokens[0].text + " %}`", Offset: start, Width: 2,
			}
		}
		i += j
		inside := s.text[i+len(s.opening[0]):]
		trimRight := strings.HasPrefix(inside, "-")
		inside = strings.TrimLeft(strings.TrimLeft(inside, "-+"), " \t\r\n")
		rest, found := strings.CutPrefix(inside, "end"+tokens[0].text)
		rest = strings.TrimLeft(rest, " \t\r\n")
		if found && rest != "" && closes(rest, s.closing[0]) {
			s.emitText(i, trimRight)
			s.closeAt(len(s.text)-len(rest), 0)
			return nil
		}
		// It was not the end: look behind its delimiter, as text in between may be anything.
		i += 2
	}
}

func (s *splitter) comment() *Error {
	start := s.at
	inside := s.open(2)
	i := strings.Index(s.text[inside:], s.closing[2])
	if i < 0 {
		return &Error{Message: "the comment `{#` is never closed", Hint: closeHint("#}"), Offset: start, Width: 2}
	}
	i += inside
	// The sign before the end belongs to it, not to the comment.
	if i > inside && (s.text[i-1] == '-' || s.text[i-1] == '+') {
		i--
	}
	s.closeAt(i, 2)
	return nil
}

const rawHint = "wrap text that is not for the template in `{% raw %}…{% endraw %}`"

// closeHint is the way out where the end of something is missing.
func closeHint(closing string) string { return "close it with `" + closing + "`; " + rawHint }

// withRawHint adds the way out where the text looks like another template language: docker's {{.Names}}, or {{ without
// an end.
func withRawHint(text string, start int, err *Error) *Error {
	if err.Hint == "" && looksLikeGoTemplate(text[start:]) {
		err.Hint = rawHint
	}
	return err
}

// looksLikeGoTemplate reports whether an output reads like Go's template language: {{.Names}}, {{json .}}, {{ $x }},
// {{range .Mounts}}, {{end}}.
func looksLikeGoTemplate(output string) bool {
	inside := strings.TrimLeft(strings.TrimPrefix(output, "{{"), "- \t")
	if i := strings.Index(inside, "}}"); i >= 0 {
		inside = inside[:i]
	}
	inside = strings.TrimRight(inside, "- \t")
	if strings.HasPrefix(inside, ".") || strings.Contains(inside, "$") {
		return true
	}
	word, rest, _ := strings.Cut(inside, " ")
	// Only a hint depends on it, so a guess will do.
	switch word {
	case "range", "end", "template", "define", "printf", "json", "index", "println", "with", "block":
		return true
	}
	for field := range strings.FieldsSeq(rest) {
		if strings.HasPrefix(field, ".") {
			return true
		}
	}
	return false
}

// signs of the expression language, longest first.
var signs = []string{
	"**", "//", "==", "!=", "<=", ">=",
	"+", "-", "*", "/", "%", "~", "(", ")", "[", "]", "{", "}", "|", ",", ".", ":", "=", "<", ">",
}

var opens = map[string]string{")": "(", "]": "[", "}": "{"}

// LexExpression cuts the expression that begins at i into tokens, up to the closing delimiter (or the end of the text,
// if closing is empty). It returns where the delimiter, with its whitespace control, begins.
func LexExpression(text string, i int, opening, closing string, how Lexing) (tokens []token, stop int, err *Error) {
	begin := i
	var open []int // brackets
	for {
		i += spaceAt(text[i:])
		if i == len(text) {
			if closing != "" {
				return nil, 0, &Error{
					Message: "`" + opening + "` is never closed", Hint: closeHint(closing),
					Offset: max(begin-len(opening), 0), Width: len(opening),
				}
			}
			return append(tokens, token{Start: i, end: i}), i, nil
		}
		// Within brackets }} ends two maps, not the output.
		if closing != "" && len(open) == 0 && closes(text[i:], closing) {
			return append(tokens, token{Start: i, end: i}), i, nil
		}
		t, err := lexToken(text, i, tokens, how)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case t.kind != tokenSign:
		case t.text == "(" || t.text == "[" || t.text == "{":
			open = append(open, i)
		case (t.text == ")" || t.text == "]" || t.text == "}") && len(open) > 0:
			at := open[len(open)-1]
			// Said where the bracket was opened, which is what has to be closed.
			if text[at:at+1] != opens[t.text] {
				return nil, 0, &Error{Message: "`" + text[at:at+1] + "` is never closed", Offset: at, Width: 1}
			}
			open = open[:len(open)-1]
		}
		tokens = append(tokens, t)
		i = t.end
	}
}

func closes(text, closing string) bool {
	if text[0] == '-' || text[0] == '+' {
		text = text[1:]
	}
	return strings.HasPrefix(text, closing)
}

// spaceAt is how many bytes of white space a text begins with: also of no-break spaces and others that only look like a space, as in
// Python.
func spaceAt(text string) int {
	return len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
}

// Lexing says how the words of an expression are read.
type Lexing struct {
	rawStrings bool // backslashes in strings stand for themselves
	ExprLogic  bool // `&&`, `||` and `!` of expr are `and`, `or` and `not`
}

// logicOfExpr are the operators of expr that have a word of the same meaning.
var logicOfExpr = map[string]string{"&&": "and", "||": "or"}

func lexToken(text string, i int, before []token, how Lexing) (token, *Error) {
	c := text[i]
	switch {
	case c == '"' || c == '\'':
		return lexString(text, i, how.rawStrings)
	case c >= '0' && c <= '9':
		// list.0.1 has two positions, and not the number 0.1.
		afterDot := len(before) > 0 && before[len(before)-1].kind == tokenSign && before[len(before)-1].text == "."
		return lexNumber(text, i, afterDot)
	}
	if r, _ := utf8.DecodeRuneInString(text[i:]); r == '_' || unicode.IsLetter(r) {
		end := i
		for end < len(text) {
			r, n := utf8.DecodeRuneInString(text[end:])
			if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				break
			}
			end += n
		}
		return token{kind: tokenName, text: text[i:end], Start: i, end: end}, nil
	}
	// Before the signs, which do not have these. Only in conditions of steps: in templates they are mistakes.
	if how.ExprLogic {
		if word, ok := logicOfExpr[text[i:min(i+2, len(text))]]; ok {
			return token{kind: tokenName, text: word, Start: i, end: i + 2}, nil
		}
		if c == '!' && !strings.HasPrefix(text[i:], "!=") {
			return token{kind: tokenSign, text: "!", Start: i, end: i + 1}, nil
		}
	}
	for _, s := range signs {
		if strings.HasPrefix(text[i:], s) {
			return token{kind: tokenSign, text: s, Start: i, end: i + len(s)}, nil
		}
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	e := &Error{Message: "unexpected `" + string(r) + "`", Offset: i, Width: n}
	switch {
	// Habits from other languages get the word that Jinja has for it.
	case r == utf8.RuneError:
		e.Message = "a byte that is not UTF-8"
	case strings.HasPrefix(text[i:], "&&"):
		e.Message, e.Hint, e.Width = "unexpected `&&`", "write `and`", 2
	case r == '!':
		e.Hint = "write `not`"
	case strings.HasPrefix(text[i:], "??"):
		e.Message, e.Hint, e.Width = "unexpected `??`", "write `| default(…)`", 2
	case strings.HasPrefix(text[i:], "?."):
		e.Message, e.Hint, e.Width = "unexpected `?.`", "write `.`, and `| default(…)` behind it", 2
	case r == '?':
		e.Hint = "write `A if CONDITION else B`"
	}
	return token{}, e
}

// lexNumber reads an integer or a float; after a dot only digits, as in list.0.name.
func lexNumber(text string, i int, afterDot bool) (token, *Error) {
	end := i
	digits := func(set string) {
		for end < len(text) && strings.IndexByte(set, text[end]) >= 0 {
			end++
		}
	}
	isFloat := false
	switch prefix := strings.ToLower(text[i:min(i+2, len(text))]); {
	case !afterDot && (prefix == "0x" || prefix == "0o" || prefix == "0b"):
		end += 2
		digits("0123456789abcdefABCDEF_")
	default:
		digits("0123456789_")
		if afterDot {
			break
		}
		// A point needs a digit behind it: 1.real and 1..3 are not floats.
		if end+1 < len(text) && text[end] == '.' && text[end+1] >= '0' && text[end+1] <= '9' {
			isFloat = true
			end++
			digits("0123456789_")
		}
		// 2em is the number 2 and a name, so the exponent is only taken if it has digits.
		if exp := end; exp < len(text) && (text[exp] == 'e' || text[exp] == 'E') {
			if exp++; exp < len(text) && (text[exp] == '+' || text[exp] == '-') {
				exp++
			}
			if exp < len(text) && text[exp] >= '0' && text[exp] <= '9' {
				isFloat = true
				end = exp
				digits("0123456789_")
			}
		}
	}
	t := token{kind: tokenNumber, text: text[i:end], Start: i, end: end}
	spelling := strings.ReplaceAll(t.text, "_", "")
	if isFloat {
		f, err := strconv.ParseFloat(spelling, 64)
		if err != nil {
			return t, &Error{Message: "the number `" + t.text + "` is too large", Offset: i, Width: end - i}
		}
		t.value = f
		return t, nil
	}
	base := 10
	// Base 10 otherwise: base 0 would read 010 as 8.
	if len(spelling) > 2 && strings.ContainsAny(spelling[1:2], "xXoObB") {
		base = 0
	}
	n, err := strconv.ParseInt(spelling, base, 64)
	if err != nil {
		return t, &Error{Message: "`" + t.text + "` is not a number that fits into 64 bits", Offset: i, Width: end - i}
	}
	t.value = int(n)
	return t, nil
}

// SimpleEscapes are the one-letter escapes of a string. Any other backslash stands for itself, so that patterns such as
// '\bv\d+' and replacements such as '\1' need no doubling; nobody means a backspace.
var SimpleEscapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': `\`, '\'': `'`, '"': `"`, '\n': ""}

func lexString(text string, i int, raw bool) (token, *Error) {
	quote, start := text[i], i
	var value strings.Builder
	for i++; i < len(text); {
		c := text[i]
		switch {
		case c == quote:
			return token{kind: tokenString, text: value.String(), Start: start, end: i + 1}, nil
		case c == '\\' && i+1 < len(text) && raw:
			// The backslash before a quote is needed to write it, and does not stay.
			if text[i+1] != quote {
				value.WriteByte(c)
			}
			value.WriteByte(text[i+1])
			i += 2
		case c == '\\' && i+1 < len(text):
			s, n := unescape(text[i:])
			value.WriteString(s)
			i += n
		default:
			value.WriteByte(c)
			i++
		}
	}
	return token{}, &Error{Message: "the string that begins here is never closed", Offset: start, Width: 1}
}

// unescape reads the escape at the beginning of text and says how many bytes it takes.
func unescape(text string) (value string, n int) {
	if s, ok := SimpleEscapes[text[1]]; ok {
		return s, 2
	}
	for letter, digits := range map[byte]int{'x': 2, 'u': 4, 'U': 8} {
		if text[1] != letter || len(text) < 2+digits {
			continue
		}
		code, err := strconv.ParseUint(text[2:2+digits], 16, 32)
		if err == nil && code <= unicode.MaxRune {
			return string(rune(code)), 2 + digits
		}
	}
	// Any other stays, unlike in Jinja, where '\b' is a backspace: patterns need no doubling.
	return `\`, 1
}
