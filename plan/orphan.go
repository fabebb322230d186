package plan

import (
	"fmt"

	"moon/internal/diag"
	"moon/plan/prior"
)

// Prior is what runs of the playbook have made before, as an input of the plan, and what is to become of that which no step gives any more.
type Prior struct {
	State   *prior.State `json:"-"`                 // nil: nothing is known
	Policy  OrphanFate   `json:"policy,omitempty"`  // "": as the playbook says, or else they are kept
	Edited  bool         `json:"edited,omitempty"`  // what was changed since is removed anyway
	Destroy bool         `json:"destroy,omitempty"` // no step gives anything any more
	Replace []string     `json:"replace,omitempty"` // selectors of recorded steps whose things are removed and made again
	Only    []string     `json:"only,omitempty"`    // of Destroy: selectors of recorded steps; what was built on them goes along

	// Settled says that the orphans have been found, and Orphans is what they are: in a plan that is made again.
	Settled bool              `json:"-"`
	Orphans []Orphan          `json:"orphans,omitempty"`
	Moved   map[string]string `json:"moved,omitempty"` // as Plan.Moved
}

// OrphanFate is what becomes of what is recorded and that no step gives any more.
type OrphanFate string

// The fates. An orphan is stuck if it is to be removed and nobody knows how.
const (
	OrphanKept      OrphanFate = "keep"
	OrphanRemoved   OrphanFate = "remove"
	OrphanForgotten OrphanFate = "forget"
	OrphanStuck     OrphanFate = "stuck"
)

// OrphanFates are those that a person may ask for.
var OrphanFates = []string{string(OrphanKept), string(OrphanRemoved), string(OrphanForgotten)}

// Orphan is something that runs have made and that no step of the plan gives any more.
type Orphan struct {
	Thing   prior.Thing `json:"thing"`
	Keys    []prior.Key `json:"keys"` // what is settled when it is gone: itself, and what it takes along
	Fate    OrphanFate  `json:"fate"`
	Why     string      `json:"why,omitempty"`     // of one that is stuck or forgotten, in words
	Deposed bool        `json:"deposed,omitempty"` // its step makes something else now
	Of      string      `json:"of,omitempty"`      // of one that is deposed: the path of that step
	Late    bool        `json:"late,omitempty"`    // it is removed after the new work, not before
	Waits   []int       `json:"waits,omitempty"`   // orphans that must be gone before it: what was built on it
}

// OrphanOf is what a step removes that no step gives any more; nil: nothing.
func (p *Plan) OrphanOf(s *Step) *Orphan {
	if s.Orphan < 1 || s.Orphan > len(p.Orphans) {
		return nil
	}
	return &p.Orphans[s.Orphan-1]
}

// WrittenAt is the place at which a step can be edited. One that removes what no step gives any more is written nowhere now: that is the
// playbook as a whole.
func (p *Plan) WrittenAt(s *Step) diag.Origin {
	if p.OrphanOf(s) != nil {
		return diag.Origin{File: p.RootFile, Line: 1}
	}
	return s.Origin
}

// Removed reports whether a step of the plan removes it.
func (o *Orphan) Removed() bool { return o.Fate == OrphanRemoved }

// What is what it is, in words: "file /etc/motd".
func (o *Orphan) What() string { return WhatIs(&o.Thing) }

// WhatIs is what a thing is, in words: that which a step as a whole did has the title of the step.
func WhatIs(t *prior.Thing) string {
	if t.Type == prior.StepUndo {
		if t.Title != "" {
			return "«" + t.Title + "»"
		}
		return t.Name
	}
	return t.Type + " " + t.Name
}

// MadeBy says which step of which run has made it, and where that was written.
func (o *Orphan) MadeBy() string {
	t := &o.Thing
	text := t.Step
	if t.File != "" {
		text += fmt.Sprintf(" (%s:%d)", t.File, t.Line)
	}
	if t.Run != "" {
		text += " in run " + t.Run
	}
	return text
}

// Machine is the host that the step's work is done on.
func (s *Step) Machine() string {
	if s.Delegate != "" {
		return s.Delegate
	}
	return s.Host
}

// PhaseOf is how many plays are before that of a step, and the name of the play.
func (p *Plan) PhaseOf(step int) (phase int, play string) {
	for i := range p.Scopes {
		s := &p.Scopes[i]
		if s.Kind != ScopePlay {
			continue
		}
		if s.First <= step && step < s.Last {
			return phase, s.Name
		}
		phase++
	}
	return phase, ""
}
