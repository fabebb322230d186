package engine

import (
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"

	"moon/engine/compact"
	"moon/engine/state"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/plan"
	"moon/plan/saved"
	"moon/plan/selector"
	"moon/plan/source"
)

// reading gives what a plan that is made again takes a source for: see plan.Options.Reads.
type reading = func(now *source.Source) *source.Source

// growth is the plan with the rounds of open loops, while it is made. The run continues meanwhile, with the plan that it has: nothing that
// happens to it is an input of the new one.
//
//	found ──beginGrowth──▶ goroutine: plan again ──grown──▶ takeIn: the steps of the loops end, the plan is replaced
type growth struct {
	from   *plan.Plan
	all    map[int]*foundItems
	next   planned
	why    string         // all of them together cannot be planned
	failed map[int]string // why those cannot whose items alone are wrong
	over   bool           // it can be taken in
}

// grown says that a plan has been made.
type grown struct{ *growth }

func (grown) input() {}

// beginGrowth plans again with the items that steps of open loops have found, all that are known by now.
func (s *steering) beginGrowth() {
	if s.growing != nil || len(s.found) == 0 || s.fatal != nil || s.state.StoppedByUser() {
		return
	}
	g := s.newGrowth()
	reads := s.ours.adopt(g.from)
	s.growing = g
	go func() {
		defer func() {
			if broken := recover(); broken != nil { // as a panic it would take the run with it
				text := fmt.Sprintf("internal error: %v; please report this\n%s", broken, debug.Stack())
				g.why = compact.Cut(s.secrets.Redact(text), compact.MaxError)
			}
			s.put(grown{g})
		}()
		s.plan(g, reads)
	}()
}

func (s *steering) newGrowth() *growth {
	return &growth{from: s.state.Plan(), all: maps.Clone(s.found), failed: map[int]string{}}
}

// open takes in what was planned, in one turn: what comes in until then is in the state, and the plan only adds steps.
func (s *steering) open() {
	g := s.growing
	switch {
	case len(s.found) == 0 || s.fatal != nil:
		return
	// A person stops the run: nothing is planned any more. The items are kept for those who resume it.
	case s.state.StoppedByUser():
		s.growing = nil
		s.endFound(s.found)
		return
	// Found by a process before this one: what comes after the loop would start, as its step has ended.
	case g == nil && slices.ContainsFunc(slices.Collect(maps.Values(s.found)), func(one *foundItems) bool { return one.ended }):
		g = s.newGrowth()
		s.plan(g, s.ours.adopt(g.from))
	case g == nil || !g.over || s.state.Schedules(): // an attempt that is to follow another gets its time first
		return
	case s.changesRunning(g): // they end under the plan that has them
		return
	}
	s.growing = nil
	s.takeIn(g)
}

// changesRunning reports whether the new plan lacks steps that run, as a loop that ran again has found other items, or has them with other
// definitions, as an include has set what they use.
func (s *steering) changesRunning(g *growth) bool {
	if g.next.plan == nil || len(s.running) == 0 {
		return false
	}
	now := s.state.Plan()
	of := state.Renumbered(g.next.plan, now, fact.RunReplanned{Expanded: []int{0}, Keeps: true})
	same := 0
	for i, j := range of {
		if s.running[j] != nil && g.next.plan.Steps[i].Digest == now.Steps[j].Digest {
			same++
		}
	}
	return same < len(s.running)
}

// takeIn ends the steps of open loops and replaces the plan by the one that has their rounds.
func (s *steering) takeIn(g *growth) {
	for _, step := range slices.Sorted(maps.Keys(g.all)) {
		if why, failed := g.failed[step]; failed || g.why != "" {
			if !failed {
				why = g.why
			}
			s.failFound(g.all[step], step, why)
			delete(g.all, step)
		}
	}
	if len(g.all) == 0 {
		return
	}
	expanded := slices.Sorted(maps.Keys(g.all))
	s.endFound(g.all)
	if s.fatal != nil || g.next.plan.Digest == s.state.Plan().Digest { // found again, and the same
		return
	}
	if err := s.swap(g.next, fact.RunReplanned{Expanded: expanded}); err != nil {
		s.fail(err)
	}
}

// endFound ends the steps of open places that have found what they are for.
func (s *steering) endFound(all map[int]*foundItems) {
	for _, step := range slices.Sorted(maps.Keys(all)) {
		one := all[step]
		delete(s.found, step)
		if one.skipped != "" {
			s.end(one, step, exec.Result{Outcome: events.Skipped, Reason: events.SkipWhen, Detail: one.skipped})
		} else if one.report != nil {
			one.report.Step = step // the plan may have been replaced since it came
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

// failFound ends the step of an open loop whose rounds cannot be planned.
func (s *steering) failFound(one *foundItems, step int, why string) {
	delete(s.found, step)
	if ps := &s.state.Plan().Steps[step]; ps.Loops() {
		why = "the rounds of this loop cannot be planned: " + why
	} else if ps.Moves() {
		why = "what comes after this cannot be planned: " + why
	} else if ps.Rereads() {
		why = "with what the inventory says now this cannot be planned: " + why
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

// plan makes the plan of a growth, without the loops whose items alone cannot be planned. It is called from anywhere.
func (s *steering) plan(g *growth, reads reading) {
	g.next, g.why = s.grow(g.from, g.all, reads)
	if g.why == "" {
		return
	}
	rest := maps.Clone(g.all)
	for _, step := range slices.Sorted(maps.Keys(g.all)) {
		if _, why := s.grow(g.from, map[int]*foundItems{step: g.all[step]}, reads); why != "" {
			g.failed[step] = why
			delete(rest, step)
		}
	}
	if len(rest) == 0 {
		g.why = ""
		return
	}
	g.next, g.why = s.grow(g.from, rest, reads)
}

// grow plans with the items that were found, from the files that were read for the plan there is.
func (s *steering) grow(p *plan.Plan, all map[int]*foundItems, reads reading) (planned, string) {
	o := p.Again()
	o.Growing, o.Facts.Hosts = true, p.Basis.KnownFacts()
	// Cloned, as the plan that is there keeps its options.
	if o.Opened = maps.Clone(o.Opened); o.Opened == nil {
		o.Opened = map[string]plan.Found{}
	}
	for step, one := range all {
		o.Opened[p.Steps[step].Path] = one.items
	}
	o.Reads = reads
	next, g, ds := buildFrom(p, o)
	if next == nil {
		return planned{}, firstMistake(ds)
	}
	made := planned{next, g}
	s.holdGrown(made)
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

// warnUnmet says which steps were named for when they come, and never came.
func (s *steering) warnUnmet() {
	p := s.state.Plan()
	chosen := &p.Basis.O.Select
	for _, flag := range []struct {
		name      string
		selectors []string
	}{{"--only", chosen.Only}, {"--skip", chosen.Skip}} {
		for _, text := range flag.selectors {
			if len(selector.Match(p, text)) == 0 {
				s.add(fact.Warned{Step: -1, Message: flag.name + " " + text + " named nothing: no such step came in this run"})
			}
		}
	}
}
