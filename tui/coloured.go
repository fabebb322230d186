package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// walker goes through a clean line, character by character, and knows the colours in effect. It stops where whoever
// asks has seen enough, so that a line of 64 KiB costs what is on the screen of it.
type walker struct {
	rest   string
	colour string // sequences in effect before rest
}

// maxColour bounds what is carried from row to row of a line that changes its colours and never resets them.
const maxColour = 256

// next takes a character with its width off the rest; "" is the end.
func (k *walker) next() (cluster string, w int) {
	for strings.HasPrefix(k.rest, "\x1b[") {
		n := strings.IndexByte(k.rest, 'm') + 1
		if n == 0 {
			k.rest = ""
			break
		}
		k.dye(k.rest[:n])
		k.rest = k.rest[n:]
	}
	s := k.rest
	switch {
	case s == "":
		return "", 0
	case s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf):
		k.rest = s[1:]
		return s[:1], 1
	}
	cluster, w = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	k.rest = s[len(cluster):]
	return cluster, w
}

// dye takes a colour sequence in.
func (k *walker) dye(seq string) {
	switch body := seq[2 : len(seq)-1]; {
	case strings.Trim(body, "0;") == "":
		k.colour = ""
	case strings.HasPrefix(body, "0;"), strings.HasPrefix(body, ";"), len(k.colour) > maxColour:
		k.colour = seq
	default:
		k.colour += seq
	}
}

// ended reports whether only colours are left.
func (k *walker) ended() bool {
	again := *k
	cluster, _ := again.next()
	return cluster == ""
}

// skip goes over w cells, and returns how many cells of a wide character it went too far.
func (k *walker) skip(w int) (over int) {
	for w > 0 {
		cluster, n := k.next()
		if cluster == "" {
			return 0
		}
		w -= n
	}
	return -w
}

// take takes as many characters as fit into w cells, with the colours in effect.
func (k *walker) take(w int) string {
	if w <= 0 || k.ended() {
		return ""
	}
	again := *k
	again.next() // the colours before the first character are in effect for it
	colour := again.colour
	from := len(k.rest)
	whole := k.rest
	used := 0
	for {
		before := *k
		cluster, n := k.next()
		if cluster == "" {
			break
		}
		if used += n; used > w {
			*k = before
			if from == len(before.rest) { // a wide character in a column of one cell
				_, _ = k.next()
				return colour + "?"
			}
			break
		}
	}
	if colour == "" {
		return whole[:from-len(k.rest)]
	}
	return colour + whole[:from-len(k.rest)]
}

// stretch is the part of a line in w cells from column x on, and whether it goes on to the right of that.
func stretch(s string, x, w int) (part string, more bool) {
	if isASCII(s) {
		if x >= len(s) {
			return "", false
		}
		return s[x:min(x+w, len(s))], x+w < len(s)
	}
	k := walker{rest: s}
	over := min(k.skip(x), w)
	part = k.take(w - over)
	return spaces(over) + part, !k.ended()
}

// wrapCells breaks a line into rows of w cells. Colours go on in the next row.
func wrapCells(s string, w int) []string {
	if len(s) <= w && isASCII(s) {
		return []string{s}
	}
	var rows []string
	k := walker{rest: s}
	for {
		rows = append(rows, k.take(w))
		if k.ended() {
			return rows
		}
	}
}

func isColoured(s string) bool { return strings.IndexByte(s, '\x1b') >= 0 }

// bare is a clean line without its colours.
func bare(s string) string {
	if isColoured(s) {
		return ansi.Strip(s)
	}
	return s
}

// join puts the texts that are not empty together.
func join(between string, texts ...string) string {
	var all []string
	for _, s := range texts {
		if s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, between)
}
