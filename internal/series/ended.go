package series

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"moon/events/fact"
	"moon/internal/app"
	"moon/internal/termtext"
	"moon/plan"
)

// Outcome is what became of one of several playbooks.
type Outcome string

// The outcomes. A refused one could not be planned, or its flags do not fit.
const (
	Done    Outcome = "done"
	Failed  Outcome = "failed"
	Stopped Outcome = "stopped"
	Refused Outcome = "refused"
	NotRun  Outcome = "not run"
)

// Ended is how a playbook has ended.
type Ended struct {
	*Member
	Outcome Outcome
	Why     string
	Run     string // "" if there was none
	Code    int    // the exit code that moon would have had with this playbook alone
}

// WhyNot says why a playbook is not run after what has become of others, or "".
func WhyNot(m *Member, ends []*Ended, policy fact.Policy) string {
	// Direct imports are enough: what those import from was decided before them.
	for _, n := range m.Needs {
		e := ends[slices.IndexFunc(ends, func(e *Ended) bool { return e.Member == n.Of })]
		word := map[Outcome]string{Failed: "failed", Stopped: "was stopped", Refused: "could not be run", NotRun: "was not run"}[e.Outcome]
		if word != "" {
			return "it imports from " + e.Given + ", which " + word
		}
	}
	for _, e := range ends {
		switch {
		case e.Outcome == Stopped:
			return e.Given + " was stopped"
		case e.Code == app.ExitDisk && e.Run != "": // the next one could not be recorded either
			return e.Given + " could not be recorded"
		case e.Outcome == Failed && policy != fact.Continue:
			return e.Given + " failed; --on-failure continue runs what does not import from it"
		case e.Outcome == Refused && policy != fact.Continue:
			return e.Given + " could not be run; --on-failure continue runs what does not import from it"
		}
	}
	return ""
}

// Summarise names each playbook, how it ended and its run. The exit code is the highest of theirs.
func Summarise(w io.Writer, ends []*Ended) error {
	counts, code, width := map[Outcome]int{}, app.ExitDone, 0
	for _, e := range ends {
		counts[e.Outcome]++
		code, width = max(code, e.Code), max(width, len(e.Given))
	}
	var parts []string
	for _, o := range []Outcome{Done, Failed, Stopped, Refused, NotRun} {
		if counts[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[o], o))
		}
	}
	fmt.Fprintf(w, "\n%s: %s\n", plan.CountOf(len(ends), "playbook"), strings.Join(parts, ", "))
	for _, e := range ends {
		line := fmt.Sprintf("  %-*s  %-7s  %s", width, termtext.CleanName(e.Given), e.Outcome, cmp.Or(e.Run, termtext.CleanName(e.Why)))
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	if code == app.ExitDone {
		return nil
	}
	return app.NewExit(code, "")
}
