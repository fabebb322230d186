package filters

import (
	"strings"
	"unicode"

	"moon/plan/eval/call"
)

// What Python's strings say of their characters.

// everyRune is a method that asks the same of every character of a text that has any.
func everyRune(is func(rune) bool) func(c *call.Input, s string) (any, error) {
	return func(_ *call.Input, s string) (any, error) {
		// Python says no for an empty text.
		return s != "" && strings.IndexFunc(s, func(r rune) bool { return !is(r) }) < 0, nil
	}
}

// isDigitRune is what is written as a digit, small and circled ones included.
func isDigitRune(r rune) bool {
	return unicode.Is(unicode.Nd, r) || unicode.Is(unicode.No, r) && (r == '²' || r == '³' || r == '¹' ||
		r == '⁰' || r >= '⁴' && r <= '⁹' || r >= '₀' && r <= '₉' || r >= '①' && r <= '⑨')
}

func isAlnumRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// isTitled reports whether every word of a text begins with a capital and goes on without.
func isTitled(s string) bool {
	inWord, any := false, false
	for _, r := range s {
		switch {
		case unicode.IsUpper(r) || unicode.IsTitle(r):
			if inWord {
				return false
			}
			inWord, any = true, true
		case unicode.IsLower(r):
			if !inWord {
				return false
			}
		// What has no case ends a word for Python: "It'S" is titled, "It's" is not.
		default:
			inWord = false
		}
	}
	return any
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsUpper(r):
			return unicode.ToLower(r)
		case unicode.IsLower(r):
			return unicode.ToUpper(r)
		}
		return r
	}, s)
}
