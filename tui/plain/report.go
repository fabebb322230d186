package plain

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"moon/events"
	"moon/events/rundir"
	"moon/internal/termtext"
	"moon/plan"
	"moon/secret"
	"moon/tui/status"
)

// Report is what is left in the terminal when the screen has closed: the outcome, what failed with the end of its
// output, and where everything is.
type Report struct {
	Plan  *plan.Plan  // required
	Run   *events.Run // required
	Dir   string      // of the run
	ASCII bool
	Words bool // and no marks at all
}

// Write prints the report.
func (r Report) Write(w io.Writer) error {
	var b strings.Builder
	e := r.Run.Result
	c := r.Run.Counts
	word, by := r.outcomeWord()
	excluded, needless := r.leftOut()
	fmt.Fprintf(&b, "moon  %s   %s   %d of %d   %s%s\n", termtext.CleanName(r.Plan.RootFile), word,
		c.Settled()-c.Omitted-excluded+needless, e.TotalSteps-excluded, Duration(e.Duration)+waitedText("   ", e.Waited), by)
	marks := [...]string{"✓", "~", "✗", "-", "⊘", "×", "·", "≠"}
	if r.ASCII {
		marks = [...]string{"v", "~", "X", "-", "/", "c", ".", "#"}
	}
	if r.Words {
		// In words the mark of a failure is the heading of its details; the others would only repeat the words after the numbers.
		marks = [...]string{"", "", "FAILED", "", "", "", "", ""}
	}
	var counts []string
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
		{marks[3], e.Skipped - excluded + needless, "skipped", false},
		{marks[4], excluded, "excluded", false},
		{marks[5], e.Cancelled, "cancelled", false},
		{marks[6], e.NotRun - needless, "not run", false},
		{marks[7], e.Outdated, "with an earlier definition", false},
	} {
		switch {
		case !p.show && p.n == 0:
		case r.Words:
			counts = append(counts, fmt.Sprintf("%d %s", p.n, p.word))
		default:
			counts = append(counts, fmt.Sprintf("%s %d %s", p.mark, p.n, p.word))
		}
	}
	between := "   "
	if r.Words {
		between = ", "
	}
	fmt.Fprintf(&b, "  %s\n", strings.Join(counts, between))
	for i := range r.Run.Steps {
		r.writeFailure(&b, i, marks[2])
	}
	if e.Error != "" {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(marks[2]+" exports: "+termtext.CleanName(e.Error)))
	}
	if len(e.Hosts) > 0 {
		b.WriteByte('\n')
		writeRecap(&b, e.Hosts)
	}
	listOverrides(&b, r.Plan, r.Run, r.arrowSign())
	listMarked(&b, r.Run, r.markedLine)
	if r.Dir != "" {
		fmt.Fprintf(&b, "\nOutput   %s\n", ShortHome(r.outputPath()))
	}
	if e.Outcome != events.RunDone && (e.Failed+e.NotRun+e.Cancelled > 0 || e.Error != "") {
		fmt.Fprint(&b, "Resume   moon resume                              (review first)\n")
		if e.Failed > 0 {
			fmt.Fprint(&b, "Retry    moon resume --retry-failed --no-tui      (retries failures, then the rest)\n")
		}
	}
	// Signs that are empty leave two blanks at the end.
	text := strings.ReplaceAll(b.String(), "  \n", "\n")
	switch {
	case r.Words:
		text = strings.ReplaceAll(text, secret.Mask, "(hidden)")
	case r.ASCII:
		text = strings.ReplaceAll(text, secret.Mask, secret.ASCIIMask)
	}
	_, err := io.WriteString(w, text)
	return err
}

// markedLine is a step and its place.
func (r Report) markedLine(i int) string {
	ps := &r.Plan.Steps[i]
	name := termtext.CleanName(r.Plan.NameWithItems(i, cmp.Or(r.Run.Steps[i].Name, ps.Title())))
	if on := status.On(ps); on != "" && on != "localhost" {
		name += "   " + termtext.CleanName(on)
	}
	return name + "   " + termtext.CleanName(ps.Origin.Full())
}

// arrowSign stands between what was and what is.
func (r Report) arrowSign() string {
	switch {
	case r.Words:
		return " becomes "
	case r.ASCII:
		return " -> "
	}
	return " → "
}

// leftOut counts the steps that were excluded, and those of rescues for which there was no need. What is not to be run is no part of
// what there was to do, and what nobody needed is done.
func (r Report) leftOut() (excluded, needless int) {
	for i := range r.Run.Steps {
		switch s := &r.Run.Steps[i]; {
		case s.Outcome == events.Skipped && (s.Excluded || r.Plan.Steps[i].Excluded):
			excluded++
		case s.Outcome == events.Omitted && s.Reason == "not needed":
			needless++
		}
	}
	return excluded, needless
}

// outcomeWord is how the run ended, and by is who ended it before its end, where that is not said with it.
func (r Report) outcomeWord() (word, by string) {
	bad := r.Run.Result.Failed > 0
	switch r.Run.Result.Outcome {
	case events.RunDone:
		if r.Run.Counts.Changed > 0 {
			return "DONE (changed)", ""
		}
		return "DONE", ""
	case events.RunFailed:
		return "FAILED", ""
	case events.RunInterrupted:
		if bad {
			return "FAILED", "   interrupted"
		}
		return "INTERRUPTED", ""
	case events.RunStopped:
		if bad {
			return "FAILED", "   stopped by you"
		}
		return "STOPPED by you", ""
	}
	return "ENDED", ""
}

// outputPath is where the output is: of the only step that failed, or else of all of them.
func (r Report) outputPath() string {
	all := rundir.Output(r.Dir)
	one := ""
	for i := range r.Run.Steps {
		s := &r.Run.Steps[i]
		if !hasFailed(s) || len(s.Out) == 0 {
			continue
		}
		if one != "" {
			return all
		}
		one = filepath.Join(all, s.Out[len(s.Out)-1])
	}
	for _, suffix := range []string{".err", ".out"} { // what went wrong stands where there is any
		if info, err := os.Stat(one + suffix); one != "" && err == nil && info.Size() > 0 {
			return one + suffix
		}
	}
	return all
}

func (r Report) writeFailure(b *strings.Builder, i int, mark string) {
	s := &r.Run.Steps[i]
	if !hasFailed(s) {
		return
	}
	ps := &r.Plan.Steps[i]
	name := r.Plan.NameWithItems(i, cmp.Or(s.Name, ps.Title()))
	head, rest, _ := strings.Cut(s.Error, "\n")
	// The words of an exit status would only repeat the number.
	if s.HasRC && head == fmt.Sprintf("exit status %d", s.RC) {
		head = fmt.Sprintf("rc %d", s.RC)
	}
	line := []string{mark + " " + termtext.CleanName(name)}
	if on := status.On(ps); on != "" && on != "localhost" {
		line = append(line, termtext.CleanName(on))
	}
	line = append(line, termtext.CleanName(head), termtext.CleanName(ps.Origin.Full()))
	fmt.Fprintf(b, "\n%s\n", strings.Join(line, "   "))
	lines := strings.Split(rest, "\n")
	if rest == "" {
		return
	}
	for _, line := range lines[max(len(lines)-8, 0):] {
		fmt.Fprintf(b, "    %s\n", termtext.CleanName(line))
	}
}

// ShortHome writes the home directory as ~.
func ShortHome(path string) string {
	if home, err := os.UserHomeDir(); err == nil && home != "/" && strings.HasPrefix(path, home+"/") {
		return "~" + path[len(home):]
	}
	return path
}
