package spec

import (
	"errors"
	"strings"
)

// Words splits a command line as a shell does, and does nothing else a shell does: no variables, globs, pipes or
// comments. Quotes and backslashes mean what they mean to sh. It fails on a quote that is not closed.
func Words(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	in := false // inside a word, perhaps an empty one
	var quote rune
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		next := rune(-1)
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		switch {
		case quote == '\'' && r != '\'':
			word.WriteRune(r)
		case quote == '"' && r == '\\' && strings.ContainsRune("\"\\$`", next):
			word.WriteRune(next)
			i++
		// A newline behind a backslash joins two lines, in double quotes too.
		case r == '\\' && quote != '\'' && next == '\n':
			i++
		case quote == '"' && r != '"':
			word.WriteRune(r)
		case quote != 0:
			quote = 0
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == '\\' && next >= 0:
			word.WriteRune(next)
			// Also an escaped blank begins a word.
			in = true
			i++
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, errors.New("has a quote " + string(quote) + " that is not closed")
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}
