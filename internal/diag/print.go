package diag

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"moon/internal/termtext"
)

// Print writes the diagnostics for people: place, message, the source line with a caret, the way out.
func (l List) Print(w io.Writer) error {
	var b strings.Builder
	for i, d := range l {
		if i > 0 {
			b.WriteByte('\n')
		}
		d.print(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d Diagnostic) print(b *strings.Builder) {
	if d.Pos.File != "" {
		b.WriteString(termtext.CleanName(d.Pos.File) + ":")
		if d.Pos.Line > 0 {
			fmt.Fprintf(b, "%d:%d:", d.Pos.Line, max(d.Pos.Column, 1))
		}
		b.WriteByte(' ')
	}
	fmt.Fprintf(b, "%s: %s\n", d.Severity, termtext.CleanName(d.Message))
	if d.Source != "" && d.Pos.Line > 0 {
		d.excerpt(b)
	}
	inner, more, outer := ShownChain(d.Chain)
	for _, v := range inner {
		fmt.Fprintf(b, "  included from %s\n", termtext.CleanName(v))
	}
	if more > 0 {
		fmt.Fprintf(b, "  … %d more …\n", more)
	}
	for _, v := range outer {
		fmt.Fprintf(b, "  included from %s\n", termtext.CleanName(v))
	}
	if d.Others > 0 {
		fmt.Fprintf(b, "  and %d more, with other hosts or items\n", d.Others)
	}
	if d.Hint != "" {
		fmt.Fprintf(b, "  hint: %s\n", termtext.CleanName(d.Hint))
	}
}

// ShownChain is a chain of includes as it is shown, innermost first: of a long one both ends, and how many are between them.
func ShownChain(chain []string) (inner []string, more int, outer []string) {
	inner = slices.Clone(chain)
	slices.Reverse(inner)
	if more = len(inner) - 2*chainShown; more > 0 {
		return inner[:chainShown], more, inner[len(inner)-chainShown:]
	}
	return inner, 0, nil
}

// chainShown is how much of each end of a long chain of includes is shown.
const chainShown = 5

// excerptWidth is how many characters of a long line are shown around the caret.
const excerptWidth = 100

// excerpt shows the line with carets below. The line is shown as names are, because a playbook is not trusted with the
// terminal, and what is above a caret is counted in cells: a character may take two, none, or be shown as an escape.
func (d Diagnostic) excerpt(b *strings.Builder) {
	line := []rune(d.Source)
	at := min(max(d.Pos.Column, 1)-1, len(line))
	from := 0
	if at >= excerptWidth-20 {
		from = at + 1 - excerptWidth/2
	}
	to := min(from+excerptWidth, len(line))
	end := min(at+max(d.Width, 1), to)
	before, marked, after := termtext.CleanName(string(line[from:at])), termtext.CleanName(string(line[at:max(at,
		end)])), termtext.CleanName(string(line[max(at, end):to]))
	if from > 0 {
		before = "…" + before
	}
	if to < len(line) {
		after += "…"
	}
	number := strconv.Itoa(d.Pos.Line)
	fmt.Fprintf(b, "  %s | %s\n", number, strings.TrimRight(before+marked+after, " "))
	fmt.Fprintf(b, "  %s | %s%s\n", strings.Repeat(" ", len(number)), strings.Repeat(" ", ansi.StringWidth(before)),
		strings.Repeat("^", max(ansi.StringWidth(marked), 1)))
}

// Summary is "2 errors, 1 warning", or "" for an empty list.
func (l List) Summary() string {
	var parts []string
	for _, s := range []Severity{Error, Warning} {
		switch n := l.Count(s); n {
		case 0:
		case 1:
			parts = append(parts, "1 "+s.String())
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", n, s))
		}
	}
	return strings.Join(parts, ", ")
}
