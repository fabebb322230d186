package plain

import (
	"moon/events"
	"moon/plan"
)

// Classes count steps by how far they are. Each step is in one of them.
type Classes struct {
	Done    int `json:"done"`     // succeeded, or with a failure that was ignored or rescued
	Failed  int `json:"failed"`   // and nothing made up for it
	Running int `json:"running"`  // or waiting for the next attempt
	Held    int `json:"held"`     // by something that a person decides
	Waiting int `json:"waiting"`  // for other steps, or for their turn
	NotDone int `json:"not_done"` // skipped, excluded, cancelled or never reached
}

// groupJSON is a part of a plan that holds steps, with how far they are.
type groupJSON struct {
	Path    string  `json:"path"`
	Kind    string  `json:"kind"`
	Name    string  `json:"name"`
	Origin  string  `json:"origin"`
	Timeout string  `json:"timeout,omitempty"` // for all of its steps together
	Classes Classes `json:"classes"`
}

// take counts a step.
func (c *Classes) take(s *events.Step) {
	switch s.State {
	case events.Active, events.Backoff:
		c.Running++
	case events.Held:
		c.Held++
	case events.Waiting:
		c.Waiting++
	case events.Settled:
		switch {
		case s.Outcome == events.OK, s.Outcome == events.Changed, s.Ignored, s.Rescued:
			c.Done++
		case events.Bad.Has(s.Outcome):
			c.Failed++
		default:
			c.NotDone++
		}
	}
}

func classesOf(steps []events.Step) (c Classes) {
	for i := range steps {
		c.take(&steps[i])
	}
	return c
}

// groupsOf are the parts of a plan that somebody has written as one, from the outermost. Rounds of loops and the parts of plays are not:
// there may be as many as there are steps.
func groupsOf(p *plan.Plan, steps []events.Step) []groupJSON {
	list := []groupJSON{}
	for i := range p.Scopes {
		s := &p.Scopes[i]
		switch s.Kind {
		case plan.ScopeBlock, plan.ScopeInclude, plan.ScopePreset, plan.ScopePlay, plan.ScopeRole, plan.ScopeLoop:
		default:
			continue
		}
		if s.Last > len(steps) || s.Steps() == 0 {
			continue
		}
		list = append(list, groupJSON{
			Path: s.Path, Kind: string(s.Kind), Name: s.Name, Origin: s.Origin.String(), Timeout: s.TimeoutText(),
			Classes: classesOf(steps[s.First:s.Last]),
		})
	}
	return list
}
