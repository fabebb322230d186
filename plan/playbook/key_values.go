package playbook

import (
	"strings"
)

// pair is one `key=value`. A word without "=" has no key.
type pair struct {
	Key, Value   string
	At, ValuesAt int // where the pair and its value begin, in bytes of the text
}

// SplitPairs splits `a=1 b="two words" c={{ x }}`.
func SplitPairs(text string) []pair {
	var pairs []pair
	for _, w := range bareWords(text) {
		k, v, ok := strings.Cut(w.text, "=")
		if !ok {
			pairs = append(pairs, pair{Value: w.text, At: w.at, ValuesAt: w.at})
			continue
		}
		p := pair{Key: k, Value: v, At: w.at, ValuesAt: w.at + len(k) + 1}
		// The value begins behind its quote.
		if p.ValuesAt < len(text) && (text[p.ValuesAt] == '"' || text[p.ValuesAt] == '\'') {
			p.ValuesAt++
		}
		pairs = append(pairs, p)
	}
	return pairs
}

type bareWord struct {
	text string
	at   int
}

// bareWords splits at white space outside quotes and templates, and removes the quotes.
func bareWords(text string) []bareWord {
	var words []bareWord
	var current strings.Builder
	in, start, quote, braces := false, 0, rune(0), 0
	begin := func(i int) {
		if !in {
			in, start = true, i
		}
	}
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
				continue
			}
		case braces == 0 && (r == '"' || r == '\''):
			quote = r
			begin(i)
			continue
		// Within a template blanks and quotes belong to it.
		case strings.HasPrefix(text[i:], "{{"):
			braces++
		case braces > 0 && strings.HasSuffix(text[:i+1], "}}"):
			braces--
		case braces == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if in {
				words = append(words, bareWord{current.String(), start})
				current.Reset()
				in = false
			}
			continue
		}
		begin(i)
		current.WriteRune(r)
	}
	if in {
		words = append(words, bareWord{current.String(), start})
	}
	return words
}
