package view

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"moon/events/steplog"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/feed"
)

// Needle is a text that is looked for.
type Needle struct {
	Text string
	Fold bool
}

// InLine reports whether it is in a line, as that is seen on the screen.
func (n Needle) InLine(l steplog.Line) bool {
	// With control characters, which do not count as ASCII here, what is seen is not what was printed.
	if !asciiBytes(l.Text) {
		from, _ := n.FindIn(draw.Bare(feed.CleanLine(l, -1).Text))
		return from >= 0
	}
	if !n.Fold {
		return bytes.Contains(l.Text, []byte(n.Text))
	}
	if !draw.IsASCII(n.Text) {
		return false
	}
	return foldASCII(l.Text, n.Text) >= 0
}

// FindIn returns where it stands in a text first.
func (n Needle) FindIn(s string) (from, to int) {
	switch {
	case n.Text == "":
		return -1, -1
	case !n.Fold:
		from = strings.Index(s, n.Text)
		return from, from + len(n.Text)
	case draw.IsASCII(s):
		from = foldASCII(s, n.Text)
		return from, from + len(n.Text)
	}
	// Upper and lower case of a letter may have different lengths.
	for i := range s {
		if w := foldedPrefix(s[i:], n.Text); w > 0 {
			return i, i + w
		}
	}
	return -1, -1
}

// foldedPrefix is how much of a text reads as what when capitals do not count; 0 if it does not.
func foldedPrefix(s, what string) int {
	at := 0
	for _, want := range what {
		r, w := utf8.DecodeRuneInString(s[at:])
		if w == 0 || unicode.ToLower(r) != want {
			return 0
		}
		at += w
	}
	return at
}

// foldASCII is where a text of lower case stands in ASCII of any case, or -1.
func foldASCII[T string | []byte](s T, what string) int {
	if what == "" || len(s) < len(what) {
		return -1
	}
	// By hand, as lower case made of each line first would be a copy of an output that may be huge.
	first := what[0]
	for i := 0; i <= len(s)-len(what); i++ {
		if lowerByte(s[i]) != first {
			continue
		}
		k := 1
		for k < len(what) && lowerByte(s[i+k]) == what[k] {
			k++
		}
		if k == len(what) {
			return i
		}
	}
	return -1
}

func lowerByte(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

func asciiBytes(text []byte) bool {
	for _, b := range text {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}

// HighlightMatch marks where a text without capitals is found in a name.
func HighlightMatch(s, what string) []draw.Text {
	var line []draw.Text
	n := Needle{what, true}
	for {
		from, to := n.FindIn(s)
		if from < 0 {
			return append(line, draw.Inked(themes.Text, s))
		}
		line = append(line, draw.Inked(themes.Text, s[:from]), draw.Inked(themes.Match, s[from:to]))
		s = s[to:]
	}
}
