package suggest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidate a person most likely meant by name, or "" when none is near enough to be helpful:
// at most a third of the longer word wrong, and not its beginning, or the same letters in another case.
func Nearest(name string, candidates []string) string {
	best, bestAt := "", 1<<30
	length := utf8.RuneCountInString(name)
	for _, c := range candidates {
		limit := max(max(len(name), len(c))/3, 1)
		if away := utf8.RuneCountInString(c) - length; c == name || away > limit || -away > limit {
			continue // the lengths alone say it, and a name may be a whole file
		}
		d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(c))
		if d == 2 && sameLetters(name, c) {
			d = 1 // two letters changed places, the commonest slip
		}
		if d > 1 && !sameStart(name, c) {
			continue // two slips are believable, but not at the very beginning
		}
		if d > limit || d >= min(len(name), len(c)) && d > 0 {
			continue
		}
		if d < bestAt || d == bestAt && c < best {
			best, bestAt = c, d
		}
	}
	return best
}

func sameStart(a, b string) bool {
	x, _ := utf8.DecodeRuneInString(a)
	y, _ := utf8.DecodeRuneInString(b)
	return unicode.ToLower(x) == unicode.ToLower(y)
}

func sameLetters(a, b string) bool {
	x, y := []byte(strings.ToLower(a)), []byte(strings.ToLower(b))
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// DidYouMean is the hint for a misspelt name, or "".
func DidYouMean(name string, candidates []string) string {
	if near := Nearest(name, candidates); near != "" {
		return "did you mean `" + near + "`?"
	}
	return ""
}
