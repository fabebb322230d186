package draw

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"moon/internal/termtext"
)

// Terminals and libraries disagree about the width of many characters. Everything that is drawn goes through settle
// once, which leaves only what has the same width under both methods of counting; after that one function counts.

// Plain makes a name or a value fit to be drawn: one line, no control characters, no doubtful widths.
func Plain(s string) string {
	if IsASCII(s) {
		return s
	}
	return Settle(termtext.CleanName(strings.ReplaceAll(s, "\t", "    ")))
}

// IsASCII reports whether the text is printable ASCII: one cell a byte.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Settle drops or replaces what terminals count differently. It keeps colours (SGR).
func Settle(s string) string {
	doubtful := false
	for i := range len(s) {
		doubtful = doubtful || s[i] >= utf8.RuneSelf
	}
	for doubtful {
		s, doubtful = settleOnce(s) // what is left may join to something new
	}
	return s
}

// joinsOthers reports whether a character becomes one with whatever is drawn before or after it, as a mark without a letter does.
func joinsOthers(cluster string) bool {
	before, _ := ansi.FirstGraphemeCluster("a"+cluster, ansi.GraphemeWidth)
	after, _ := ansi.FirstGraphemeCluster(cluster+"a", ansi.GraphemeWidth)
	twice, _ := ansi.FirstGraphemeCluster(cluster+cluster, ansi.GraphemeWidth)
	return len(before) > 1 || len(after) > len(cluster) || len(twice) > len(cluster)
}

// apart is the width of the parts of a character, one by one: what cuts lines that have colours counts a mark behind an ASCII
// letter by itself.
func apart(cluster string) (w int) {
	for _, r := range cluster {
		w += ansi.StringWidth(string(r))
	}
	return w
}

func settleOnce(s string) (settled string, changed bool) {
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		// An ASCII character is a cluster of its own, unless a combining one follows.
		if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		s = s[len(cluster):]
		first, _ := utf8.DecodeRuneInString(cluster)
		joins := joinsOthers(cluster)
		// Terminals count by clusters or by code points: only what comes to the same either way is safe.
		if w > 0 && w == ansi.StringWidthWc(cluster) && w == apart(cluster) && !joins {
			b.WriteString(cluster)
			continue
		}
		changed = true
		if w == 0 && ansi.StringWidthWc(cluster) == 0 {
			continue
		}
		if base := string(first); !joins && ansi.StringWidth(base) == ansi.StringWidthWc(base) && ansi.StringWidth(base) > 0 {
			b.WriteString(base)
		} else {
			b.WriteByte('?')
		}
	}
	return b.String(), changed
}

// Cells counts the cells of a settled text. Colours count nothing.
func Cells(s string) int {
	if IsASCII(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// Head is the beginning of a text, at most w cells of it.
func Head(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w && IsASCII(s) {
		return s
	}
	return ansi.Truncate(s, w, "")
}

// Tail is the end of a text without colours, at most w cells of it.
func Tail(s string, w int) string {
	n := Cells(s)
	if n <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	if IsASCII(s) {
		return s[len(s)-w:]
	}
	// From the front, because where a character begins cannot be found from its end.
	for n > w {
		cluster, wide := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		s, n = s[len(cluster):], n-wide
	}
	return s
}

// CutRight keeps the beginning, as a sentence wants.
func CutRight(s string, w int, dots string) string {
	if Cells(s) <= w {
		return s
	}
	return Head(Head(s, w-Cells(dots))+dots, w)
}

// CutLeft keeps the end, as a path wants.
func CutLeft(s string, w int, dots string) string {
	if Cells(s) <= w {
		return s
	}
	if w <= Cells(dots) {
		return Head(dots, w)
	}
	return dots + Tail(s, w-Cells(dots))
}

// CutMiddle keeps both ends, as a name wants.
func CutMiddle(s string, w int, dots string) string {
	if Cells(s) <= w {
		return s
	}
	room := w - Cells(dots)
	if room < 4 {
		return CutRight(s, w, dots)
	}
	right := room / 3
	return Head(s, room-right) + dots + Tail(s, right)
}

// Spaces is n blanks.
func Spaces(n int) string {
	const many = "                                                                                                    "
	if n <= 0 {
		return ""
	}
	if n <= len(many) {
		return many[:n]
	}
	return strings.Repeat(" ", n)
}

// WrapText breaks a settled text without colours into lines of at most w cells, at blanks where it can. Blanks at
// the beginning of the text stay, so indented text stays indented on its first line.
func WrapText(s string, w int) []string {
	if w < 1 {
		w = 1
	}
	var lines []string
	for Cells(s) > w {
		first := Head(s, w)
		if first == "" { // a wide character in a one-cell column
			_, n := utf8.DecodeRuneInString(s)
			lines, s = append(lines, "?"), s[n:]
			continue
		}
		if rest := s[len(first):]; rest[0] != ' ' {
			if i := strings.LastIndexByte(first, ' '); i > 0 && strings.TrimSpace(first[:i]) != "" {
				first = first[:i]
			}
		}
		s = strings.TrimLeft(s[len(first):], " ")
		lines = append(lines, strings.TrimRight(first, " "))
	}
	return append(lines, s)
}
