package tui

import (
	"moon/events"
	"moon/plan"
)

// givenUp are the steps that failed and were skipped by a person. What uses their results gets those of a skipped step.
type givenUp map[int]bool

func (g *givenUp) see(step int, of *events.Step) {
	switch {
	case of.State == events.Settled && of.Outcome == events.Skipped && of.Reason == string(events.SkipUser) && of.Attempt > 0:
		if *g == nil {
			*g = givenUp{}
		}
		(*g)[step] = true
	case len(*g) > 0:
		delete(*g, step)
	}
}

// used is a step of those whose result a step is still to use, or -1.
func (g givenUp) used(p *plan.Step) int {
	if len(g) == 0 {
		return -1
	}
	for _, u := range p.Unknowns {
		for _, step := range u.Steps {
			if g[step] {
				return step
			}
		}
	}
	return -1
}

// doubtful reports whether a step is still to run that uses a result that was skipped.
func (m *model) doubtful(step int) bool {
	return m.tree.faces[step].Pending() && m.givenUp.used(&m.plan.Steps[step]) >= 0
}
