package known

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"moon/plan"
	"moon/tui/debugger"
	"moon/tui/draw"
)

// lacking are the steps that will be skipped for lack of a value, which are found in the background.
type lacking struct {
	debugger.Lacking

	asking bool
	tell   bool // a decision of the user waits for what comes of it
}

// AskLacking has them found, if it is not known any more which they are.
func (m *Run) AskLacking() tea.Cmd {
	l := &m.lacking
	if !l.IsStale() || l.asking || m.IsRecorded() {
		return nil
	}
	l.asking = true
	// Made here: what it reads of the run must not change under a goroutine.
	p, find := m.Plan, l.Finder()
	return func() tea.Msg {
		found := find()
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
	more, fewer := l.Take(found)
	// Only what follows from a decision is worth saying; the rest is seen in the tree.
	if !l.tell {
		return ""
	}
	l.tell = false
	if len(more) > 0 {
		return "also skipped: " + m.usersOf(more)
	} else if len(fewer) > 0 {
		return "no longer skipped: " + m.usersOf(fewer)
	}
	return ""
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
	return m.lacking.Of(m.Position(), step)
}

// CountLacking counts the steps that are still to run and will be skipped for lack of a value.
func (m *Run) CountLacking() int {
	return m.lacking.Count(m.Position())
}

// LackingWithout are the steps that would lack a result if some that have not begun were marked as done.
func LackingWithout(m *Run, steps []int) []int {
	return debugger.LackingWithout(m.Plan, m.Position(), steps)
}
