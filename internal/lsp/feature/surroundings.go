package feature

import (
	"slices"
	"strings"
	"unicode/utf8"

	"moon/internal/lsp/text"
)

// surroundings are what stands around a place, as far as the text says it by its indentation. It need not be YAML.
type surroundings struct {
	path []string // keys and "-" for items, from the outside
	key  string   // the key of the line, or within braces; "" if there is none
	at   bool     // the place is in that key, or in what may become one
	// prefix is what stands before the place of the word that it is in.
	prefix   string
	siblings []string // other keys of the same map
	template bool     // the place is between {{ and }}, or in a tag
	line     int      // from 0
}

// parsedLine is a line with its parts, in bytes.
type parsedLine struct {
	blank  bool
	dashes []int // where items begin
	column int   // of what follows them
	key    string
	value  string // behind the colon
	colon  bool
	start  int // of the value in the line
}

func parseLine(line string) (p parsedLine) {
	rest := strings.TrimLeft(line, " ")
	at := len(line) - len(rest)
	for rest == "-" || strings.HasPrefix(rest, "- ") {
		p.dashes = append(p.dashes, at)
		trimmed := strings.TrimLeft(rest[1:], " ")
		at += len(rest) - len(trimmed)
		rest = trimmed
	}
	p.column = at
	p.blank = strings.TrimSpace(rest) == "" && len(p.dashes) == 0 || strings.HasPrefix(rest, "#")
	if i := colonOf(rest); i >= 0 {
		p.colon, p.key = true, strings.Trim(rest[:i], `'" `)
		p.value = strings.TrimLeft(rest[i+1:], " ")
		p.start = at + len(rest) - len(p.value)
	} else {
		p.value, p.start = rest, at
	}
	return p
}

// colonOf is where a key ends; -1 if the text has none.
func colonOf(s string) int {
	if s == "" || strings.ContainsAny(s[:1], `{["'|>#&*!%`) {
		return -1
	}
	for i := range len(s) {
		if s[i] == ':' && (i+1 == len(s) || s[i+1] == ' ') {
			return i
		}
	}
	return -1
}

// surround reads what is around a byte of a text.
func surround(t *text.Text, offset int) *surroundings {
	pos := t.Position(offset)
	start := offset - len(linePrefix(t, offset))
	line, in := t.Line(pos.Line), offset-start
	s := &surroundings{line: pos.Line, prefix: wordBefore(line[:min(in, len(line))])}
	before := line[:min(in, len(line))]
	s.template = opens(before, "{{", "}}") || opens(before, "{%", "%}")
	here := parseLine(line)
	level := here.column
	if here.blank {
		level = in // a line that is yet to be written is as deep as the cursor
	}
	s.key, s.at = here.key, !here.colon || in < here.start && !strings.Contains(before[min(here.column, len(before)):], ":")
	if here.blank || s.at {
		s.at = true
	}
	s.climb(t, here, level)
	if here.colon && !s.at && strings.HasPrefix(here.value, "{") && !strings.HasPrefix(here.value, "{{") {
		s.enterBraces(line[here.start:min(max(in, here.start), len(line))])
	}
	return s
}

// linePrefix is the line of a byte up to it.
func linePrefix(t *text.Text, offset int) string {
	all := t.String()[:offset]
	return all[strings.LastIndexAny(all, "\n\r")+1:]
}

func opens(s, open, closing string) bool {
	return strings.LastIndex(s, open) > strings.LastIndex(s, closing)
}

// wordBefore is the word that ends a text: what names of actions, files and variables are made of.
func wordBefore(s string) string {
	at := len(s)
	for at > 0 {
		r, w := utf8.DecodeLastRuneInString(s[:at])
		if !strings.ContainsRune("_-./@", r) && ('0' > r || r > '9') && ('a' > r || r > 'z') && ('A' > r || r > 'Z') {
			break
		}
		at -= w
	}
	return s[at:]
}

// climb finds what the line is in: the lines above that are less indented, each with its key or as an item.
func (s *surroundings) climb(t *text.Text, here parsedLine, level int) {
	var path []string
	push := func(one string) { path = append(path, one) }
	inMap := true // siblings are still to be seen
	for _, v := range slices.Backward(here.dashes) {
		push("-")
		level, inMap = v, false
	}
	list := len(here.dashes) > 0
	s.collectBelow(t, here, level)
	for n := s.line - 1; n >= 0; n-- {
		p := parseLine(t.Line(n))
		switch {
		case p.blank || p.column > level && (len(p.dashes) == 0 || p.dashes[0] >= level && (p.column != level)):
			continue
		case inMap && p.column == level && p.colon:
			s.siblings = append(s.siblings, p.key)
		case p.column < level && p.colon, list && p.column == level && p.colon && len(p.dashes) == 0:
			push(p.key)
			level, inMap, list = p.column, false, false
		case p.column > level || !p.colon && len(p.dashes) == 0:
			continue
		}
		// What begins an item is in it.
		for i := len(p.dashes) - 1; i >= 0 && p.column <= level; i-- {
			if p.dashes[i] < level {
				push("-")
				level, inMap, list = p.dashes[i], false, true
				p.column = p.dashes[i]
			}
		}
	}
	for _, p := range slices.Backward(path) {
		s.path = append(s.path, p)
	}
}

// collectBelow adds the keys of the same map that follow.
func (s *surroundings) collectBelow(t *text.Text, here parsedLine, level int) {
	if !here.blank {
		level = here.column
	}
	for n := s.line + 1; n < t.Lines(); n++ {
		p := parseLine(t.Line(n))
		if p.blank || p.column > level && (len(p.dashes) == 0 || p.dashes[0] > level) {
			continue
		}
		if p.column < level || len(p.dashes) > 0 {
			return
		}
		if p.colon {
			s.siblings = append(s.siblings, p.key)
		}
	}
}

// enterBraces enters a map in braces, up to the place.
func (s *surroundings) enterBraces(before string) {
	s.path, s.siblings = append(s.path, s.key), nil
	s.key, s.at = "", true
	depth, quote, from := 0, byte(0), 0
	for i := range len(before) {
		switch c := before[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{' || c == '[':
			if depth++; depth == 1 {
				from = i + 1
			}
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth == 1:
			if key, _, ok := strings.Cut(before[from:i], ":"); ok {
				s.siblings = append(s.siblings, strings.Trim(key, `'" `))
			}
			from = i + 1
		}
	}
	if key, _, ok := strings.Cut(before[min(from, len(before)):], ":"); ok {
		s.key, s.at = strings.Trim(key, `'" `), false
	}
}
