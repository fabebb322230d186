package tui

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
// continue without it. They are found away from the screen, whenever such a decision was made.
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

// askLacking has them found, if it is not known any more which they are.
func (m predicting) askLacking() tea.Cmd {
	l := &m.lacking
	if !l.stale || l.asking || len(m.plan.Steps) == 0 || m.isRecorded() {
		return nil
	}
	l.stale, l.asking = false, true
	p, gone := m.plan, maps.Clone(l.gone)
	return func() tea.Msg {
		found := bind.Lacking(p, gone)
		return came{func(m *model) tea.Cmd {
			m.lacking.asking = false
			if m.plan == p {
				predicting{m.view}.takeLacking(found)
			}
			return nil
		}}
	}
}

func (m predicting) takeLacking(found map[int]*plan.Missing) {
	l := &m.lacking
	before := l.of
	l.of = found
	if !l.tell {
		return
	}
	l.tell = false
	if more := m.newIn(found, before); len(more) > 0 {
		m.showMessage("also skipped: " + m.usersOf(more))
	} else if fewer := m.newIn(before, found); len(fewer) > 0 {
		m.showMessage("no longer skipped: " + m.usersOf(fewer))
	}
}

// newIn are the steps that one has and another has not.
func (m *knownRun) newIn(one, other map[int]*plan.Missing) (steps []int) {
	for i := range one {
		if _, had := other[i]; !had && i < len(m.plan.Steps) {
			steps = append(steps, i)
		}
	}
	slices.Sort(steps)
	return steps
}

// usersOf names steps that use a result: "2 steps that use its result: install, verify".
func (m *knownRun) usersOf(steps []int) string {
	const most = 3
	words := fmt.Sprintf("%d steps that use its result", len(steps))
	if len(steps) == 1 {
		words = "1 step that uses its result"
	}
	var names []string
	for _, i := range steps[:min(len(steps), most)] {
		names = append(names, draw.Plain(m.stepTitle(i)))
	}
	if more := len(steps) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return words + ": " + strings.Join(names, ", ")
}

// missingValue is the value for lack of which a step that is still to run will be skipped, or nil.
func (m *knownRun) missingValue(step int) *plan.Missing {
	if !m.tree.Faces[step].Pending() {
		return nil
	}
	if l := m.plan.Steps[step].Lacks; l != nil {
		return l
	}
	return m.lacking.of[step]
}

// lackNote is the note of its row.
func lackNote(l *plan.Missing) string {
	if len(l.Steps) == 0 {
		return "will skip"
	}
	return "will skip: uses " + events.StepID(l.Steps[0])
}

// lackingNow counts the steps that are still to run and will be skipped for lack of a value.
func (m *knownRun) lackingNow() (n int) {
	for i := range m.lacking.of {
		if i < len(m.tree.Faces) && m.missingValue(i) != nil {
			n++
		}
	}
	return n
}
