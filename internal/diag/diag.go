package diag

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Pos is a place in a file. Line and Column count from 1, Column in characters; Line 0 means "the file as a whole".
type Pos struct {
	File   string // as shown: relative to the root playbook's directory where it lies below it
	Line   int
	Column int
}

// IsZero reports whether the position names nothing at all.
func (p Pos) IsZero() bool { return p.File == "" && p.Line == 0 }

// Origin is the place, with the includes that lead there.
func (p Pos) Origin(chain []string) Origin {
	return Origin{File: p.File, Line: p.Line, Column: p.Column, Chain: chain}
}

// LineColumn is the place of an offset in a text.
func LineColumn(text string, offset int) (line, column int) {
	if offset < 0 || offset > len(text) {
		return 0, 0
	}
	before := text[:offset]
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// Severity tells whether a diagnostic stops the run.
type Severity uint8

// The severities. A warning never fails a run unless --strict is given.
const (
	Error Severity = iota
	Warning
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one thing wrong, or suspicious, at one place.
type Diagnostic struct {
	Severity Severity
	Pos      Pos
	Width    int      // characters to underline from Pos; 0 means one caret
	Message  string   // one sentence, lower case, no full stop
	Hint     string   // the way out; may be empty
	Source   string   // the line at Pos, for the excerpt; filled by Locate
	Chain    []string // including steps, outermost first: "main.yml:3"
	Others   int      // how many more hosts or rounds of a loop have come across it, with other values
}

// List collects diagnostics. The zero value is ready to use.
type List []Diagnostic

// Max is how many diagnostics a list holds. Nobody reads more, and a file may have a million mistakes.
const Max = 1000

// Add appends a diagnostic. They are plain values, because a constructor in the style of Errorf would hide the hint.
// What is beyond Max is dropped, and the list ends with an error that says so.
func (l *List) Add(d Diagnostic) {
	d.Message, d.Hint = shortened(d.Message), shortened(d.Hint)
	switch {
	case len(*l) < Max:
		*l = append(*l, d)
	case len(*l) == Max:
		*l = append(*l, Diagnostic{
			Message: "there is more; the first " + strconv.Itoa(Max) + " problems are shown",
			Hint:    "fix some of these first",
		})
	}
}

// Full reports whether more diagnostics would be dropped: whoever looks for mistakes may stop.
func (l List) Full() bool { return len(l) > Max }

// longest is how many bytes a sentence may have: some of them quote the playbook.
const longest = 1000

func shortened(s string) string {
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "…"
}

// Sort orders by file (first seen first), then line, column, severity, message, and drops exact repeats:
// a file that is included twice is wrong once.
func (l *List) Sort() {
	order := map[string]int{}
	for _, d := range *l {
		if _, ok := order[d.Pos.File]; !ok {
			order[d.Pos.File] = len(order)
		}
	}
	slices.SortStableFunc(*l, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(order[a.Pos.File], order[b.Pos.File]),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Message, b.Message),
		)
	})
	*l = slices.CompactFunc(*l, func(a, b Diagnostic) bool {
		return a.Pos == b.Pos && a.Severity == b.Severity && a.Message == b.Message
	})
}

// Locate fills in the source lines, taken from lines, which may return nil for a file it does not have.
func (l List) Locate(lines func(file string) []string) {
	for i := range l {
		if l[i].Pos.Line < 1 {
			continue
		}
		if all := lines(l[i].Pos.File); l[i].Pos.Line <= len(all) {
			l[i].Source = all[l[i].Pos.Line-1]
		}
	}
}

// Count returns how many diagnostics have the severity.
func (l List) Count(s Severity) int {
	n := 0
	for _, d := range l {
		if d.Severity == s {
			n++
		}
	}
	return n
}

// HasErrors reports whether anything in the list stops a run.
func (l List) HasErrors() bool { return l.Count(Error) > 0 }
