package state

import (
	"slices"
	"time"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
	"moon/plan/counterpart"
)

// replanning puts one plan in the place of another, and carries over what was done.
type replanning struct{ rerunning }

// carrying is how a plan takes the place of another.
type carrying struct {
	of         []int // which step of the plan before each one is; -1: it is new
	generation int
	keeps      bool   // what ended well keeps its result, however it is defined now
	accepts    bool   // and nobody is asked about that
	expanded   []int  // steps of the plan before that brought the new ones: these are all that is new
	decisions  choice // that are kept of a step that has no result and is defined otherwise now
}

// stays reports whether an end is one that nothing is decided about any more: good, ignored, or made up for by a rescue.
func stays(k *ending, n *graph.Node) bool {
	switch {
	case events.Bad.Has(k.outcome):
		return !k.held && (k.ignored || n.Rescued && !k.stale && k.outcome != events.Lost && k.outcome != events.Unreachable)
	default:
		return k.outcome != events.Cancelled
	}
}

// Counterparts says which step of the old plan each of the new one is; journals from before went by their paths alone.
func Counterparts(p, old *plan.Plan, keeps bool) []int {
	// Journals from before this rule must fold as they did then.
	if keeps {
		return counterpart.Of(p, old)
	}
	at := make(map[string]int, len(old.Steps))
	for i := range old.Steps {
		at[old.Steps[i].Path] = i
	}
	of := make([]int, len(p.Steps))
	for i := range p.Steps {
		of[i] = -1
		if j, ok := at[p.Steps[i].Path]; ok {
			of[i] = j
		}
	}
	return of
}

func (s *replanning) load(p *plan.Plan, g *graph.Graph) {
	s.plan, s.graph, s.jobs = p, g, map[int]string{}
	s.nodes = make([]node, len(g.Nodes))
	s.choices = make([]choice, len(p.Steps))
	s.breaks, s.confirmers = map[int]*breaks{}, map[int][]string{}
	s.kept, s.behind = make([]*ending, len(p.Steps)), nil
	s.delayed, s.later, s.live, s.counted = map[graph.ID]time.Time{}, map[int]time.Time{}, nil, map[int]int{}
	s.queued, s.nextDue = map[graph.ID]time.Time{}, time.Time{}
	s.used, s.lent, s.turns = make([]int, len(g.Pools)), 0, map[int]int{}
	s.ends = make([]*ending, len(p.Steps))
	s.tried, s.began = make([][]string, len(p.Steps)), map[int]events.Ran{}
	// Attempts start at one again; carry puts the earlier ones back.
	s.names, s.errors, s.outs = map[int]string{}, map[int]string{}, map[int]string{}
	s.ready = readyHeap{rank: s.ranks(p, g)}
	s.blocked, s.fenced, s.solo, s.again, s.held, s.reruns = nil, nil, nil, nil, nil, nil
	s.setLimits()
	s.skips, s.notifies = map[int]events.StepSkipped{}, map[int][]int{}
	for i := range p.Steps {
		for _, by := range p.Steps[i].Notifiers {
			s.notifies[by] = append(s.notifies[by], i)
		}
	}
	s.left, s.active, s.open = len(g.Nodes), 0, 0
	s.counts = events.Counts{}
	s.budget = -1
	s.fence = nil
	s.exported = nil
	for i := range s.nodes {
		// Nodes start with all edges unresolved; roots are reached by arriveRoots.
		s.nodes[i].pending = int32(len(g.In(graph.ID(i))))
		s.nodes[i].cause = -1
	}
}

// Replan folds the replacement of the plan by an edited one. A step that ended well keeps its result, and counts as outdated if
// its definition changed: only a command runs it again. Of the others, one that is the same keeps every decision about it; one
// that changed keeps its place, its breakpoint and its exclusion, and must be decided anew.
func (s *replanning) Replan(r fact.Record, p *plan.Plan, g *graph.Graph) {
	f := r.Fact.(fact.RunReplanned)
	s.now, s.mono = r.At, r.Mono
	was := s.pause
	undecided := -1
	// The failure that a person is deciding about: a rescue must not run until that is done.
	if s.paused && was.Reason == events.PauseFailure {
		undecided = was.Step
	}
	if was.Step >= 0 && was.Step < len(s.plan.Steps) {
		was.Step = slices.Index(Renumbered(p, s.plan, f), was.Step)
	}
	s.sameRun = true
	changed := breakpoint | excluded
	// What differs in a step that was there comes from the rounds that it waits for, or that notify it.
	if f.Fixed || len(f.Expanded) > 0 { // who overrides a value has seen which steps change; what asks to be confirmed asks again
		changed = ^confirmed
	}
	// A group may set names that steps behind it used with other values, which were approved with those. So were those that used what was
	// found while planning.
	if slices.ContainsFunc(f.Expanded, func(step int) bool {
		_, asked := s.plan.Found(step)
		return asked || s.plan.Steps[step].Place != nil && s.plan.Steps[step].Place.Group
	}) {
		changed &^= approved
	}
	// The closure sees the old plan: carry calls it before it loads the new one.
	with := carrying{of: Renumbered(p, s.plan, f), generation: f.Generation, keeps: f.Keeps, decisions: changed, expanded: f.Expanded}
	s.carry(p, g, with, func(step int, old *node) (*ending, choice) {
		if len(f.Expanded) > 0 {
			return s.endOf(step, old), s.choices[step]
		}
		if s.Done(step) {
			return s.ends[step], s.choices[step]
		}
		// What failed and was rescued is over, unless the run waits to learn what becomes of it. Forgotten, it would take
		// all that came after it along.
		if events.Bad.Has(old.outcome) && s.graph.Nodes[s.id(step)].Rescued && !s.isStale(step) && step != undecided {
			return s.ends[step], s.choices[step]
		}
		// Another value for one host of a play is no reason to try again where others have failed.
		if end := s.ends[step]; f.Fixed && s.plan.Dialect.Rules().OverHosts && end != nil && events.Bad.Has(old.outcome) &&
			(old.state == settled || old.state == failed) {
			again := *end
			again.held = old.state == failed
			return &again, s.choices[step]
		}
		return nil, s.choices[step]
	})
	if s.paused {
		s.setPause(s.pausedAgain(was))
	}
}

// endOf is how a step has ended that is over, whatever its end was: rounds that are added take nothing back.
func (s *replanning) endOf(step int, old *node) *ending {
	switch end := s.ends[step]; {
	case old.state == settled && old.outcome == events.Skipped && end == nil: // without having begun
		skip := s.skips[step]
		return &ending{
			outcome: events.Skipped, digest: s.plan.Steps[step].Digest, name: skip.Name, reason: skip.Reason, detail: skip.Detail,
			edges: old.byEdges,
		}
	case end == nil || old.state != settled && old.state != failed:
		return nil
	case end.held == (old.state == failed):
		return end
	default:
		again := *end
		again.held = old.state == failed
		return &again
	}
}

// pausedAgain is where a pause is after the plan was replaced. It moves to what comes before its step now, if anything does.
func (s *replanning) pausedAgain(was fact.RunPaused) fact.RunPaused {
	// Its step is over now, so the pause has lost its reason.
	if was.Reason == events.PauseEnd || was.Step >= 0 && s.node(was.Step).state == settled {
		return pausedByUser()
	}
	if was.Step < 0 || s.node(was.Step).state != pending {
		return was
	}
	for step := range s.plan.Steps {
		if s.node(step).state == ready {
			return fact.RunPaused{Reason: events.PauseStep, Step: step}
		}
	}
	return pausedByUser()
}

// Resume folds that another process goes on with a run. What ended well keeps its result, and so does what failed and
// was rescued; what was interrupted or lost, or failed, is to be run again, and in a run under review to be approved
// again.
func (s *replanning) Resume(r fact.Record, p *plan.Plan, g *graph.Graph) {
	f := r.Fact.(fact.RunResumed)
	s.now, s.mono = r.At, r.Mono
	// The clock of the process before has stopped; its sums are continued.
	s.clock.Continue(r.At, r.Mono)
	s.opts = f.Options
	// What was exported right before moon was killed stays what it was, however often it would be evaluated. A failure is tried again.
	exported := s.exported
	if exported != nil && (exported.Error != "" || p.Digest != s.plan.Digest) {
		exported = nil
	}
	lost, again := map[int]fact.LostAs{}, []int{}
	for _, l := range f.Lost {
		lost[l.Step] = l.As
		if l.As == fact.LostRetry {
			again = append(again, l.Step)
		}
	}
	// Results that were secret and not stored are needed again, so these steps run again although they are done.
	needed := map[int]bool{}
	for _, step := range f.Again {
		needed[step] = true
	}
	message, running := "resumed", ""
	if len(again) > 0 {
		running = s.plan.After(again)
		message = "resumed; approve or exclude what was lost: " + running
	}
	s.finished, s.leaving, s.signalled, s.paused = false, false, false, s.opts.Review // until it is said below where
	s.begun, s.reviewed = true, true
	s.sameRun = false
	with := carrying{
		of: Counterparts(p, s.plan, f.Keeps), generation: f.Generation, keeps: f.Keeps, accepts: f.Changed == fact.ChangedKeep,
		decisions: breakpoint | excluded,
	}
	s.carry(p, g, with, func(step int, old *node) (*ending, choice) {
		before := s.choices[step]
		switch as, isLost := lost[step]; {
		case as == fact.LostOK:
			return &ending{outcome: events.OK, digest: s.plan.Steps[step].Digest, name: s.started(step), out: s.outs[step]}, before
		case as == fact.LostFail && old.state == settled: // it says itself how it was lost
			return s.ends[step], before
		case as == fact.LostFail:
			return &ending{outcome: events.Lost, name: s.started(step), out: s.outs[step], err: lostError}, before
		case needed[step]:
			return nil, before
		case isLost:
			return nil, before &^ (approved | confirmed)
		case old.state != settled:
			return nil, before
		case s.Done(step): // also if it looked, and found its work done: looking again, it might find undone what a later step undid
			return s.ends[step], before
		case events.Bad.Has(old.outcome) && s.graph.Nodes[s.id(step)].Rescued && !s.isStale(step):
			return s.ends[step], before
		case events.Bad.Has(old.outcome), old.outcome == events.Cancelled:
			return nil, before &^ (approved | confirmed)
		}
		return nil, before
	})
	s.exported = exported // until anything runs
	if running != "" {
		s.publish(-1, events.Warning{Message: "lost, and to be run again: " + running})
	}
	if len(f.Again) > 0 {
		s.publish(-1, events.Warning{Message: "to be run again, because what it gave was secret, and is not kept: " +
			s.plan.After(f.Again)})
	}
	if s.opts.Review {
		s.setPause(fact.RunPaused{Reason: events.PauseUser, Step: -1, Message: message})
	}
	if changed := s.Outdated(events.Range{To: len(p.Steps)}); len(changed) > 0 && f.Changed == fact.ChangedRerun {
		s.queueReruns(changed)
	}
}

// carry loads a plan in the place of another. keep says of a step of the old plan which result and which decisions it keeps.
func (s *replanning) carry(p *plan.Plan, g *graph.Graph, with carrying, keep func(step int, old *node) (*ending, choice)) {
	old := s.plan
	choices, kept, stops := make([]choice, len(p.Steps)), make([]*ending, len(p.Steps)), map[int]*breaks{}
	tried, queued, behind := make([][]string, len(p.Steps)), []int{}, map[int]bool{}
	// By counterpart and not by number: an inserted step has moved all others.
	live, of, grows := map[int]*underway{}, with.of, len(with.expanded) > 0
	confirmers := s.confirmersOf(p, of)
	for i, j := range of {
		if j < 0 {
			continue
		}
		if grows {
			if u := s.underwayOf(j); u != nil {
				live[i] = u
			}
		}
		if s.awaitsRerun(j) {
			queued = append(queued, i)
		}
		if n := s.node(j); s.choices[j]&excluded != 0 && n.state == settled && n.outcome == events.Skipped {
			behind[i] = true
		}
		tried[i] = s.attempts(j)
		end, decided := keep(j, s.node(j))
		// A changed definition costs a step its approval, unless it is over already: an open loop that is planned changes no end.
		holds := with.keeps && end != nil && (grows || stays(end, &g.Nodes[g.NodeOf(i)]))
		if p.Steps[i].Digest != old.Steps[j].Digest && !holds {
			end, decided = nil, s.choices[j]&with.decisions
		}
		choices[i] = decided
		if b := s.breaks[j]; b != nil {
			stops[i] = b
		}
		if end != nil && with.accepts {
			as := *end
			as.digest = p.Steps[i].Digest
			end = &as
		}
		kept[i] = end
	}
	s.decideAdded(choices, stops, of, with.expanded)
	askPeople(p, choices, of)
	budget, fence, reruns := s.budget, s.fence, []int(nil)
	for _, step := range s.reruns { // in their own order
		if i := slices.Index(of, step); i >= 0 { // run again, a loop may have found fewer items
			reruns = append(reruns, i)
		}
	}
	limits, jobs := s.limitsByPath(), s.jobs
	s.load(p, g)
	for i, j := range of {
		if j >= 0 && jobs[j] != "" && p.Steps[i].Digest == old.Steps[j].Digest { // defined otherwise, it is another job
			s.jobs[i] = jobs[j]
		}
	}
	// Loaded first: load clears what is put back here.
	s.choices, s.kept, s.breaks, s.tried, s.behind = choices, kept, stops, tried, behind
	s.confirmers = confirmers
	s.keepLimits(limits, of, grows)
	for i, outs := range tried {
		s.node(i).attempt = int32(len(outs))
	}
	s.generation = with.generation
	s.halting, s.haltCause, s.stop = false, -1, ""
	if grows {
		s.budget, s.fence = budget, widen(fence, of) // who steps, steps through what has been added, too
		s.restoreUnderway(live)
	}
	// Before everything else, so that a view starts from an empty plan of the right size.
	s.publish(-1, events.PlanLoaded{
		TotalSteps: len(p.Steps), Digest: p.Digest, Generation: s.generation, Expanded: with.expanded,
		Added: addedBy(of, with.expanded), Times: s.clock.Copy(), Timeout: s.opts.Timeout,
	})
	s.republish()
	s.republishConfirmers()
	s.publishTried()
	if !grows {
		s.warnNotRerun(queued, "the plan was replaced or the run was resumed before their turn")
	}
	s.publishUnderway(live)
	s.keepDone(grows)
	s.resumeTurns()
	s.arriveRoots()
	s.resolve()
	s.settleLate()
	s.live = nil
	if grows {
		s.queueAgain(reruns)
	}
}

// decideAdded gives the steps that open places have added what was decided about the places. They stand behind them. A breakpoint holds for
// them, too: its selector named them before they were there. In a run without a review the answer to what they ask was given before the
// run; in a review they are new, and approved only on request.
func (s *replanning) decideAdded(choices []choice, stops map[int]*breaks, of, expanded []int) {
	for i, j := range of {
		if !slices.Contains(expanded, j) {
			continue
		}
		if s.plan.Steps[j].Adds != nil { // the steps of the hosts that it has added are in later plays, and not its rounds
			// New hosts do not say which step has added them, so all that adds anything now must approve it.
			asks := func(j int) bool { return !s.plan.Steps[j].Approves }
			s.decideHosts(choices, of, s.opts.Expanded || !slices.ContainsFunc(expanded, asks))
			continue
		}
		inherited := added | s.choices[j]&breakpoint
		switch {
		case s.opts.Confirmed:
			inherited |= confirmed
		case !s.opts.Review:
			inherited |= s.choices[j] & confirmed
		case s.opts.Expanded || s.plan.Steps[j].Approves:
			inherited |= approved
		}
		for k := i + 1; k < len(of) && of[k] < 0; k++ {
			choices[k] |= inherited
			if s.breaks[j] != nil {
				stops[k] = s.breaks[j]
			}
		}
	}
}

// widen gives the fence of step mode the numbers of a plan to which steps were added: those that were added inside of it are inside.
func widen(fence *events.Range, of []int) *events.Range {
	if fence == nil {
		return nil
	}
	wide := events.Range{From: slices.Index(of, fence.From), To: slices.Index(of, fence.To)}
	if wide.To < 0 { // it reaches to the end
		wide.To = len(of)
	}
	return &wide
}

// decideHosts marks the steps of hosts that are new in the plan.
func (s *replanning) decideHosts(choices []choice, of []int, approve bool) {
	for k := range of {
		if of[k] >= 0 {
			continue
		}
		switch choices[k] |= added; {
		case s.opts.Confirmed:
			choices[k] |= confirmed
		case s.opts.Review && approve:
			choices[k] |= approved
		}
	}
}

// keepDone settles at once what is over, also if something that was inserted above it is still to run: it is done, whatever
// becomes of that.
//
// Where rounds are added every end stays: they come after all of them.
func (s *replanning) keepDone(all bool) {
	for i, k := range s.kept {
		if k == nil {
			continue
		}
		if all || stays(k, &s.graph.Nodes[s.id(i)]) {
			s.keep(s.id(i), k)
		}
	}
}

// publishTried tells views which steps were tried before, in the order of the plan.
func (s *replanning) publishTried() {
	for i, outs := range s.tried {
		if len(outs) == 0 {
			continue
		}
		e := events.StepTried{Attempts: len(outs), Out: outs}
		if s.node(i).state == running { // its last attempt is not over
			if e.Attempts--; e.Attempts == 0 {
				continue
			}
			e.Out = e.Out[:e.Attempts]
		}
		if k := s.kept[i]; k != nil {
			if e.Attempts == 1 && !s.sameRun {
				continue // what is kept of it says all
			}
			if last := len(e.Out) - 1; k.out == e.Out[last] && !events.Bad.Has(k.outcome) {
				e.Out = e.Out[:last] // the result that is reported again names it
			}
		}
		s.publish(i, e)
	}
}

// republish tells views the decisions that were kept, as the commands that would make them, run by run.
func (s *replanning) republish() {
	for _, c := range []struct {
		bit  choice
		make func(events.Range) events.Command
	}{
		{approved, func(r events.Range) events.Command { return events.Approve{Range: r} }},
		{confirmed, func(r events.Range) events.Command { return events.Approve{Range: r, Confirm: true} }},
		{excluded, func(r events.Range) events.Command { return events.Exclude{Range: r} }},
	} {
		// Neighbours with the same choice are one command, as a person would have given it.
		for from := 0; from < len(s.choices); {
			to := from
			for to < len(s.choices) && s.choices[to]&c.bit != 0 {
				to++
			}
			if to > from {
				s.publish(-1, events.CommandAccepted{Order: events.Order{Actor: "moon", Command: c.make(events.Range{From: from, To: to})}})
			}
			from = to + 1
		}
	}
	for step := 0; step < len(s.choices); step++ {
		if s.choices[step]&breakpoint == 0 {
			continue
		}
		again, b := events.Break{Step: step}, s.breaks[step]
		if b != nil {
			again.When, again.After, again.Log = b.When, max(b.After-b.hits, 0), b.Log
			for step+1 < len(s.choices) && s.choices[step+1]&breakpoint != 0 && s.breaks[step+1] == b { // which count together
				step++
				again.To = step + 1
			}
		}
		s.publish(-1, events.CommandAccepted{Order: events.Order{Actor: "moon", Command: again}})
	}
}

// keepLimits gives the limits of a plan that takes the place of another what has passed of their time. One that was over stays over only
// if its failure stays: otherwise its steps are tried again, with all the time that they had.
func (s *replanning) keepLimits(before map[string]limit, of []int, all bool) {
	for id, l := range s.limits {
		was, ok := before[s.plan.Scopes[id].Path]
		if !ok {
			continue
		}
		by := -1
		if was.by >= 0 {
			by = slices.Index(of, was.by)
		}
		if was.over && !all && (by < 0 || s.kept[by] == nil) {
			continue
		}
		l.began, l.from, l.over, l.by = was.began, was.from, was.over, by
	}
}
