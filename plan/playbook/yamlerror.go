package playbook

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/pattern"
)

var yamlLine = pattern.New(`^line (\d+): `)

// yamlHints are ways out of the parser's terser messages.
var yamlHints = []struct{ text, message, hint string }{
	{"cannot start any token", "a character that cannot start a value", "a text that starts with @, ` or % must be quoted"},
	{"mapping values are not allowed", "a `:` where no key can be", "quote a text that contains \": \", and indent keys of one map alike"},
	{"did not find expected key", "expected a key here", "keys of one map must be indented alike"},
	{"did not find expected '-' indicator", "expected a list item (`- …`) here", "items of one list must be indented alike"},
	{"did not find expected node content", "expected a value here", "a text that starts with a special character must be quoted"},
	{"did not find expected ',' or ']'", "a `[` is not closed", "add the missing `]`, or quote the text"},
	{
		"did not find expected ',' or '}'", "a `{` is not closed",
		"add the missing `}`, or quote the text: a value that starts with {{ must be quoted",
	},
	{"found unexpected end of stream", "a quote is not closed", "add the closing quote"},
	{"found undefined tag handle", "an unknown tag", "quote a text that starts with `!`"},
	{"unknown anchor", "", "define the anchor (&name) above its first use (*name), or quote a text that starts with `*`"},
	{"exceeded max depth", "nested too deeply", ""},
}

// failYAML turns an error of the YAML parser into a diagnostic. The parser names a line, sometimes that of the value
// around the mistake, and no column; what can be found by looking at the text is.
func failYAML(f *File, err error, ds *diag.List) (Value, bool) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1]) // the pattern leaves only digits
		message = strings.TrimPrefix(message, m[0])
	}
	line = max(min(line, len(f.Lines())), 1)
	d := diag.Diagnostic{Pos: diag.Pos{File: f.Name, Line: line, Column: 1}, Message: "not valid YAML: " + message}
	for _, h := range yamlHints {
		if strings.Contains(message, h.text) {
			if h.message != "" {
				d.Message = "not valid YAML: " + h.message
			}
			d.Hint = h.hint
			break
		}
	}
	l := f.lineText(line)
	d.Pos.Column = len(l) - len(strings.TrimLeft(l, " \t")) + 1
	// Messages about characters and anchors have nothing to do with the layout.
	if notLayout.MatchString(message) || !f.findLayout(&d) {
		f.findMistake(&d, message)
	}
	ds.Add(d)
	return Value{}, false
}

// notLayout are the complaints that are not about how lines are indented, or what is closed.
var notLayout = pattern.New(`unknown anchor|tag handle|exceeded max depth|escape`)

// suspects are what a complaint of the parser is likely to be about: the first group of the pattern, looked for in some
// lines from the one the parser names.
var suspects = []struct {
	complaint string
	lines     int
	pattern   *pattern.Pattern
	message   string // instead of the parser's; may be empty
	hint      string
}{
	{"", 1, pattern.New(`^ *(\t)`), "", "YAML is indented with spaces, not tabs"},
	{
		"did not find expected", 2, pattern.New(`(?:^|[:\-,\[]\s+)(\{\{)`), "a value that starts with {{ must be quoted",
		"write \"{{ … }} …\"",
	},
	{"cannot start any token", 2, pattern.New("(?:^|[:,\\[-])\\s+([@`%])"), "", ""},
	{"mapping values are not allowed", 2, pattern.New(`.*(: )`), "", ""},
	{"mapping values are not allowed", 2, pattern.New(`(:)$`), "", ""},
	{"expected ',' or ']'", 1, pattern.New(`.*(\[)`), "", ""},
	{"expected ',' or '}'", 1, pattern.New(`.*(\{)`), "", ""},
	{"expected node content", 3, pattern.New(`(?:^|[:,\[{-])\s+([\]},&%])`), "", ""},
	{"undefined tag handle", 2, pattern.New(`\s(![^\s]*)`), "", ""},
}

var unknownAnchor = pattern.New(`unknown anchor '(.+)' referenced`)

// findMistake moves a diagnostic to what it is about.
func (f *File) findMistake(d *diag.Diagnostic, complaint string) {
	at := func(line, from, to int) {
		l := f.lineText(line)
		d.Pos.Line, d.Pos.Column, d.Width = line, utf8.RuneCountInString(l[:from])+1, utf8.RuneCountInString(l[from:to])
	}
	if m := unknownAnchor.FindStringSubmatch(complaint); m != nil { // the parser does not say where: the first use is
		for i, l := range f.Lines() {
			if from := strings.Index(l, "*"+m[1]); from >= 0 {
				at(i+1, from, from+1+len(m[1]))
				return
			}
		}
	}
	if strings.Contains(complaint, "unexpected end of stream") {
		for line := len(f.Lines()); line >= 1; line-- {
			if m := openQuote.FindStringSubmatchIndex(f.lineText(line)); m != nil {
				at(line, m[2], m[3])
				return
			}
		}
	}
	for _, s := range suspects {
		if !strings.Contains(complaint, s.complaint) {
			continue
		}
		for line := d.Pos.Line; line < d.Pos.Line+s.lines; line++ {
			m := s.pattern.FindStringSubmatchIndex(f.lineText(line))
			if m == nil {
				continue
			}
			at(line, m[2], m[3])
			if s.message != "" {
				d.Message = "not valid YAML: " + s.message
			}
			if s.hint != "" {
				d.Hint = s.hint
			}
			return
		}
	}
}

// openQuote is a quote that begins a value and has no partner on its line.
var openQuote = pattern.New(`(?:^|[:,\[{-])\s*("[^"]*|'[^']*)$`)
