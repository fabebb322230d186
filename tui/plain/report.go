package plain

import (
	"fmt"
	"io"
	"os"
	"strings"

	"moon/events"
	"moon/events/output"
	"moon/plan"
)

// Report is what is left in the terminal when the screen has closed: the outcome, what failed with the end of its
// output, and where everything is.
type Report struct {
	Plan  *plan.Plan  // required
	Run   *events.Run // required
	Dir   string      // of the run
	ASCII bool
}

// Write prints the report.
func (r Report) Write(w io.Writer) error {
	var b strings.Builder
	e := r.Run.Result
	c := r.Run.Counts
	fmt.Fprintf(&b, "moon  %s   %s   %d of %d   %s\n", output.CleanName(r.Plan.RootFile), r.word(), c.Settled()-c.Omitted, e.TotalSteps, Duration(e.Duration))
	marks := [...]string{"✓", "~", "✗", "-", "⊘", "×", "·"}
	if r.ASCII {
		marks = [...]string{"v", "~", "X", "-", "/", "c", "."}
	}
	excluded := 0
	for i := range r.Run.Steps {
		if s := &r.Run.Steps[i]; s.Outcome == events.Skipped && (s.Excluded || r.Plan.Steps[i].Excluded) {
			excluded++
		}
	}
	b.WriteString(" ")
	for _, p := range []struct {
		mark string
		n    int
		word string
		show bool
	}{
		{marks[0], c.OK, "ok", true},
		{marks[1], c.Changed, "changed", true},
		{marks[2], e.Failed, "failed", true},
		{marks[2], e.Ignored, "failed (ignored)", false},
		{marks[3], e.Skipped - excluded, "skipped", false},
		{marks[4], excluded, "excluded", false},
		{marks[5], e.Cancelled, "cancelled", false},
		{marks[6], e.NotRun, "not run", false},
	} {
		if p.show || p.n > 0 {
			fmt.Fprintf(&b, " %s %d %s  ", p.mark, p.n, p.word)
		}
	}
	b.WriteString("\n")
	for i := range r.Run.Steps {
		r.failure(&b, i, marks[2])
	}
	if r.Dir != "" {
		fmt.Fprintf(&b, "\nOutput   %s\n", ShortHome(r.Dir+"/out"))
	}
	_, err := io.WriteString(w, strings.ReplaceAll(b.String(), "  \n", "\n"))
	return err
}

func (r Report) word() string {
	switch r.Run.Result.Outcome {
	case events.RunDone:
		if r.Run.Counts.Changed > 0 {
			return "DONE with changes"
		}
		return "DONE"
	case events.RunFailed:
		return "FAILED"
	case events.RunInterrupted:
		return "INTERRUPTED"
	case events.RunStopped:
		return "STOPPED by you"
	}
	return "ENDED"
}

func (r Report) failure(b *strings.Builder, i int, mark string) {
	s := &r.Run.Steps[i]
	if s.Outcome != events.Failed && s.Outcome != events.Timeout && s.Outcome != events.Lost || s.Ignored || s.Rescued {
		return
	}
	ps := &r.Plan.Steps[i]
	name := s.Name
	if name == "" {
		name = ps.Title()
	}
	head, rest, _ := strings.Cut(s.Error, "\n")
	fmt.Fprintf(b, "\n%s %s   %s   %s\n", mark, output.CleanName(name), output.CleanName(head), output.CleanName(ps.Origin.String()))
	lines := strings.Split(rest, "\n")
	if rest == "" {
		return
	}
	for _, line := range lines[max(len(lines)-8, 0):] {
		fmt.Fprintf(b, "    %s\n", output.CleanName(line))
	}
}

// ShortHome writes the home directory as ~.
func ShortHome(path string) string {
	if home, err := os.UserHomeDir(); err == nil && home != "/" && strings.HasPrefix(path, home+"/") {
		return "~" + path[len(home):]
	}
	return path
}
