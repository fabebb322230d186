package markdown

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/internal/report/reading"
	"moon/internal/termtext"
	"moon/tui/status"
)

// The bounds of a summary: it is for a place that shows one screen, and GitHub refuses more than a mebibyte.
const (
	mostFailures = 20
	mostChanges  = 50
	mostHosts    = 100
	mostWarnings = 10
	slowest      = 5
	tailLines    = 20
	tailText     = 8 << 10
	slow         = 100 * time.Millisecond // what is shorter is not worth a line
)

// Summary writes what matters of a run that was taken in.
type Summary struct {
	*reading.Reading

	b strings.Builder
}

// Write writes it.
func (s *Summary) Write(w io.Writer) error {
	s.writeHead()
	s.writeFailures()
	s.writeMarked()
	s.writeChanges()
	s.writeHosts()
	s.writeSlowest()
	for n, text := range s.Warnings {
		if n == 0 {
			s.printf("\n### Warnings\n\n")
		}
		if n == mostWarnings {
			s.printf("- and %d more\n", len(s.Warnings)-n)
			break
		}
		s.printf("- %s\n", escape(text))
	}
	_, err := io.WriteString(w, s.b.String())
	return err
}

func (s *Summary) printf(format string, args ...any) { fmt.Fprintf(&s.b, format, args...) }

var grades = map[string]string{"good": "✅", "bad": "❌", "open": "⏸"}

func (s *Summary) writeHead() {
	word, grade := s.Outcome()
	e := s.Result()
	s.printf("## %s %s: %s\n\n", grades[grade], escape(termtext.CleanName(s.Run.Playbook)), word)
	var counts []string
	for _, c := range s.Counts() {
		counts = append(counts, fmt.Sprintf("%d %s", c.N, c.Word))
	}
	took := reading.Duration(e.Duration)
	if e.Waited >= time.Second {
		took += ", waited " + reading.Duration(e.Waited)
	}
	s.printf("%s of %d steps in %s · run `%s`\n", strings.Join(counts, ", "), s.Steps(), took, s.Run.ID)
	if e.Error != "" {
		s.printf("\n**%s**\n", escape(termtext.CleanName(e.Error)))
	}
}

func (s *Summary) writeFailures() {
	failed := s.Failed()
	if len(failed) == 0 {
		return
	}
	s.printf("\n### Failed\n")
	for n, i := range failed {
		if n == mostFailures {
			s.printf("\nand %d more\n", len(failed)-n)
			break
		}
		head, rest := s.Why(i)
		s.printf("\n%s\n", strings.TrimSpace("**"+escape(s.named(i))+"** "+code(s.Origin(i))))
		lines := append([]string{head}, s.tail(i, rest)...)
		s.printf("\n%s\n", fenced(lines))
	}
}

// tail is the end of what a failed step has said.
func (s *Summary) tail(i int, rest []string) []string {
	if n := s.Attempts(i); len(rest) == 0 && n > 0 {
		lines, _, err := s.Output(i, n-1, tailText)
		if err != nil {
			return []string{"output: " + termtext.CleanName(err.Error())}
		}
		for _, line := range lines {
			rest = append(rest, line.Text)
		}
	}
	return rest[max(len(rest)-tailLines, 0):]
}

func (s *Summary) writeChanges() {
	var list []int
	for i := range s.Steps() {
		if s.State(i) == status.Changed {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return
	}
	title := "Changed"
	if s.Run.Check {
		title = "Would change"
	}
	s.printf("\n<details><summary>%s: %d</summary>\n\n", title, len(list))
	for n, i := range list {
		if n == mostChanges {
			s.printf("- and %d more\n", len(list)-n)
			break
		}
		what := ""
		if d := s.Run.Steps[i].Diff; d != nil && d.Kind != events.ChangeUnknown {
			what = ": " + escape(termtext.CleanName(d.Words()))
		}
		s.printf("- %s%s\n", escape(s.named(i)), what)
	}
	s.printf("\n</details>\n")
}

// writeMarked lists the steps that count as done because a person has said so.
func (s *Summary) writeMarked() {
	var list []int
	for i := range s.Steps() {
		if s.Run.Steps[i].Marked {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return
	}
	s.printf("\n### Marked as done by hand\n\n")
	for n, i := range list {
		if n == mostChanges {
			s.printf("- and %d more\n", len(list)-n)
			break
		}
		s.printf("- %s %s\n", escape(s.named(i)), code(s.Origin(i)))
	}
}

func (s *Summary) writeHosts() {
	hosts := s.Hosts()
	if len(hosts) == 0 {
		return
	}
	s.printf("\n| host | ok | changed | unreachable | failed | skipped | rescued | ignored |\n| --- | --: | --: | --: | --: | --: | --: | --: |\n")
	for i := range hosts {
		if i == mostHosts {
			s.printf("\nand %d more hosts\n", len(hosts)-i)
			break
		}
		s.printf("| %s |", escape(termtext.CleanName(hosts[i].Host)))
		for _, n := range status.Tallies(&hosts[i]) {
			s.printf(" %d |", n)
		}
		s.printf("\n")
	}
}

func (s *Summary) writeSlowest() {
	var list []int
	for i := range s.Steps() {
		if s.Took(i) >= slow {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(s.Took(b), s.Took(a)) })
	s.printf("\n<details><summary>Slowest</summary>\n\n")
	for _, i := range list[:min(slowest, len(list))] {
		s.printf("- %s %s\n", reading.Duration(s.Took(i)), escape(s.named(i)))
	}
	s.printf("\n</details>\n")
}

// named is what a step is called, with its host.
func (s *Summary) named(i int) string {
	if host := s.Host(i); host != "" {
		return host + ": " + s.Name(i)
	}
	return s.Name(i)
}

// escape makes a text fit to stand in a line: none of it is markup, a link, a mention or HTML.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case strings.ContainsRune("\\`*_{}[]#+!|~>", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@': // which would notify a user of that name
			b.WriteString("&#64;")
		default:
			b.WriteRune(r)
		}
	}
	// An address would be a link.
	return strings.NewReplacer("://", "&#58;//", "www.", "www&#46;").Replace(b.String())
}

// code is a text in code, or nothing.
func code(text string) string {
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// fenced is lines as a block of code, behind a fence that is not in them.
func fenced(lines []string) string {
	text, fence := strings.Join(lines, "\n"), "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + text + "\n" + fence
}
