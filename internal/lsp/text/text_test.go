package text_test

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"moon/internal/lsp/text"
	"moon/internal/lsp/wire"
)

func TestPositions(t *testing.T) {
	all := "a: 𝄞é\r\n  b: \u2028c\rd"
	for _, c := range []struct {
		encoding text.Encoding
		at       wire.Position
		offset   int
	}{
		{text.UTF16, wire.Position{Line: 0, Character: 5}, 7},
		{text.UTF16, wire.Position{Line: 0, Character: 6}, 9},
		{text.UTF8, wire.Position{Line: 0, Character: 7}, 7},
		{text.UTF32, wire.Position{Line: 0, Character: 4}, 7},
		{text.UTF16, wire.Position{Line: 1, Character: 5}, 16},
		{text.UTF16, wire.Position{Line: 2, Character: 1}, len(all)},
	} {
		doc := text.New(all, c.encoding)
		if got := doc.Offset(c.at); got != c.offset {
			t.Errorf("%s: %v is at %d; want %d", c.encoding, c.at, got, c.offset)
		}
		if got := doc.Position(c.offset); got != c.at {
			t.Errorf("%s: %d is %v; want %v", c.encoding, c.offset, got, c.at)
		}
	}
	doc := text.New(all, text.UTF16)
	if got := doc.Offset(wire.Position{Line: 0, Character: 4}); got != 3 {
		t.Errorf("in the middle of a pair: %d", got)
	}
	if got := doc.Offset(wire.Position{Line: 0, Character: 100}); got != 9 {
		t.Errorf("behind a line: %d", got)
	}
	if got := doc.Offset(wire.Position{Line: 100}); got != len(all) {
		t.Errorf("behind the text: %d", got)
	}
	// YAML has a line more than the protocol.
	if got := doc.Find(3, 1); all[got:] != "c\rd" {
		t.Errorf("line 3: %q", all[got:])
	}
	if got := doc.Span(1, 4, 1); got != (wire.Range{Start: wire.Position{Character: 3}, End: wire.Position{Character: 5}}) {
		t.Errorf("a character of two units: %v", got)
	}
	marked := text.New("\ufeffab: 1", text.UTF16)
	if got := marked.Span(1, 1, 2); got != (wire.Range{Start: wire.Position{Character: 1}, End: wire.Position{Character: 3}}) {
		t.Errorf("behind a mark: %v", got)
	}
}

func TestChoose(t *testing.T) {
	for offered, want := range map[string]text.Encoding{
		"": text.UTF16, "utf-16": text.UTF16, "utf-16 utf-32": text.UTF32, "utf-16 utf-8": text.UTF8, "latin-1": text.UTF16,
	} {
		if got := text.Choose(strings.Fields(offered)); got != want {
			t.Errorf("%q: %s; want %s", offered, got, want)
		}
	}
}

// FuzzPositions holds each way of counting against one that is slow and plain.
func FuzzPositions(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "𝄞é\r\nx\ry\u2028z\u0085", "\ufeffk: v\n", "\xff\xf0\n\r\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, all string) {
		for _, encoding := range []text.Encoding{text.UTF8, text.UTF16, text.UTF32} {
			doc := text.New(all, encoding)
			line, from := 0, 0
			for at := 0; at <= len(all); {
				inEnd := at > 0 && at < len(all) && all[at-1] == '\r' && all[at] == '\n'
				want := wire.Position{Line: line, Character: count(all[from:at], encoding)}
				if got := doc.Position(at); !inEnd && got != want {
					t.Fatalf("%s: byte %d of %q is %v; want %v", encoding, at, all, got, want)
				}
				if got := doc.Offset(want); !inEnd && got != at {
					t.Fatalf("%s: %v of %q is byte %d; want %d", encoding, want, all, got, at)
				}
				l, c := doc.Place(at)
				if got := doc.Find(l, c); !inEnd && got != at && !(at == 0 && strings.HasPrefix(all, "\ufeff")) {
					t.Fatalf("byte %d of %q is %d:%d, which is byte %d", at, all, l, c, got)
				}
				if at == len(all) {
					break
				}
				r, w := utf8.DecodeRuneInString(all[at:])
				at += w
				if r == '\n' || r == '\r' && !strings.HasPrefix(all[at:], "\n") {
					line, from = line+1, at
				}
			}
		}
	})
}

func count(s string, encoding text.Encoding) (n int) {
	if encoding == text.UTF8 {
		return len(s)
	}
	for _, r := range s {
		if encoding == text.UTF16 {
			n += len(utf16.AppendRune(nil, r))
		} else {
			n++
		}
	}
	return n
}
