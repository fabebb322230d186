package termtext_test

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"moon/internal/termtext"
)

func TestClean(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "hello", "hello"},
		{"colour", "\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"},
		{"open colour is reset", "\x1b[1;31mred", "\x1b[1;31mred\x1b[0m"},
		{"reset without zero", "\x1b[31mred\x1b[m", "\x1b[31mred\x1b[m"},
		{"grep", "\x1b[01;31m\x1b[Kx\x1b[m\x1b[K", "\x1b[01;31mx\x1b[m"},
		{"cursor", "a\x1b[2Jb\x1b[1;1H", "a^[[2Jb^[[1;1H"},
		{"private", "\x1b[?25l\x1b[>4;2m", "^[[?25l^[[>4;2m"},
		{"title", "\x1b]0;evil\x07", "^[]0;evil^G"},
		{"clipboard", "\x1b]52;c;aGk=\x1b\\", `^[]52;c;aGk=^[\`},
		{"device status", "\x1b[6n", "^[[6n"},
		{"dcs apc", "\x1bPq\x1b\\\x1b_x\x1b\\", `^[Pq^[\^[_x^[\`},
		{"raw c1", "a\x9b31mb", `a\x9b31mb`},
		{"encoded c1", "a\u009b31mb", `a\x9b31mb`},
		{"nul bel del", "\x00\x07\x7f", "^@^G^?"},
		{"incomplete", "x\x1b", "x^["},
		{"incomplete csi", "x\x1b[3", "x^[[3"},
		{"colour without end", "\x1b[" + strings.Repeat("1;", 100) + "m", "^[[" + strings.Repeat("1;", 100) + "m"},
		{"bidi", "a\u202eb\u2066c", `a\u202eb\u2066c`},
		{"tags", "a\U000e0041", `a\U000e0041`},
		{"tab", "a\tb", "a       b"},
		{"tab after wide", "日\tb", "日      b"},
		{"tab after colour", "\x1b[1ma\tb\x1b[0m", "\x1b[1ma       b\x1b[0m"},
		{"progress", "10%\r20%\r30%", "30%"},
		{"progress, unfinished", "10%\r20%\r", "20%"},
		{"progress, crlf", "10%\r20%\r\r", "20%"},
		{"progress keeps colour", "\x1b[32m10%\r20%\x1b[0m", "\x1b[32m20%\x1b[0m"},
		{"progress, colour over", "\x1b[32m10%\x1b[0m\r20%", "20%"},
		{"progress erases", "10%\r\x1b[K20%", "20%"},
		{"utf-8", "grün 日本 👍", "grün 日本 👍"},
		{"not utf-8", "a\xffb\xe6\x97", "a\uFFFDb\uFFFD\\x97"},
		{"lines", "a\tb\r\nc\x1b[31md\ne", "a       b\nc\x1b[31md\x1b[0m\ne"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		if got := termtext.Clean([]byte(tt.in)); got != tt.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestCleanName(t *testing.T) {
	tests := []struct{ in, want string }{
		{"install nginx", "install nginx"},
		{"a\nb\tc\rd", "a b c d"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b]0;t\x07", "^[]0;t^G"},
		{"x\u202ey", `x\u202ey`},
		{"bad\xff", "bad\uFFFD"},
	}
	for _, tt := range tests {
		if got := termtext.CleanName(tt.in); got != tt.want {
			t.Errorf("CleanName(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"", "a\tb", "\x1b[31mred", "\x1b]0;x\x07", "10%\r20%", "\x9b1m", "\u202e", "\x1b[1\x1b[2m", "\xff\x1b", "\x1b[\n31m",
		"\x1b[31m\r\r\x1b[0\rm",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got := termtext.Clean(in)
		checkSafe(t, sgr.ReplaceAllString(got, ""), "\n")
		if last := strings.LastIndex(got, "\x1b["); last >= 0 && sgr.MatchString(got[last:]) {
			if seq := sgr.FindString(got[last:]); strings.Trim(seq, "\x1b[0;m") != "" {
				t.Errorf("%q ends in colour %q", got, seq)
			}
		}
		name := termtext.CleanName(string(in))
		checkSafe(t, name, "")
		still := termtext.Still(bytes.ReplaceAll(in, []byte("\n"), nil))
		checkSafe(t, sgr.ReplaceAllString(still, ""), "")
	})
}

func checkSafe(t *testing.T, text, allowed string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%q is not UTF-8", text)
	}
	for _, r := range text {
		if (r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069) &&
			!strings.ContainsRune(allowed, r) {
			t.Errorf("%q has %U", text, r)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	line := []byte("\x1b[32m✓\x1b[0m moon/events/output\t0.123s  \x1b[2mcached\x1b[0m")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		termtext.Clean(line)
	}
}

// Still drops what moves the cursor, and nothing that can be read.
func TestStill(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"a\x1b[2Jb\x1b[1;1Hc\x1b[3Ad", "abcd"},
		{"\x1b[?25lx\x1b[?25h\x1b[?1049h", "x"},
		{"\x1b7\x1b[s50%\x1b[u\x1b8", "50%"},
		{"\x1b[31mred\x1b[m\x1b[K", "\x1b[31mred\x1b[m"},
		{"10%\r\x1b[2K20%", "20%"},
		// What asks the terminal, or makes it do something, is still seen.
		{"\x1b[6n\x1b[c\x1bc\x1b]52;c;eA==\x07\x1b[?1;2c\x1b[>4;2m\x1b[?", "^[[6n^[[c^[c^[]52;c;eA==^G^[[?1;2c^[[>4;2m^[[?"},
		{"plain", "plain"},
	} {
		if got := termtext.Still([]byte(tt.text)); got != tt.want {
			t.Errorf("%q became %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestPrintable8 asks about each byte at each place, next to the ends of what is printable.
func TestPrintable8(t *testing.T) {
	for at := range 8 {
		for _, around := range []byte{' ', 'a', '~'} {
			for b := range 256 {
				text := bytes.Repeat([]byte{around}, 8)
				text[at] = byte(b)
				if got, want := termtext.Printable8(binary.LittleEndian.Uint64(text)), b >= ' ' && b <= '~'; got != want {
					t.Fatalf("%q: %t", text, got)
				}
			}
		}
	}
}
