package plan

import (
	"os/user"
	"path/filepath"
	"strings"
)

// resolvePath makes a path of a playbook absolute: ~ and ~user expand, a relative path starts in dir. A trailing slash
// is kept, because copy gives it a meaning.
func resolvePath(path, dir, home string) string {
	if path == "" {
		return dir
	}
	slash := strings.HasSuffix(path, "/")
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		path = filepath.Join(home, path[1:])
	case strings.HasPrefix(path, "~"):
		name, rest, _ := strings.Cut(path[1:], "/")
		if u, err := user.Lookup(name); err == nil {
			path = filepath.Join(u.HomeDir, rest)
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	if slash && path != "/" {
		path += "/"
	}
	return path
}

type pair struct{ key, value string }

// splitPairs splits `a=1 b="two words" c={{ x }}` into pairs. A word without "=" gives a pair without a key.
func splitPairs(text string) []pair {
	var pairs []pair
	for _, word := range splitWords(text) {
		k, v, ok := strings.Cut(word, "=")
		if !ok {
			pairs = append(pairs, pair{"", word})
			continue
		}
		pairs = append(pairs, pair{k, v})
	}
	return pairs
}

// splitWords splits at white space outside quotes and templates, and removes the quotes.
func splitWords(text string) []string {
	var words []string
	var word strings.Builder
	inWord, quote, braces := false, rune(0), 0
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
				continue
			}
		case braces == 0 && (r == '"' || r == '\''):
			quote, inWord = r, true
			continue
		case strings.HasPrefix(text[i:], "{{"):
			braces++
		case braces > 0 && strings.HasSuffix(text[:i+1], "}}"):
			braces--
		case braces == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
			continue
		}
		word.WriteRune(r)
		inWord = true
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}
