package engine

import (
	"errors"
	"maps"
	"slices"

	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
	"moon/plan/saved"
)

// open plans again with the items that steps of open loops have found, once nothing else runs. It reports whether it has to wait for
// that. Rounds are only added: what there is keeps its results and decisions.
func (s *steering) open() (waits bool) {
	if len(s.found) == 0 || s.fatal != nil {
		return false
	}
	if len(s.running) > 0 {
		return true
	}
	all := s.found
	s.found = map[int]*foundItems{}
	// A person stops the run: nothing is planned any more. The items are kept for those who resume it.
	if s.state.StoppedByUser() {
		s.endFound(all)
		return false
	}
	next, why := s.grow(all)
	if why != "" {
		s.endUnplanned(all)
		next, why = s.grow(all)
	}
	if len(all) == 0 {
		return false
	}
	if why != "" { // only all of them together cannot be planned
		for _, step := range slices.Sorted(maps.Keys(all)) {
			s.failFound(all[step], step, why)
		}
		return false
	}
	s.endFound(all)
	if s.fatal != nil || next.plan.Digest == s.state.Plan().Digest { // found again, and the same
		return false
	}
	if err := s.replace(next, fact.RunReplanned{Expanded: slices.Sorted(maps.Keys(all))}); err != nil {
		s.fail(err)
	}
	return false
}

// endFound ends the steps of open loops that have found their items.
func (s *steering) endFound(all map[int]*foundItems) {
	for _, step := range slices.Sorted(maps.Keys(all)) {
		if one := all[step]; one.skipped != "" {
			s.end(one, step, exec.Result{Outcome: events.Skipped, Reason: events.SkipWhen, Detail: one.skipped})
		} else if one.report != nil {
			s.settle(*one.report)
		} else if !one.ended {
			fields := map[string]any{"items": one.items.Items}
			if one.items.Order != nil {
				fields["order"] = one.items.Order
			}
			if one.items.Forms != nil {
				fields["forms"] = one.items.Forms
			}
			s.end(one, step, exec.Result{Outcome: events.OK, Fields: fields})
		}
	}
}

// endUnplanned lets those steps fail whose items alone cannot be planned, and takes them out of the list.
func (s *steering) endUnplanned(all map[int]*foundItems) {
	for _, step := range slices.Sorted(maps.Keys(all)) {
		if _, why := s.grow(map[int]*foundItems{step: all[step]}); why != "" {
			s.failFound(all[step], step, why)
			delete(all, step)
		}
	}
}

// failFound ends the step of an open loop whose rounds cannot be planned.
func (s *steering) failFound(one *foundItems, step int, why string) {
	if ps := &s.state.Plan().Steps[step]; ps.Loops() {
		why = "the rounds of this loop cannot be planned: " + why
	} else if ps.Adds != nil {
		why = "what this adds cannot be planned: " + why
	} else {
		why = "what is named here cannot be planned: " + why
	}
	if one.ended { // in the process before this one, which planned them, or was killed before
		s.retire(errors.New(why))
		return
	}
	s.end(one, step, exec.Result{Outcome: events.Failed, Error: why})
}

// grow plans with the items that were found, from the files that were read for the plan there is.
func (s *steering) grow(all map[int]*foundItems) (planned, string) {
	p := s.state.Plan()
	o := p.Again()
	o.Growing, o.Facts.Hosts = true, p.Basis.KnownFacts()
	// Cloned, as the plan that is there keeps its options.
	if o.Opened = maps.Clone(o.Opened); o.Opened == nil {
		o.Opened = map[string]plan.Found{}
	}
	for step, one := range all {
		o.Opened[p.Steps[step].Path] = one.items
	}
	o.Reads = s.ours.adopt(p)
	next, g, ds := buildFrom(p, o)
	if next == nil {
		return planned{}, firstMistake(ds)
	}
	made := planned{next, g}
	s.hold(made)
	return made, ""
}

// findAgain takes up the items of open loops that were found by a process that ended before it had planned with them.
func (s *steering) findAgain() {
	p := s.state.Plan()
	for _, step := range p.OpenPlaces() {
		result, ok := s.results.Registered(step)
		items, is := result["items"].([]any)
		if p.Steps[step].Adds != nil {
			items, is = added(result)
		}
		if !ok || !is || !s.state.Settled(step) || events.Bad.Has(s.state.Outcome(step)) {
			continue
		}
		one, err := saved.Found(items, p.Steps[step].NoLog)
		if err != nil {
			continue // it came from a journal, which is JSON
		}
		// Not those of what the journal has: JSON does not say them.
		one.Order, one.Forms = result["order"], result["forms"]
		s.found[step] = &foundItems{items: one, ended: true}
	}
}
