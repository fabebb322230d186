package diag

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
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
		b.WriteString(d.Pos.File + ":")
		if d.Pos.Line > 0 {
			fmt.Fprintf(b, "%d:%d:", d.Pos.Line, max(d.Pos.Column, 1))
		}
		b.WriteByte(' ')
	}
	fmt.Fprintf(b, "%s: %s\n", d.Severity, d.Message)
	if d.Source != "" && d.Pos.Line > 0 {
		d.excerpt(b)
	}
	for i, v := range slices.Backward(d.Chain) {
		if len(d.Chain) > 2*chainShown && i < len(d.Chain)-chainShown && i >= chainShown {
			if i == chainShown {
				fmt.Fprintf(b, "  … %d more …\n", len(d.Chain)-2*chainShown)
			}
			continue
		}
		fmt.Fprintf(b, "  included from %s\n", v)
	}
	if d.Hint != "" {
		fmt.Fprintf(b, "  hint: %s\n", d.Hint)
	}
}

// chainShown is how much of each end of a long chain of includes is shown.
const chainShown = 5

// excerptWidth is how many characters of a long line are shown around the caret.
const excerptWidth = 100

func (d Diagnostic) excerpt(b *strings.Builder) {
	number := fmt.Sprint(d.Pos.Line)
	line := []rune(d.Source)
	column := min(max(d.Pos.Column, 1), len(line)+1)
	from := 0
	if column > excerptWidth-20 {
		from = column - excerptWidth/2
	}
	to := min(from+excerptWidth, len(line))
	shown := strings.ReplaceAll(string(line[from:to]), "\t", " ")
	width := max(d.Width, 1)
	width = max(min(width, to-column+1), 1)
	fmt.Fprintf(b, "  %s | %s\n", number, strings.TrimRight(printable(shown), " "))
	fmt.Fprintf(b, "  %s | %s%s\n", strings.Repeat(" ", len(number)), strings.Repeat(" ", column-1-from), strings.Repeat("^", width))
}

// printable shows control characters as dots: a playbook is not trusted with the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError {
			return '.'
		}
		return r
	}, s)
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
