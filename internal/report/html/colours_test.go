package html

import (
	"strings"
	"testing"

	"moon/internal/termtext"
)

func TestColours(t *testing.T) {
	for line, want := range map[string]string{
		"plain <b>":                              "plain &lt;b&gt;",
		"\x1b[32mPASS\x1b[0m all":                `<span class="c2">PASS</span> all`,
		"\x1b[1;31m<no>\x1b[22m!\x1b[m.":         `<span class="c1 b">&lt;no&gt;</span><span class="c1">!</span>.`,
		"\x1b[93mhigh\x1b[39m":                   `<span class="c3">high</span>`,
		"\x1b[38;5;1mof 256\x1b[0m":              "of 256",
		"\x1b[38;2;31;32;33mof all\x1b[0m":       "of all",
		"\x1b[48;5;31;32mbehind\x1b[0m":          `<span class="c2">behind</span>`,
		"\x1b[1mbold":                            `<span class="b">bold</span>`,
		"\x1b]0;title\x07\x1b[2Jcleared\x1b[31m": "",
	} {
		got := string(colours(termtext.Clean([]byte(line))))
		if want == "" { // whatever else is in it, nothing of it is for a terminal
			if strings.ContainsAny(got, "\x1b\x07") {
				t.Errorf("%q has become %q", line, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%q has become %q, want %q", line, got, want)
		}
	}
}
