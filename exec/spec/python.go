package spec

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/internal/pattern"
	"moon/internal/pyregexp"
)

// compilePattern compiles a regular expression of a field, as Python writes it. flags are i, m and s.
func compilePattern(field, text, flags string) (*pyregexp.Pattern, []Problem) {
	re, err := pyregexp.Compile(text, flags)
	if err == nil {
		return re, nil
	}
	return nil, []Problem{{Field: field, Message: "`" + field + "` is not a regular expression: " + err.Error()}}
}

// Template is what takes the place of a match, in Python's spelling: \1 and \g<name> stand for groups.
type Template struct {
	parts []templatePart
}

type templatePart struct {
	text  string
	group int // -1: the text
}

// Expand adds the template to b, for a match in a text as regexp's functions with Index in their names return it.
func (t *Template) Expand(b []byte, text string, match []int) []byte {
	for _, p := range t.parts {
		switch {
		case p.group < 0:
			b = append(b, p.text...)
		case match[2*p.group] >= 0:
			b = append(b, text[match[2*p.group]:match[2*p.group+1]]...)
		}
	}
	return b
}

// replacementFor reads the template of a field for the matches of a pattern.
func replacementFor(field, s string, re *pyregexp.Pattern) (*Template, []Problem) {
	wrong := func(format string, args ...any) (*Template, []Problem) {
		return nil, []Problem{{field, "`" + field + "` " + fmt.Sprintf(format, args...), `write \\ for a backslash`}}
	}
	t := &Template{}
	var text []byte
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			text = append(text, s[i])
			i++
			continue
		}
		// Three octal digits, or two after a zero, are a character and not a group.
		if m := octalEscape.FindString(s[i:]); m != "" {
			n, _ := strconv.ParseUint(m[1:], 8, 16) // digits
			text = utf8.AppendRune(text, rune(n))
			i += len(m)
			continue
		}
		if m := groupReference.FindStringSubmatch(s[i:]); m != nil {
			name := m[1] + m[2]
			// A name is looked up in the pattern, a number is one already.
			group, err := strconv.Atoi(name)
			if err != nil {
				group = re.Group(name)
			}
			if group < 0 || group > re.Groups() {
				return wrong("refers to group %s, which the pattern does not have", name)
			}
			t.parts = append(t.parts, templatePart{string(text), -1}, templatePart{"", group})
			text = nil
			i += len(m[0])
			continue
		}
		if i+1 == len(s) {
			return wrong("ends with a backslash")
		}
		next := s[i+1]
		at := strings.IndexByte(`\abfnrtv`, next)
		switch {
		case at >= 0:
			text = append(text, "\\\a\b\f\n\r\t\v"[at])
		// Python refuses unknown escapes of letters, to keep them for later.
		case next >= 'a' && next <= 'z' || next >= 'A' && next <= 'Z':
			return wrong(`has \%c, which means nothing`, next)
		default:
			text = append(text, '\\', next)
		}
		i += 2
	}
	t.parts = append(t.parts, templatePart{string(text), -1})
	return t, nil
}

// Three octal digits, or a 0, are a character; other digits are a group's number.
var (
	octalEscape    = pattern.New(`^\\(?:[0-3][0-7][0-7]|0[0-7]?)`)
	groupReference = pattern.New(`^\\(?:g<([0-9]+|[A-Za-z_][A-Za-z0-9_]*)>|([1-9][0-9]?))`)
)
