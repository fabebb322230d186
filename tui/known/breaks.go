package known

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"moon/events"
	"moon/tui/status"
	"moon/tui/tree"
)

// Breakpoint is a breakpoint at a step: as it was set, and how often it has stopped the run.
type Breakpoint struct {
	events.Break
	Hits int
}

// IsConditional reports whether it stops only sometimes.
func (s *Breakpoint) IsConditional() bool { return s.When != "" || s.After > 0 }

// breakAtStep takes over what is known of a step's breakpoint. It is called with the store locked: what is shared is copied.
func (m *Run) breakAtStep(step int, of *events.Step) {
	if of.Break || len(m.Breaks) > 0 {
		m.places = nil
	}
	switch {
	case of.Break && of.Stop != nil:
		m.Breaks[step] = Breakpoint{of.Stop.Set, of.Stop.Hits}
	case of.Break:
		m.Breaks[step] = Breakpoint{Break: events.Break{Step: step}}
	case len(m.Breaks) > 0:
		delete(m.Breaks, step)
	}
}

// BreakPlace is a breakpoint with all its steps.
type BreakPlace struct {
	Breakpoint
	status.Stop
}

// BreakPlaces lists the breakpoints in the order of the plan.
func (m *Run) BreakPlaces() []BreakPlace {
	if m.places == nil && len(m.Breaks) > 0 {
		m.places = m.findPlaces()
	}
	return m.places
}

func (m *Run) findPlaces() (list []BreakPlace) {
	at := func(step int) events.Breakpoint {
		return events.Breakpoint{Set: m.Breaks[step].Break, Hits: m.Breaks[step].Hits}
	}
	for _, s := range status.Stops(m.Plan, slices.Collect(maps.Keys(m.Breaks)), at) {
		list = append(list, BreakPlace{Breakpoint{s.Set, s.Hits}, s})
	}
	return list
}

// Text says what a breakpoint is for, next to where it is.
func (p *BreakPlace) Text() string {
	words := strings.TrimSpace(p.Clauses())
	if p.Hits > 0 {
		words = strings.TrimSpace(fmt.Sprintf("%s  hit %d", words, p.Hits))
	}
	return words
}

// Title is what the breakpoint is at: a step or a task, with its hosts.
func (p *BreakPlace) Title(m *Run) string {
	title := tree.StepTitle(&m.Plan.Steps[p.Steps[0]])
	if p.Task >= 0 && len(p.Steps) > 1 {
		title = m.Plan.Scopes[p.Task].Name
	}
	return strings.TrimSpace(title + " " + p.Where(m.Plan))
}
