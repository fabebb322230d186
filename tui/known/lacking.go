package known

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
	"moon/plan/bind"
	"moon/tui/draw"
	"moon/tui/status"
)

// lacking are the steps that will be skipped for lack of a value: a person excludes the step that would give it, or has the run
// continue without it. They are found in the background, whenever such a decision was made.
type lacking struct {
	gone   map[int]plan.Absence
	of     map[int]*plan.Missing
	stale  bool
	asking bool
	tell   bool // a decision of the user waits for what comes of it
}

func (l *lacking) seeStep(step int, of *events.Step) {
	why, gone := status.Gone(of)
	if had, was := l.gone[step]; was == gone && had == why {
		return
	}
	l.stale = true
	if !gone {
		delete(l.gone, step)
		return
	}
	if l.gone == nil {
		l.gone = map[int]plan.Absence{}
	}
	l.gone[step] = why
}

// AskLacking has them found, if it is not known any more which they are.
func (m *Run) AskLacking() tea.Cmd {
	l := &m.lacking
	if !l.stale || l.asking || len(m.Plan.Steps) == 0 || m.IsRecorded() {
		return nil
	}
	l.stale, l.asking = false, true
	p, gone := m.Plan, maps.Clone(l.gone)
	return func() tea.Msg {
		found := bind.Lacking(p, gone)
		return Answer{func() string {
			m.lacking.asking = false
			if m.Plan == p {
				return m.takeLacking(found)
			}
			return ""
		}}
	}
}

func (m *Run) takeLacking(found map[int]*plan.Missing) (news string) {
	l := &m.lacking
	before := l.of
	l.of = found
	if !l.tell {
		return ""
	}
	l.tell = false
	if more := m.newIn(found, before); len(more) > 0 {
		return "also skipped: " + m.usersOf(more)
	} else if fewer := m.newIn(before, found); len(fewer) > 0 {
		return "no longer skipped: " + m.usersOf(fewer)
	}
	return ""
}

// newIn are the steps that one has and another has not.
func (m *Run) newIn(one, other map[int]*plan.Missing) (steps []int) {
	for i := range one {
		if _, had := other[i]; !had && i < len(m.Plan.Steps) {
			steps = append(steps, i)
		}
	}
	slices.Sort(steps)
	return steps
}

// usersOf names steps that use a result: "2 steps that use its result: install, verify".
func (m *Run) usersOf(steps []int) string {
	const most = 3
	words := fmt.Sprintf("%d steps that use its result", len(steps))
	if len(steps) == 1 {
		words = "1 step that uses its result"
	}
	var names []string
	for _, i := range steps[:min(len(steps), most)] {
		names = append(names, draw.Plain(m.StepTitle(i)))
	}
	if more := len(steps) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return words + ": " + strings.Join(names, ", ")
}

// TellLacking lets the next answer say which steps are skipped because of what was just decided.
func (m *Run) TellLacking() { m.lacking.tell = true }

// MissingValue is the value for lack of which a step that is still to run will be skipped, or nil.
func (m *Run) MissingValue(step int) *plan.Missing {
	if !m.Tree.Faces[step].Pending() {
		return nil
	}
	if l := m.Plan.Steps[step].Lacks; l != nil {
		return l
	}
	return m.lacking.of[step]
}

// CountLacking counts the steps that are still to run and will be skipped for lack of a value.
func (m *Run) CountLacking() (n int) {
	for i := range m.lacking.of {
		if i < len(m.Tree.Faces) && m.MissingValue(i) != nil {
			n++
		}
	}
	return n
}
