package playbook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/internal/diag"
	"moon/internal/pattern"
)

// fault is where the layout of a YAML text breaks, and what to do about it.
type fault struct {
	line, column, width int // from 1; column and width in characters
	message, hint       string
}

// findFault finds the first line that does not fit those above it. The YAML parser says only that it is lost, often at the beginning
// of the map or list around the mistake; people look at the indentation of lines, and so does this. It knows far less than a parser
// and is only asked about a text that the parser refused, so that what it finds wrong is about what is wrong.
func (f *File) findFault() (fault, bool) {
	s := layout{lines: f.Lines()}
	for i := range s.lines {
		if s.readLine(i + 1); s.found != nil || s.lost {
			break
		}
	}
	if s.found == nil && !s.lost && s.open.line > 0 {
		s.reportUnclosed()
	}
	if s.found == nil {
		return fault{}, false
	}
	return *s.found, true
}

// layout is the state of looking at a text line by line.
type layout struct {
	lines  []string
	levels []level
	block  blockText
	open   opening
	found  *fault
	lost   bool // something is there that this does not know
}

// level is a map or a list that lines may belong to.
type level struct {
	indent int
	list   bool
	line   int  // of its last key or item
	empty  bool // that key or item has no value yet: what is indented more belongs to it
	plain  plainScalar
}

// plainScalar is a value without quotes, which may have further lines. It may begin below its key.
type plainScalar struct {
	line, at int // at in bytes from 0
	text     string
}

// blockText is the text below `|` or `>`.
type blockText struct {
	line   int // where it was announced; 0: there is none
	parent int // indentation that it must exceed
	indent int // of its first line; -1: not seen yet
}

// opening is a quote or a bracket that was not closed on its line.
type opening struct {
	line, at int // at in bytes from 0
	indent   int // of the key or item that it belongs to
	quote    byte
	brackets []byte
}

func (s *layout) failAt(line, from, to int, hint, format string, args ...any) {
	text := s.lines[line-1]
	from = min(max(from, 0), len(text)) // a mistake in here must not hide the mistake in the file
	to = min(max(to, from), len(text))
	s.found = &fault{
		line: line, column: utf8.RuneCountInString(text[:from]) + 1, width: utf8.RuneCountInString(text[from:to]),
		message: fmt.Sprintf(format, args...), hint: hint,
	}
}

const tabHint = "YAML is indented with spaces, not tabs"

// readLine looks at the next line.
func (s *layout) readLine(n int) {
	text := s.lines[n-1]
	indent := len(text) - len(strings.TrimLeft(text, " "))
	content := strings.TrimRight(text[indent:], " \t")
	switch {
	// Inside quotes or brackets indentation means nothing, unless the line looks like the next entry.
	case s.open.line > 0:
		if indent <= s.open.indent && looksLikeEntry.MatchString(content) {
			s.reportUnclosed()
			return
		}
		s.readFlow(n, text, indent)
		return
	case content == "":
		return
	case s.block.line > 0 && s.inBlock(n, indent, content):
		return
	case content[0] == '\t':
		if rest := strings.TrimLeft(content, "\t "); rest == "" || rest[0] == '#' {
			return
		}
		s.failAt(n, indent, indent+1, tabHint, "a tab in the indentation")
		return
	// A directive stands before the first entry only.
	case content[0] == '#', content[0] == '%' && indent == 0 && len(s.levels) == 0:
		return
	case indent == 0 && (content == "---" || content == "..." || strings.HasPrefix(content, "--- ")):
		// A new document begins at column 0, and refers to nothing above.
		s.levels = nil
		return
	}
	s.readEntries(n, indent, content)
}

// looksLikeEntry is the beginning of a line that people mean as a list item or a key.
var looksLikeEntry = pattern.New(`^(- )?[A-Za-z_][\w.]*:( |$)|^- `)

// reportUnclosed reports the quote or bracket that is still open.
func (s *layout) reportUnclosed() {
	o := s.open
	switch s.lines[o.line-1][o.at] {
	case '"', '\'':
		s.failAt(o.line, o.at, len(strings.TrimRight(s.lines[o.line-1], " ")), "add the closing quote", "a quote is not closed")
	case '[':
		s.failAt(o.line, o.at, o.at+1, "add the missing `]`, or quote the text", "a `[` is not closed")
	default:
		s.failAt(o.line, o.at, o.at+1, "add the missing `}`, or quote the text: a value that starts with {{ must be quoted",
			"a `{` is not closed")
	}
}

// inBlock reports whether the line is part of the text below `|` or `>`, or about it.
func (s *layout) inBlock(n, indent int, content string) bool {
	b := &s.block
	switch {
	case indent <= b.parent:
		// A tab is not indentation, so the line looks as if it belonged to the parent.
		if content[0] == '\t' {
			s.failAt(n, indent, indent+1, tabHint, "a tab in the indentation")
			return true
		}
		b.line = 0
		return false
	// The first line decides how far the text is indented.
	case b.indent < 0:
		b.indent = indent
	case indent < b.indent && content[0] != '#':
		s.failAt(n, indent, indent+1, fmt.Sprintf("indent it with at least %s, like line %d", countSpaces(b.indent), b.line+1),
			"this line is indented with %s, the text that begins on line %d with %d", countSpaces(indent), b.line+1, b.indent)
	}
	return true
}

func countSpaces(n int) string {
	if n == 1 {
		return "1 space"
	}
	return fmt.Sprintf("%d spaces", n)
}

var properties = pattern.New(`^[&!][^\s,\[\]{}]*(?:\s+|$)`)

// readEntries takes a line apart into the list items and the key that begin on it.
func (s *layout) readEntries(n, at int, content string) {
	for content != "" && s.found == nil {
		// A tag or an anchor in front says nothing about the layout.
		if m := properties.FindString(content); m != "" && m != content {
			at, content = at+len(m), content[len(m):]
			continue
		}
		if content == "-" || strings.HasPrefix(content, "- ") || strings.HasPrefix(content, "-\t") {
			if !s.enterLevel(n, at, true, content) {
				return
			}
			rest := strings.TrimLeft(content[1:], " \t")
			if rest == "" || rest[0] == '#' {
				return
			}
			at, content = at+len(content)-len(rest), rest
			continue
		}
		if strings.HasPrefix(content, "? ") {
			// An explicit key may be anything; what follows is beyond this reader.
			s.lost = true
			return
		}
		key, value := cutKey(content)
		if key == "" {
			s.readScalar(n, at, content)
			return
		}
		if !s.enterLevel(n, at, false, content) {
			return
		}
		rest := strings.TrimLeft(value, " \t")
		s.readValue(n, at+len(content)-len(rest), rest)
		return
	}
}

// cutKey splits `key: value`; key is "" if the text has none.
func cutKey(content string) (key, value string) {
	from := 0
	if q := content[0]; q == '"' || q == '\'' {
		end := endOfQuote(content, 1, q)
		if end < 0 {
			return "", ""
		}
		from = end
	} else if strings.IndexByte("[{", q) >= 0 {
		return "", ""
	}
	for i := from; i < len(content); i++ {
		switch {
		// A comment ends the line, so a colon in it is none.
		case content[i] == '#' && i > 0 && content[i-1] == ' ':
			return "", ""
		case content[i] == ':' && (i+1 == len(content) || content[i+1] == ' ' || content[i+1] == '\t'):
			return content[:i+1], content[i+1:]
		}
	}
	return "", ""
}

// endOfQuote is where the text behind the closing quote begins, or -1.
func endOfQuote(text string, from int, quote byte) int {
	for i := from; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		// Two single quotes are one within single quotes.
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return -1
}

// enterLevel finds the map or list that a key or an item belongs to.
func (s *layout) enterLevel(n, at int, list bool, content string) bool {
	above := slices.Clone(s.levels)
	for len(s.levels) > 0 && s.levels[len(s.levels)-1].indent > at {
		s.levels = s.levels[:len(s.levels)-1]
	}
	if top := s.topLevel(); top != nil && top.indent == at && top.list && !list && len(s.levels) > 1 &&
		s.levels[len(s.levels)-2].indent == at {
		s.levels = s.levels[:len(s.levels)-1] // the list was the value of a key that is indented like its items
	}
	top := s.topLevel()
	switch {
	case top == nil && len(above) == 0, top != nil && top.indent < at && top.empty:
		s.levels = append(s.levels, level{indent: at, list: list})
	case top != nil && top.indent == at && top.list == list:
	case top != nil && top.indent == at && list && top.empty:
		s.levels = append(s.levels, level{indent: at, list: true})
	default:
		s.reportMisplaced(n, at, list, content, above)
		return false
	}
	// Each level above has something in it now.
	for i := range s.levels {
		s.levels[i].empty = false
	}
	top = s.topLevel()
	top.line, top.empty, top.plain = n, true, plainScalar{}
	return true
}

func (s *layout) topLevel() *level {
	if len(s.levels) == 0 {
		return nil
	}
	return &s.levels[len(s.levels)-1]
}

// reportMisplaced reports a key or an item that belongs to nothing above it.
func (s *layout) reportMisplaced(n, at int, list bool, content string, above []level) {
	end := at + len(content)
	// The mark goes under the key alone, not under its value.
	if key, _ := cutKey(content); key != "" && !list {
		end = at + len(key) - 1
	} else if list {
		end = at + 1
	}
	last := above[len(above)-1]
	// "key:value" was read as a text, and now something is indented below it.
	if key, value, ok := strings.Cut(last.plain.text, ":"); ok && at > last.indent && value != "" && identifier.MatchString(key) {
		s.failAt(last.plain.line, last.plain.at, last.plain.at+len(key)+1, fmt.Sprintf("write `%s: %s`", key, value),
			"a space is missing after `%s:`", key)
		return
	}
	if top := s.topLevel(); top != nil && top.indent == at {
		s.reportMixed(n, at, end, list, content, above)
		return
	}
	like, known := last, false // the level that was meant: of the same kind, and the nearest
	for _, l := range above {
		// The nearest level of the same kind, and the deeper one if two are equally near.
		if l.list == list && (!known || distance(l.indent, at) <= distance(like.indent, at)) {
			like, known = l, true
		}
	}
	hint := ""
	if known {
		hint = fmt.Sprintf("indent it with %s, like line %d", countSpaces(like.indent), like.line)
	}
	switch {
	case at > last.indent:
		s.failAt(n, at, end, hint, "this line is indented more than line %d, which has a value already", last.line)
	default:
		var depths []string
		for _, l := range above {
			if d := strconv.Itoa(l.indent); !slices.Contains(depths, d) {
				depths = append(depths, d)
			}
		}
		if most := len(depths) - 1; most > 0 {
			depths[most-1] += " or " + depths[most]
			depths = depths[:most]
		}
		s.failAt(n, at, end, hint, "this line is indented with %s, what it could belong to with %s", countSpaces(at),
			strings.Join(depths, ", "))
	}
}

func distance(a, b int) int { return max(a-b, b-a) }

// reportMixed reports a key among items, or an item among keys.
func (s *layout) reportMixed(n, at, end int, list bool, content string, above []level) {
	top := s.topLevel()
	root := len(s.levels) == 1
	item := "" // the map of the item above, which may be meant
	// The author may have meant the map in the item above, and indented too little.
	if i := len(s.levels); i < len(above) && !above[i].list {
		item = fmt.Sprintf("indent it with %s if it belongs to the item above; ", countSpaces(above[i].indent))
	}
	const either = "a file is a map or a list; in a playbook with other keys the steps are in a list under `steps:`"
	switch {
	case len(content) > 1 && content[0] == '-' && !list:
		s.failAt(n, at, at+1, "write `- "+strings.TrimLeft(content, "-")+"`", "a space is missing after `-`")
	case list && root:
		s.failAt(n, at, end, either, "a list begins here, but the file is a map (line %d)", top.line)
	case list:
		s.failAt(n, at, end, "indent it more than the key that it belongs to, or remove the `- `",
			"a list item among the keys of a map (line %d)", top.line)
	case root:
		s.failAt(n, at, end, item+either, "a key among the items of a list (line %d)", top.line)
	default:
		s.failAt(n, at, end, item+"an item begins with `- `", "a key among the items of a list (line %d)", top.line)
	}
}

// readScalar looks at a line, or the rest of a list item, that has no key.
func (s *layout) readScalar(n, at int, content string) {
	top := s.topLevel()
	switch {
	case top == nil:
		s.lost = true
	case top.line == n && top.empty || top.empty && at > top.indent:
		s.readValue(n, at, content)
	case at > top.indent && top.plain.text != "": // a further line of the text
	default:
		s.noKey(n, at, content)
	}
}

// noKey reports a line without a colon among keys.
func (s *layout) noKey(n, at int, content string) {
	if len(content) > 1 && content[0] == '-' {
		s.failAt(n, at, at+1, "write `- "+strings.TrimLeft(content, "-")+"`", "a space is missing after `-`")
		return
	}
	if key, value, ok := strings.Cut(content, ":"); ok && identifier.MatchString(key) {
		s.failAt(n, at, at+len(key)+1, fmt.Sprintf("write `%s: %s`", key, value), "a space is missing after `%s:`", key)
		return
	}
	hint := "a text of several lines is indented more than its key"
	if key, value, ok := strings.Cut(content, " "); ok && identifier.MatchString(key) {
		hint = fmt.Sprintf("write `%s: %s`; %s", key, strings.TrimSpace(value), hint)
	}
	s.failAt(n, at, at+len(content), hint, "this line has no `:`, and is not part of a value")
}

// readValue looks at what is behind a key or a dash.
func (s *layout) readValue(n, at int, text string) {
	for {
		m := properties.FindString(text)
		if m == "" {
			break
		}
		at, text = at+len(m), text[len(m):]
	}
	top := s.topLevel()
	if text == "" || text[0] == '#' {
		return
	}
	top.empty = false
	switch c := text[0]; c {
	case '|', '>':
		s.block = blockText{line: n, parent: top.indent, indent: -1}
		// A digit behind | or > gives the indentation of the text.
		if digit := strings.IndexAny(text, "123456789"); digit == 1 || digit == 2 {
			s.block.indent = top.indent + int(text[digit]-'0')
		}
	case '"', '\'':
		s.open = opening{line: n, at: at, indent: top.indent, quote: c}
		s.readFlow(n, s.lines[n-1], at+1)
	case '[', '{':
		s.open = opening{line: n, at: at, indent: top.indent}
		s.readFlow(n, s.lines[n-1], at)
	default:
		s.readPlain(n, at, text)
	}
}

// readPlain looks at text without quotes.
func (s *layout) readPlain(n, at int, text string) {
	// A # behind a blank begins a comment, which is not part of the text.
	if i := strings.Index(text, " #"); i >= 0 {
		text = strings.TrimRight(text[:i], " \t")
	}
	top := s.topLevel()
	top.plain = plainScalar{n, at, text}
	switch {
	case strings.IndexByte("@`%", text[0]) >= 0, text[0] == '*' && !alias.MatchString(text):
		s.failAt(n, at, at+1, "quote it: \""+text+"\"", "a text cannot start with `%c`", text[0])
	case strings.HasPrefix(text, "- "):
		s.failAt(n, at, at+1, "put the list on the lines below its key, or write `[…]`; quote a text that starts with `- `",
			"a list cannot begin on the line of its key")
	case strings.HasSuffix(text, ":"):
		s.failAt(n, at+len(text)-1, at+len(text), "quote a text that contains \": \", and indent keys of one map alike",
			"a `:` where no key can be")
	default:
		if i := strings.Index(text, ": "); i >= 0 {
			s.failAt(n, at+i, at+i+2, "quote a text that contains \": \", and indent keys of one map alike", "a `:` where no key can be")
		}
	}
}

var alias = pattern.New(`^\*[\w-]+$`)

// readFlow goes on inside quotes and brackets.
func (s *layout) readFlow(n int, text string, from int) {
	o := &s.open
	for i := from; i < len(text); {
		if o.quote != 0 {
			end := endOfQuote(text, i, o.quote)
			if end < 0 {
				return
			}
			i, o.quote = end, 0
		} else {
			switch c := text[i]; {
			case c == '#' && i > 0 && (text[i-1] == ' ' || text[i-1] == '\t'):
				return
			case c == '[':
				o.brackets = append(o.brackets, ']')
			case c == '{':
				o.brackets = append(o.brackets, '}')
			case c == ']' || c == '}':
				// Brackets that cross are beyond this reader; the parser's own words stay.
				if o.brackets[len(o.brackets)-1] != c {
					s.lost = true
					return
				}
				o.brackets = o.brackets[:len(o.brackets)-1]
			// A quote within a word is an apostrophe.
			case (c == '"' || c == '\'') && i > 0 && strings.IndexByte(" ,[{:", text[i-1]) >= 0:
				o.quote = c
			}
			i++
		}
		if o.quote == 0 && len(o.brackets) == 0 {
			s.checkClosed(n, text, i)
			return
		}
	}
}

// checkClosed looks at what is behind the end of quotes or brackets.
func (s *layout) checkClosed(n int, text string, end int) {
	o := s.open
	s.open = opening{}
	rest := strings.TrimLeft(text[end:], " \t")
	if rest == "" || rest[0] == '#' {
		return
	}
	if rest[0] == ':' { // a list or a map as a key
		s.lost = true
		return
	}
	at := len(text) - len(rest)
	if strings.HasPrefix(s.lines[o.line-1][o.at:], "{{") {
		s.failAt(o.line, o.at, o.at+2, "write \"{{ … }} …\"", "a value that starts with {{ must be quoted")
		return
	}
	if o.line < n { // the first quote is the one without a partner
		s.open = o
		s.reportUnclosed()
		return
	}
	s.failAt(n, at, len(text), "quote the whole value; inside of '…' a double quote is plain, inside of \"…\" a single one",
		"text after the end of the value")
}

// findLayout replaces what the parser says by the fault in the layout, if there is one.
func (f *File) findLayout(d *diag.Diagnostic) bool {
	at, ok := f.findFault()
	if !ok {
		return false
	}
	d.Pos.Line, d.Pos.Column, d.Width = at.line, at.column, at.width
	d.Message, d.Hint = "not valid YAML: "+at.message, at.hint
	return true
}
