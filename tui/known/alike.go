package known

import (
	"fmt"

	"moon/events"
	"moon/plan/hostnames"
	"moon/tui/status"
	"moon/tui/tree"
)

// AlikeKey is the same for steps of a task that do the same on several hosts; "" for one that has no others.
func (m *Run) AlikeKey(step int, diff *events.Diff) string {
	p := &m.Plan.Steps[step]
	task := status.Task(m.Plan, p.Scope)
	if task < 0 {
		return ""
	}
	key := fmt.Sprint(task, "\x00", tree.StepTitle(p))
	if diff != nil {
		key += "\x00" + string(diff.Kind) + "\x00" + diff.Path + "\x00" + diff.Summary + "\x00" + diff.Text
	}
	return hostnames.Nameless(p.Host, key)
}

// DiffOf is what a step changed or, before it runs, would change; or nil.
func (m *Run) DiffOf(step int, steps []events.Step) *events.Diff {
	if step < len(steps) && (steps[step].Diff != nil || steps[step].Attempt > 0) {
		return steps[step].Diff
	}
	if f := m.Predicted.Step(step); f != nil && f.Error == "" && f.Skipped == "" && f.Diff.Kind != "" {
		return &f.Diff
	}
	return nil
}

// StepsCompared bounds how many steps of a task are compared for a frame.
const StepsCompared = 400
