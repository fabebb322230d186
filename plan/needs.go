package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Place is a part of a plan: a step, or a scope with all that is in it.
type Place struct {
	Step  int
	Scope int // 0: it is the step
}

// Need is an order written by the user: a step, or all that is in a scope, must have ended.
type Need struct {
	Place        // the Step of a scope is -1
	On    string // success, failure, finish or changed
}

// StepsAt are the steps of a place: from the first, up to the one before the last.
func (p *Plan) StepsAt(at Place) (first, last int) {
	if at.Scope > 0 {
		return p.Scopes[at.Scope].First, p.Scopes[at.Scope].Last
	}
	return at.Step, at.Step + 1
}

// NeedsOf is what a step needs: by itself, and before that by what it is in, from the outside.
func (p *Plan) NeedsOf(step int) []Need {
	needs := p.Steps[step].Needs
	for at := p.Steps[step].Scope; at >= 0; at = p.Scopes[at].Parent {
		if inherited := p.Scopes[at].Needs; len(inherited) > 0 {
			needs = append(slices.Clip(inherited), needs...)
		}
	}
	return needs
}

// NeedRef names what is needed for people: step-0003 «build», or block «deploy».
func (p *Plan) NeedRef(n Need) string {
	if n.Scope > 0 {
		return p.ScopeRef(n.Scope)
	}
	return p.StepRef(n.Step)
}

// ScopeRef names a scope by its id, if it has one: block «deploy».
func (p *Plan) ScopeRef(scope int) string {
	s := &p.Scopes[scope]
	name := s.UserID
	if name == "" {
		name = s.Name
	}
	return fmt.Sprintf("%s «%s»", s.Kind, name)
}

// NeedsText lists needs by the ids of what is needed, as they are written: `build, lint (finish)`.
func (p *Plan) NeedsText(needs []Need) string {
	var parts []string
	for i, n := range needs {
		id := ""
		if n.Scope > 0 {
			id = p.Scopes[n.Scope].UserID
		} else {
			id = p.Steps[n.Step].UserID
		}
		if n.On != "success" {
			id += " (" + n.On + ")"
		}
		// An id in a loop stands for one step or scope of each round.
		if i == 0 || parts[len(parts)-1] != id {
			parts = append(parts, id)
		}
	}
	return strings.Join(parts, ", ")
}

// NeededScopes are the scopes that are needed as a whole, by their numbers.
func (p *Plan) NeededScopes() map[int]bool {
	var needed map[int]bool
	note := func(needs []Need) {
		for _, n := range needs {
			if n.Scope == 0 {
				continue
			}
			if needed == nil {
				needed = map[int]bool{}
			}
			needed[n.Scope] = true
		}
	}
	for i := range p.Steps {
		note(p.Steps[i].Needs)
	}
	for i := range p.Scopes {
		note(p.Scopes[i].Needs)
	}
	return needed
}

// HasSteps reports whether a host has steps in a scope, before the step until.
func (p *Plan) HasSteps(scope, until int, host string) bool {
	for i := p.Scopes[scope].First; i < until; i++ {
		if p.Steps[i].Host == host {
			return true
		}
	}
	return false
}
