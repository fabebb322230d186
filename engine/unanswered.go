package engine

import (
	"fmt"
	"maps"
	"slices"

	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// planUnanswered plans again without what steps had found while planning that have found nothing in the run: a host could not be reached,
// or never came to the step. What was planned with it then waits for a value that does not come, as if nothing had been asked. It reports
// whether it has to wait until nothing runs.
func (s *steering) planUnanswered() (waits bool) {
	if len(s.unanswered) == 0 {
		return false
	}
	p := s.state.Plan()
	var gone []int
	for step, f := range p.Ahead.Findings {
		if s.unanswered[f.Path] && s.state.Settled(step) {
			if s.hasAnswer(step) {
				delete(s.unanswered, f.Path)
				continue
			}
			gone = append(gone, step)
		}
	}
	switch {
	case len(gone) == 0, s.fatal != nil, s.trouble != nil, s.state.StoppedByUser():
		return false
	case len(s.running) > 0, len(s.found) > 0:
		return true
	}
	slices.Sort(gone)
	// From what was read and is known, as when a place opens: no host is asked.
	o := p.Again()
	o.Growing, o.Facts.Hosts, o.Facts.Findings = true, p.Basis.KnownFacts(), maps.Clone(o.Facts.Findings)
	for _, step := range gone {
		path := p.Ahead.Findings[step].Path
		delete(o.Facts.Findings, path)
		delete(s.unanswered, path)
	}
	o.Reads = s.ours.adopt(p)
	next, g, ds := buildFrom(p, o)
	if next == nil {
		s.retire(fmt.Errorf("the plan was made with the result of %s, which did not run, and cannot be made without it: %s",
			p.After(gone), firstMistake(ds)))
		return false
	}
	if !s.changesRest(next) {
		return false
	}
	made := planned{next, g}
	s.hold(made)
	s.add(fact.Warned{Step: -1, Message: "planned again without the result of " + p.After(gone) + ", which did not run"})
	if err := s.replace(made, fact.RunReplanned{Expanded: gone}); err != nil {
		s.fail(err)
	}
	return false
}

// hasAnswer reports whether a step that was asked while planning has a result of the run. What a person takes for done has none.
func (s *steering) hasAnswer(step int) bool {
	switch s.state.Outcome(step) {
	case events.OK, events.Changed:
		_, registered := s.results.Registered(step)
		return registered || s.state.Plan().Steps[step].Register == ""
	default:
		return false
	}
}

// changesRest reports whether another plan differs in what may still run.
func (s *steering) changesRest(next *plan.Plan) bool {
	p, left := s.state.Plan(), s.leftHosts()
	there := make([]bool, len(p.Steps))
	for i, j := range state.Counterparts(next, p, true) {
		switch {
		case left[next.Steps[i].Host]:
		case j < 0, !s.state.Settled(j) && p.Steps[j].Digest != next.Steps[i].Digest:
			return true
		}
		if j >= 0 {
			there[j] = true
		}
	}
	for j := range there {
		if !there[j] && !s.state.Settled(j) && !left[p.Steps[j].Host] {
			return true
		}
	}
	return false
}

// leftHosts are the hosts that nothing more is done on: those of plays that have failed for good.
func (s *steering) leftHosts() map[string]bool {
	p, left := s.state.Plan(), map[string]bool{}
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Clears }) {
		return left
	}
	for _, step := range s.results.Failed() {
		scope := p.Steps[step].Scope
		for scope >= 0 && p.Scopes[scope].Play == nil {
			scope = p.Scopes[scope].Parent
		}
		if scope >= 0 {
			left[p.Steps[step].Host] = true
		}
	}
	return left
}
