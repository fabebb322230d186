package spec

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"moon/internal/pattern"
)

// Playbooks are written with Python's regular expressions. Here they are Go's, which differ in little that playbooks
// use: what has another spelling is translated, what has none is refused.

// compilePattern compiles a regular expression of a field. flags are Go's, such as "m".
func compilePattern(field, text, flags string) (*regexp.Regexp, []Problem) {
	translated, hint := fromPython(text)
	if flags != "" {
		// Go takes flags at the beginning of the pattern.
		translated = "(?" + flags + ")" + translated
	}
	re, err := regexp.Compile(translated)
	if err == nil {
		return re, nil
	}
	return nil, []Problem{{
		field,
		"`" + field + "` is not a regular expression: " + strings.Replace(regexpError(err), "(?"+flags+")", "", 1), hint,
	}}
}

// fromPython spells a pattern as Go does. What cannot be spelt stays, for the compiler to refuse; the hint says why.
func fromPython(s string) (translated, hint string) {
	const (
		noLook = "looking ahead and behind does not work here; match what is around, too, and put it into a group"
		noBack = "a pattern cannot refer back to its own groups here"
	)
	var b strings.Builder
	class := 0 // where the list of characters began, plus one; 0 outside of one
	for i := 0; i < len(s); {
		rest := s[i:]
		n := 1
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			var word string
			word, n = pythonEscape(rest, class > 0)
			if rest[1] >= '1' && rest[1] <= '9' {
				hint = noBack
			}
			b.WriteString(word)
		case class > 0:
			// A bracket that comes first is one of the characters.
			if rest[0] == ']' && strings.TrimPrefix(s[class:i], "^") != "" {
				class = 0
			}
			b.WriteByte(rest[0])
		case rest[0] == '[':
			class = i + 1
			b.WriteByte('[')
		// Python reads {,3} as {0,3}, Go as text.
		case strings.HasPrefix(rest, "{,") && repeatUpTo.MatchString(rest):
			b.WriteString("{0,")
			n = len("{,")
		// Comments do not exist in Go's syntax.
		case strings.HasPrefix(rest, "(?#") && strings.Contains(rest, ")"):
			n = strings.IndexByte(rest, ')') + 1
		case pythonFlags.MatchString(rest):
			flags := pythonFlags.FindString(rest)
			n = len(flags)
			b.WriteString(goFlags(flags))
		default:
			for _, start := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
				if strings.HasPrefix(rest, start) {
					hint = noLook
				}
			}
			if strings.HasPrefix(rest, "(?P=") {
				hint = noBack
			}
			b.WriteByte(rest[0])
		}
		i += n
	}
	return b.String(), hint
}

var (
	repeatUpTo  = pattern.New(`^\{,[0-9]+\}`)
	pythonFlags = pattern.New(`^\(\?[aimsuL]+[:)]`)
)

// goFlags leaves out the flags that say what is true here in any case: \w and \d are ASCII's.
func goFlags(flags string) string {
	kept := strings.Map(func(r rune) rune {
		if strings.ContainsRune("auL", r) {
			return -1
		}
		return r
	}, flags)
	if kept == "(?)" {
		return ""
	}
	return kept
}

// pythonEscape translates the escape at the start of a text, and returns how long it is there.
func pythonEscape(s string, inClass bool) (string, int) {
	_, size := utf8.DecodeRuneInString(s[1:])
	n := 1 + size
	switch {
	// \Z is the very end in Python; Go writes \z for it.
	case s[1] == 'Z':
		return `\z`, n
	case s[1] == 's' && inClass:
		return `\s\v`, n
	case s[1] == 's':
		return `[\s\v]`, n
	case s[1] == 'S' && !inClass:
		return `[^\s\v]`, n
	case s[1] == 'u' && len(s) >= len(`\u0000`):
		return `\x{` + s[2:6] + `}`, 6
	case s[1] >= utf8.RuneSelf:
		// Python lets any character be escaped, Go only those that have a meaning.
		return s[1:n], n // needs no backslash, and may not have one
	}
	return s[:n], n
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
func replacementFor(field, s string, re *regexp.Regexp) (*Template, []Problem) {
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
				group = re.SubexpIndex(name)
			}
			if group < 0 || group > re.NumSubexp() {
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
