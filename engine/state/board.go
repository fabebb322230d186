package state

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
	"moon/secret"
)

// board is where everything stands: the plan, its nodes, what people decided, how steps ended. Here it is read, counted and
// published; what follows from a change is for the layers above.
type board struct {
	plan  *plan.Plan
	graph *graph.Graph
	opts  fact.Options
	emit  func(step int, e events.Event) // may be nil

	nodes      []node
	choices    []choice                   // per step
	confirmers map[int][]string           // who has confirmed a step that demands people
	left       int                        // nodes that have not settled
	notifies   map[int][]int              // by step: the handlers that a change of it notifies
	skips      map[int]events.StepSkipped // of skipped steps, as published
	counts     events.Counts
	ends       []*ending          // per step, how it ended
	names      map[int]string     // of steps that run, as rendered
	outs       map[int]string     // their output files
	began      map[int]events.Ran // of steps that have not ended: the first attempt, and what the last runs
	tried      [][]string         // per step, output files of the attempts under earlier plans
	counted    map[int]int        // of the attempts in tried, how many count against the limit of retries
	errors     map[int]string     // of steps between two attempts
	reruns     []int              // done steps that a person wants to be run again, one after the other; the first is on its way

	begun      bool
	halting    bool
	haltCause  int // step that stopped the run; -1: a person
	stop       events.StopHow
	signalled  bool
	leaving    bool
	finished   bool
	exported   *fact.RunExported // nil: not yet, or something has run since
	generation int
	reviewed   bool // the review is over
	now        time.Time
	mono       time.Duration
	clock      events.Clock
	limits     map[int]*limit // by scope: how long its steps may take together
	rescuers   map[int]bool   // blocks with a rescue; only if there are limits
}

func (s *board) publish(step int, e events.Event) {
	if skip, ok := e.(events.StepSkipped); ok {
		s.skips[step] = skip
	}
	s.clock.See(events.Record{Time: s.now, Mono: s.mono, Step: step, Event: e})
	if s.emit != nil {
		s.emit(step, e)
	}
}

func (s *board) id(step int) graph.ID { return s.graph.NodeOf(step) }

func (s *board) node(step int) *node { return &s.nodes[s.graph.NodeOf(step)] }

// OutName is the prefix of an attempt's output files. A replaced plan numbers its steps anew, so its files say so.
func (s *board) OutName(step, attempt int) string {
	name := fmt.Sprintf("%s.%d", events.StepID(step), attempt)
	if s.generation > 1 {
		name = fmt.Sprintf("plan%d-%s", s.generation, name)
	}
	return name
}

func (s *board) name(step int) string { return s.plan.Steps[step].Title() }

// missingCause is the step whose end left the value without a producer.
func (s *board) missingCause(f fact.ValuesMissing) int32 {
	n := s.node(f.Step)
	for _, u := range s.plan.Steps[f.Step].Unknowns {
		if u.Name != f.Name {
			continue
		}
		for _, p := range u.Steps {
			from := s.node(p)
			// The producer itself was kept from running by another step, and that one is the cause.
			if from.outcome == events.Omitted {
				n.cause = from.cause
			} else if n.cause < 0 {
				n.cause = int32(p)
			}
		}
	}
	return n.cause
}

// AsksAgain reports whether a step whose files have changed waits to be approved again: there is a person, who sees the plan as it is
// made again.
func (s *board) AsksAgain(step int) bool {
	return s.opts.Review && !s.opts.Saved && !s.halting && s.plan.RootFile != "-" && s.node(step).state == ready
}

// remember keeps what the next attempt's event says of this one.
func (s *board) remember(f fact.AttemptFinished) {
	s.errors[f.Step] = f.Error
}

func (s *board) started(step int) string {
	if name, ok := s.names[step]; ok {
		return name
	}
	return s.name(step)
}

func (s *board) resultOf(f fact.AttemptFinished) map[string]any {
	m := map[string]any{
		"changed": f.Outcome == events.Changed || f.Touched, "failed": events.Bad.Has(f.Outcome), "attempts": f.Attempt,
		"duration_ms": f.Duration.Milliseconds(),
	}
	if f.RC != nil {
		m["rc"] = *f.RC
	}
	maps.Copy(m, f.Result)
	return m
}

// variables publishes what an attempt has set.
func (s *board) variables(f fact.AttemptFinished) {
	if f.Registered != nil {
		if name := s.plan.Steps[f.Step].Register; name != "" {
			s.publish(f.Step, events.VariableSet{Name: name, Value: secret.Shown(f.Registered)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Values)) {
		s.publish(f.Step, events.VariableSet{Name: name, Value: secret.Shown(f.Values[name])})
	}
}

// notify tells which handlers a step has notified, each once.
func (s *board) notify(step int) {
	var published []string
	changed := events.OnChanged.Has(s.node(step).effective)
	for _, h := range s.notifies[step] {
		ps, named := &s.plan.Steps[h], false
		for _, n := range ps.Named {
			named = named || slices.Contains(n.Steps, step) && s.namesIt(n)
		}
		if ps.NamedOnly(step) && !named || !ps.NamedOnly(step) && !changed {
			continue
		}
		name := s.plan.Steps[h].Title()
		if !slices.Contains(published, name) {
			published = append(published, name)
			s.publish(step, events.Notified{Handler: name})
		}
	}
}

// rescues reports whether a failure of a step is handled by its rescue.
func (s *board) rescues(id graph.ID, outcome events.Outcome) bool {
	return s.graph.Nodes[id].Rescued && !s.graph.Beyond.Has(outcome) && !s.isStale(int(s.graph.Nodes[id].Step))
}

// isStale reports whether a step failed because its result is not the one that the plan was made with: no rescue makes up for that.
func (s *board) isStale(step int) bool {
	return step >= 0 && s.ends[step] != nil && s.ends[step].stale
}

// own is how a settled node ended as its edges would see it if it was reached.
func (s *board) own(id graph.ID) events.Outcome {
	n := &s.nodes[id]
	if step := int(s.graph.Nodes[id].Step); step >= 0 && events.Bad.Has(n.outcome) && s.ends[step] != nil && s.ends[step].ignored {
		return events.OK
	}
	return n.outcome
}

// blame is the step that what a settled node leads to goes back to: the node itself if it failed, or else what kept it
// from running.
func (s *board) blame(id graph.ID) int32 {
	n := &s.nodes[id]
	if step := s.graph.Nodes[id].Step; step >= 0 && n.effective != events.Omitted &&
		(events.Bad.Has(n.outcome) || n.outcome == events.Cancelled) {
		return step
	}
	return n.cause
}

// countEnd counts the ends whose kind the outcome alone tells. Failures are counted where it is known what they mean.
func (s *board) countEnd(o events.Outcome, d int) {
	switch o {
	case events.OK:
		s.counts.OK += d
	case events.Changed:
		s.counts.Changed += d
	case events.Skipped:
		s.counts.Skipped += d
	case events.Cancelled:
		s.counts.Cancelled += d
	case events.Omitted:
		s.counts.Omitted += d
	case events.None, events.Failed, events.Timeout, events.Rejected, events.Lost, events.Unreachable:
	}
}

func (s *board) inside(r events.Range) string {
	if r.From < 0 || r.To > len(s.plan.Steps) || r.From >= r.To {
		return fmt.Sprintf("the plan has no steps %d to %d", r.From+1, r.To)
	}
	return ""
}

// Restorable reports whether the exclusion of a step can be taken back: it was not skipped for it yet.
func (s *board) Restorable(step int) bool {
	n := s.node(step)
	return s.choices[step]&excluded != 0 && !s.plan.Steps[step].Excluded && (n.state != settled || n.outcome != events.Skipped)
}

// shaped says why the plan could not run with these steps excluded.
func (s *board) shaped(out func(step int) bool) string {
	left := func(step int) bool { return out(step) || s.node(step).state == settled }
	return s.plan.Shaped(func(step int) bool { return out(step) && !s.Done(step) }, left)
}

func (s *board) choose(r events.Range, f func(choice) choice) {
	for i := r.From; i < r.To; i++ {
		s.choices[i] = f(s.choices[i])
	}
}

// stopped reports whether a person has stopped the run, and not a failure: what is essential then runs without being asked for.
func (s *board) stopped() bool { return s.halting && s.haltCause < 0 }

// uncount takes a settled step out of the counts.
func (s *board) uncount(id graph.ID) {
	if s.graph.Nodes[id].Step < 0 {
		return
	}
	switch o := s.nodes[id].outcome; {
	// The same order as in fail: ignored and rescued failures are counted as such, and not as failures.
	case events.Bad.Has(o) && s.own(id) == events.OK:
		s.counts.Ignored--
	case events.Bad.Has(o) && s.rescues(id, o):
		s.counts.Rescued--
	case o == events.Lost:
		s.counts.Lost--
	case events.Bad.Has(o):
		s.counts.Failed--
	default:
		s.countEnd(o, -1)
	}
}

func (s *board) conditional(step int) bool { return s.plan.Steps[step].When != "" }

// unconfirmed reports whether a step asks for a confirmation that it does not have. It never runs without, so a run that a person has
// stopped leaves it out, also where it is essential.
func (s *board) unconfirmed(step int) bool {
	return s.plan.Steps[step].Confirm != "" && s.choices[step]&confirmed == 0
}

// Undecided reports whether a step was lost and nobody has said yet what it is taken for: it was running when moon crashed, or its
// host was lost meanwhile, and the playbook does not continue without it.
func (s *board) Undecided(step int) bool {
	n := s.node(step)
	end := s.ends[step]
	switch n.state {
	case running:
		return true
	case failed:
		return n.outcome == events.Lost
	case settled:
		return n.outcome == events.Lost && s.own(s.id(step)) != events.OK && (end == nil || end.err != lostError)
	case pending, ready, again, backoff, waiting:
	}
	return false
}

// attempts are the output files of all attempts of a step so far.
func (s *board) attempts(step int) []string {
	outs := slices.Clip(s.tried[step])
	for k := len(outs) + 1; k <= int(s.node(step).attempt); k++ {
		outs = append(outs, s.OutName(step, k))
	}
	return outs
}

// Done reports whether a step has ended well: it did its work, found it done, or failed where that is ignored. Only a command
// starts it again.
func (s *board) Done(step int) bool {
	id := s.id(step)
	n := &s.nodes[id]
	if n.state != settled {
		return false
	}
	switch own := s.own(id); own {
	case events.OK, events.Changed:
		return true
	case events.Skipped: // otherwise a condition, a person or what came before it has skipped it, and it never began
		end := s.ends[step]
		return end != nil && end.outcome == events.Skipped && end.reason != events.SkipNeeds
	default:
		return false
	}
}

// Over reports whether the end of a step stays when the plan is replaced: it has ended well, or a rescue has made up for its failure.
func (s *board) Over(step int) bool {
	n := s.node(step)
	return s.Done(step) || n.state == settled && events.Bad.Has(n.outcome) && s.rescues(s.id(step), n.outcome)
}

// outdatedEnd reports whether what is kept of a step is of another definition than it has now.
func (s *board) outdatedEnd(step int) bool {
	end := s.ends[step]
	if s.plan.KnownAhead(step) {
		return false // what comes after it has the value of now
	}
	return end != nil && end.digest != "" && end.digest != s.plan.Steps[step].Digest
}

// Outdated are the steps in a range that are done and whose definition changed since, so that a person is asked whether they
// run again.
func (s *board) Outdated(r events.Range) (steps []int) {
	for i := r.From; i < r.To; i++ {
		if s.outdatedEnd(i) && s.Over(i) {
			steps = append(steps, i)
		}
	}
	return steps
}

// noteAttempts adds all attempts of a step so far to what was tried before: those that follow are counted anew.
func (s *board) noteAttempts(step int) {
	s.tried[step] = s.attempts(step)
	delete(s.counted, step)
}

// awaitsRerun reports whether a step waits for its turn to run again. Trying it again meanwhile would run it twice.
func (s *board) awaitsRerun(step int) bool {
	return len(s.reruns) > 1 && slices.Contains(s.reruns[1:], step)
}

func ref(step int32) events.StepRef { return events.RefTo(int(step)) }

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
