package draw

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// What is settled stays as wide as it is beside other texts, and where a line with colours is cut.
func TestSettledStaysApart(t *testing.T) {
	for _, s := range []string{"\u0903", "\U0001F3FF", "A\U0001D165", "A\u0903", "\u0600", "e\u0301", "\u1100\u1161", "\u1161", "क्षि", "\u200d", "ع", "日本"} {
		got := Plain(s)
		w := ansi.StringWidth(got)
		for _, beside := range []string{got + "a", "a" + got, "x" + got + "y", got + got} {
			n := len(beside) - len(got)
			if beside == got+got {
				n = w
			}
			if ansi.StringWidth(beside) != w+n || ansi.StringWidthWc(beside) != w+n {
				t.Errorf("%q became %q, which is %d cells, but %q is %d or %d", s, got, w, beside, ansi.StringWidth(beside), ansi.StringWidthWc(beside))
			}
		}
		if rest := ansi.TruncateLeft(got+got+"abc", 2*w, ""); rest != "abc" {
			t.Errorf("%q became %q: cut after %d cells, %q is left", s, got, 2*w, rest)
		}
	}
}
