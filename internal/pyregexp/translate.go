package pyregexp

import (
	"strings"
	"unicode/utf8"

	"moon/internal/pattern"
)

// toGo writes a pattern as Go does. It is not the same if Go cannot do what it asks for.
func toGo(s string) (translated string, same bool) {
	same = true
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
				same = same && class > 0
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
			for _, start := range []string{"(?=", "(?!", "(?<=", "(?<!", "(?P=", "(?("} {
				if strings.HasPrefix(rest, start) {
					same = false
				}
			}
			b.WriteByte(rest[0])
		}
		i += n
	}
	return b.String(), same
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

// toBacktracking rewrites what the library that backtracks writes differently: named groups, the end of the text, {,n}.
func toBacktracking(text string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			// Python's \Z is the very end; the library's allows a line break behind it.
			if rest[1] == 'Z' && !class {
				b.WriteString(`\z`)
			} else {
				b.WriteString(rest[:2])
			}
			i++
			continue
		// Within a class nothing else means anything.
		case class:
			class = rest[0] != ']'
		case rest[0] == '[':
			class = true
			b.WriteByte('[')
			for _, first := range []string{"^", "]"} { // a ] right behind the bracket stands for itself
				if strings.HasPrefix(text[i+1:], first) {
					if first == "]" {
						b.WriteByte('\\')
					}
					b.WriteString(first)
					i++
				}
			}
			continue
		case strings.HasPrefix(rest, "(?P<"):
			b.WriteString("(?<")
			i += len("(?P<") - 1
			continue
		case strings.HasPrefix(rest, "(?P="):
			if end := strings.IndexByte(rest, ')'); end > 0 {
				b.WriteString(`\k<` + rest[4:end] + ">")
				i += end
				continue
			}
		// In Python {,3} is up to three; the library takes it for text.
		case strings.HasPrefix(rest, "{,"):
			b.WriteString("{0,")
			i++
			continue
		}
		b.WriteByte(rest[0])
	}
	return b.String()
}
