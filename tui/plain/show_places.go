package plain

import (
	"fmt"
	"strings"

	"moon/events"
	"moon/internal/termtext"
	"moon/plan"
)

// noteFound takes down what the step of an open place has found.
func (s *Show) noteFound(step int, e events.StepCompleted) {
	if s.plan == nil || step < 0 || step >= len(s.plan.Steps) || s.plan.Steps[step].Place == nil {
		return
	}
	items, ok := e.Result["items"].([]any)
	if !ok {
		return
	}
	if s.found == nil {
		s.found = map[string]string{}
	}
	ps := &s.plan.Steps[step]
	if s.found[ps.Path] = plan.CountOf(len(items), "round"); !ps.Loops() {
		s.found[ps.Path] = foundText(ps.Place.What, items)
	}
}

// writePlaces says what became of each place whose steps only the run could know.
func (s *Show) writePlaces(b *strings.Builder) {
	if s.plan == nil {
		return
	}
	var lines []string
	for i := range s.plan.Steps {
		if ps := &s.plan.Steps[i]; ps.Place != nil && !ps.Excluded {
			text := ps.Action + " " + ps.Summary
			if ps.Place.What == "host" {
				text = "delegate_to " + ps.Summary
			}
			lines = append(lines, s.Line(i)+"   "+termtext.CleanName(plan.FirstLine(text))+" → "+s.placeEnd(i))
		}
	}
	if len(lines) == 0 {
		return
	}
	b.WriteString("\nOpen places\n")
	for _, line := range lines[:min(places, len(lines))] {
		fmt.Fprintf(b, "  %s\n", line)
	}
	if more := len(lines) - places; more > 0 {
		fmt.Fprintf(b, "  and %d more; moon show --events has all\n", more)
	}
}

// placeEnd is what the run has found at a place, or why nothing.
func (s *Show) placeEnd(step int) string {
	if step >= len(s.run.Steps) {
		return "not reached"
	}
	ps, now := &s.plan.Steps[step], &s.run.Steps[step]
	switch {
	case events.Bad.Has(now.Outcome) && now.State == events.Settled:
		return "failed, and not planned"
	case now.State == events.Settled && now.Outcome == events.Skipped:
		return "skipped"
	case now.State != events.Settled || now.Outcome == events.Omitted || now.Outcome == events.Cancelled:
		return "not reached"
	case ps.Open():
		return "left open"
	}
	if text, ok := s.found[ps.Path]; ok {
		return text
	}
	return plan.CountOf(ps.Place.Items, "round")
}
