package draw

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Walker goes through a clean line, character by character, and knows the colours in effect. It stops where whoever
// asks has seen enough, so that a line of 64 KiB costs what is on the screen of it.
type Walker struct {
	Rest   string
	Colour string // sequences in effect before rest
}

// maxColour bounds what is carried from row to row of a line that changes its colours and never resets them.
const maxColour = 256

// Next takes a character with its width off the rest; "" is the end.
func (k *Walker) Next() (cluster string, w int) {
	for strings.HasPrefix(k.Rest, "\x1b[") {
		n := strings.IndexByte(k.Rest, 'm') + 1
		if n == 0 {
			k.Rest = ""
			break
		}
		k.dye(k.Rest[:n])
		k.Rest = k.Rest[n:]
	}
	s := k.Rest
	switch {
	case s == "":
		return "", 0
	case s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf):
		k.Rest = s[1:]
		return s[:1], 1
	}
	cluster, w = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	k.Rest = s[len(cluster):]
	return cluster, w
}

// dye takes a colour sequence in.
func (k *Walker) dye(seq string) {
	switch body := seq[2 : len(seq)-1]; {
	case strings.Trim(body, "0;") == "":
		k.Colour = ""
	case strings.HasPrefix(body, "0;"), strings.HasPrefix(body, ";"), len(k.Colour) > maxColour:
		k.Colour = seq
	default:
		k.Colour += seq
	}
}

// ended reports whether only colours are left.
func (k *Walker) ended() bool {
	again := *k
	cluster, _ := again.Next()
	return cluster == ""
}

// skip goes over w cells, and returns how many cells of a wide character it went too far.
func (k *Walker) skip(w int) (over int) {
	for w > 0 {
		cluster, n := k.Next()
		if cluster == "" {
			return 0
		}
		w -= n
	}
	return -w
}

// take takes as many characters as fit into w cells, with the colours in effect.
func (k *Walker) take(w int) string {
	if w <= 0 || k.ended() {
		return ""
	}
	again := *k
	again.Next() // the colours before the first character are in effect for it
	colour := again.Colour
	from := len(k.Rest)
	whole := k.Rest
	used := 0
	for {
		before := *k
		cluster, n := k.Next()
		if cluster == "" {
			break
		}
		if used += n; used > w {
			*k = before
			if from == len(before.Rest) { // a wide character in a column of one cell
				_, _ = k.Next()
				return colour + "?"
			}
			break
		}
	}
	if colour == "" {
		return whole[:from-len(k.Rest)]
	}
	return colour + whole[:from-len(k.Rest)]
}

// Stretch is the part of a line in w cells from column x on, and whether it goes on to the right of that.
func Stretch(s string, x, w int) (part string, more bool) {
	if IsASCII(s) {
		if x >= len(s) {
			return "", false
		}
		return s[x:min(x+w, len(s))], x+w < len(s)
	}
	k := Walker{Rest: s}
	// A wide character that the left edge cuts leaves blanks.
	over := min(k.skip(x), w)
	part = k.take(w - over)
	return Spaces(over) + part, !k.ended()
}

// WrapCells breaks a line into rows of w cells. Colours go on in the next row.
func WrapCells(s string, w int) []string {
	if len(s) <= w && IsASCII(s) {
		return []string{s}
	}
	var rows []string
	k := Walker{Rest: s}
	for {
		rows = append(rows, k.take(w))
		if k.ended() {
			return rows
		}
	}
}

// IsColoured reports whether a line holds colours, or other control sequences.
func IsColoured(s string) bool { return strings.IndexByte(s, '\x1b') >= 0 }

// Bare is a clean line without its colours.
func Bare(s string) string {
	if IsColoured(s) {
		return ansi.Strip(s)
	}
	return s
}

// Join puts the texts that are not empty together.
func Join(between string, texts ...string) string {
	var all []string
	for _, s := range texts {
		if s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, between)
}
