package known

import (
	"moon/events"
	"moon/plan"
	"moon/tui/status"
)

// RestoreSteps takes back the exclusion of the steps that were not skipped for it yet.
func (m *Run) RestoreSteps(ranges []events.Range) {
	var steps []int
	m.Store.Read(func(run *events.Run) {
		for _, r := range ranges {
			for i := r.From; i < min(r.To, len(run.Steps)); i++ {
				if run.Steps[i].Restorable() && !m.Plan.Steps[i].Excluded {
					steps = append(steps, i)
				}
			}
		}
	})
	// Not under the lock of the store, which sending takes too.
	for _, r := range events.RangesOf(steps) {
		m.Send(events.Include{Range: r})
	}
}

// CountExcluded counts the steps that the plan leaves out, which no command brings back.
func (m *Run) CountExcluded(ranges []events.Range) (n int32) {
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			if m.Plan.Steps[i].Excluded {
				n++
			}
		}
	}
	return n
}

// WhyShaped says why steps cannot be excluded, or restored, without others.
func (m *Run) WhyShaped(ranges []events.Range, exclude bool) (why string) {
	m.Store.Read(func(run *events.Run) { why = status.Shaped(m.Plan, run.Steps, ranges, exclude) })
	return why
}

// IsOpen reports whether a failed step waits to be decided about, or is the one that the run is paused on after an edit.
func (m *Run) IsOpen(step int) (open bool) {
	if step == m.Shot.PausedAt && m.Position().Edited() {
		return true
	}
	m.Store.Read(func(run *events.Run) { open = step < len(run.Steps) && run.Steps[step].Open })
	return open
}

// IsRestorable reports whether an excluded step among these may still run.
func (m *Run) IsRestorable(ranges []events.Range) (some bool) {
	m.Store.Read(func(run *events.Run) {
		for _, r := range ranges {
			for i := r.From; i < min(r.To, len(run.Steps)) && !some; i++ {
				some = m.Tree.Faces[i] == status.Excluded && !m.Plan.Steps[i].Excluded && run.Steps[i].State != events.Settled
			}
		}
	})
	return some
}

// CanRunAgain reports whether a step is done, so that a person may have it run again.
func (m *Run) CanRunAgain(step int) bool {
	if m.Position().Failed(step) {
		return false
	}
	var done bool
	m.Store.Read(func(run *events.Run) { done = step < len(run.Steps) && status.Done(&run.Steps[step]) })
	return done
}

// MayRunAgain reports whether the run is at rest, as running a step again wants it.
func (m *Run) MayRunAgain() bool {
	return m.Shot.Phase != events.Running && m.Shot.Phase != events.Done && m.Shot.Counts.Running == 0
}

// ListUnreached returns the hosts that did not answer when the plan was made, but for those that are left out.
func (m *Run) ListUnreached() []*plan.Unreached {
	var list []*plan.Unreached
	open := map[string]*plan.Unreached{}
	for i := range m.Plan.Unreached {
		open[m.Plan.Unreached[i].Host] = &m.Plan.Unreached[i]
	}
	// A host is excluded when it has no step still to run; the order is that of the plan.
	for i := 0; i < len(m.Plan.Steps) && len(open) > 0; i++ {
		if u := open[m.Plan.Steps[i].Host]; u != nil && m.Tree.Faces[i].Pending() {
			list = append(list, u)
			delete(open, u.Host)
		}
	}
	return list
}

// FindUnreached returns why a host did not answer when the plan was made, or nil if it did. Once something runs, that says more.
func (m *Run) FindUnreached(host string) *plan.Unreached {
	if m.Shot.Phase != events.Review {
		return nil
	}
	for i := range m.Plan.Unreached {
		if u := &m.Plan.Unreached[i]; u.Host == host {
			return u
		}
	}
	return nil
}

// StepsOf are the steps of a host.
func (m *Run) StepsOf(host string) []events.Range {
	return m.Position().Everything().Where(func(step int) bool { return m.Plan.Steps[step].Host == host })
}
