package inventory

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"
)

// word is one of a line, without its quotes.
type word struct {
	text    string
	bytes   []byte // of which the text is made
	columns []int  // of each byte
	column  int    // where it begins, with its quote
	within  bool   // quotes have begun in the middle of its value: they are taken away, and nothing else
}

// restAfter is what follows after n bytes.
func (w word) restAfter(n int) word {
	r := word{text: w.text[n:], columns: w.columns[n:], column: w.column}
	if len(r.columns) > 0 {
		r.column = r.columns[0]
	}
	return r
}

var (
	errOpenQuote     = errors.New("a quote is not closed")
	errLoneBackslash = errors.New("a backslash at the end stands for nothing")
)

// splitWords takes a line apart as a shell does: words with spaces between them, quotes, backslashes, and # for the rest of the line,
// even within a word. Cut is the column of such a #, or 0.
func splitWords(line string, column int) (words []word, cut int, err error) {
	var w *word
	defer func() {
		for i := range words {
			words[i].text = string(words[i].bytes)
		}
	}()
	quote := rune(0)
	at := 0
	add := func(text string, column int) {
		if w == nil {
			words = append(words, word{column: column})
			w = &words[len(words)-1]
		}
		w.bytes = append(w.bytes, text...)
		for range len(text) {
			w.columns = append(w.columns, column)
		}
	}
	take := func() (text string, c rune, where int) {
		c, size := utf8.DecodeRuneInString(line[at:])
		text, where = line[at:at+size], column
		at, column = at+size, column+1
		return text, c, where
	}
	for at < len(line) {
		text, c, where := take()
		switch {
		case quote == '\'' && c != '\'', quote == '"' && c != '"' && c != '\\':
			add(text, where)
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\':
			if at == len(line) {
				return words, 0, errLoneBackslash
			}
			next, n, after := take()
			// Within double quotes a backslash escapes only itself and the quote.
			if quote == '"' && n != '"' && n != '\\' {
				add(text, where) // within quotes a backslash is one, unless it must not be
			}
			add(next, after)
		case c == '\'' || c == '"':
			add("", where)
			// Quotes in the middle of a value vanish, which is worth a warning.
			w.within = w.within || !bytes.HasSuffix(w.bytes, []byte("="))
			quote = c
		case c == '#':
			if w != nil {
				cut = where
			}
			return words, cut, nil
		case strings.ContainsRune(" \t\r\n", c):
			w = nil
		default:
			add(text, where)
		}
	}
	if quote != 0 {
		return words, 0, errOpenQuote
	}
	return words, 0, nil
}
