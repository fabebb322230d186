package known

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/tui/debugger"
	"moon/tui/status"
	"moon/tui/tree"
)

// breakAtStep takes over what is known of a step's breakpoint. It is called with the store locked: what is shared is copied.
func (m *Run) breakAtStep(step int, of *events.Step) {
	if of.Break || len(m.Breaks) > 0 {
		m.places = nil
	}
	if b, set := debugger.BreakAt(step, of); set {
		m.Breaks[step] = b
	} else if len(m.Breaks) > 0 {
		delete(m.Breaks, step)
	}
}

// BreakPlaces lists the breakpoints in the order of the plan.
func (m *Run) BreakPlaces() []status.Stop {
	if m.places == nil && len(m.Breaks) > 0 {
		m.places = status.Stops(m.Plan, slices.Collect(maps.Keys(m.Breaks)), func(step int) events.Breakpoint { return m.Breaks[step] })
	}
	return m.places
}

// BreakText says what a breakpoint is for, next to where it is.
func BreakText(p *status.Stop) string {
	words := strings.TrimSpace(p.Set.Clauses())
	if p.Hits > 0 {
		words = strings.TrimSpace(fmt.Sprintf("%s  hit %d", words, p.Hits))
	}
	return words
}

// BreakTitle is what a breakpoint is at: a step or a task, with its hosts.
func (m *Run) BreakTitle(p *status.Stop) string {
	title := tree.StepTitle(&m.Plan.Steps[p.Steps[0]])
	if p.Task >= 0 && len(p.Steps) > 1 {
		title = m.Plan.Scopes[p.Task].Name
	}
	return strings.TrimSpace(title + " " + p.Where(m.Plan))
}
