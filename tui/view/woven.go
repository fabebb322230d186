package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"moon/events"
	"moon/events/steplog"
)

// WovenName names the output of a scope: that of all its steps, woven together. A step has only its own, and "".
func (m *State) WovenName(n int) string {
	if m.Tree.Step(n) >= 0 {
		return ""
	}
	r := m.Tree.Steps(n)
	// With another plan other steps have these numbers.
	return fmt.Sprintf("steps %d to %d of %s", r.From, r.To, m.Plan.Digest)
}

// PartsOf are the attempts of the steps of a scope that may have printed something.
func (m *State) PartsOf(n int) (parts []steplog.Part) {
	r := m.Tree.Steps(n)
	m.Store.Read(func(run *events.Run) {
		again := map[[2]int]time.Time{} // when attempts after the first began, by step and number
		for _, p := range m.Store.History.Ring {
			if e, ok := p.Event.(events.StepRetrying); ok {
				again[[2]int{p.Step, e.Attempt}] = later(p.At, e.Due)
			}
		}
		for i := r.From; i < min(r.To, len(run.Steps)); i++ {
			s := &run.Steps[i]
			began := s.Started
			for k, prefix := range s.Out {
				// Not every attempt has left an output, so they are numbered back from the latest.
				began = later(began, again[[2]int{i, s.Attempt - (len(s.Out) - 1 - k)}])
				parts = append(parts, steplog.Part{
					Prefix: prefix, Step: i, Began: began.Sub(run.Started), Ended: s.State == events.Settled || k < len(s.Out)-1,
				})
			}
		}
	})
	slices.SortStableFunc(parts, func(a, b steplog.Part) int { return cmp.Compare(a.Began, b.Began) })
	return parts
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
