package engine

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"moon/engine/graph"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// nodeState is where a node of the graph is.
type nodeState uint8

// The states of a node.
//
//	pending ─join met─▶ ready ─────────────▶ running ─▶ settled
//	   │                  │ when is false       │
//	   └─join missed──────┴──▶ settled          ├─failed, attempts left─▶ again ─▶ backoff ─▶ running
//	                                            └─failed, a person decides─▶ failed ─retry▶ ready
//	gate: ready ─▶ waiting ─answer▶ settled
const (
	pending nodeState = iota // some edge into it is not resolved
	ready                    // waits for its condition, a release, or a slot
	running
	again   // its attempt failed and the next is to be scheduled
	backoff // the next attempt has a time
	failed  // failed, and its consequences wait for a person
	waiting // an open gate
	settled
)

// nodeStates is how many there are.
const nodeStates = int(settled) + 1

var stateWords = [nodeStates]string{"pending", "ready", "running", "again", "backoff", "failed", "waiting", "settled"}

func (s nodeState) String() string { return stateWords[s] }

// allowed is the table of transitions: in which states of its node a fact may happen. Anything else is a bug, or a
// journal that does not belong to the plan.
var allowed = map[string][]nodeState{
	"cond.evaluated":   {ready},
	"values.missing":   {ready},
	"attempt.started":  {ready, backoff},
	"attempt.stopping": {running},
	"attempt.finished": {running},
	"reads.changed":    {ready},
	"retry.scheduled":  {again},
	"break.probed":     {ready},
	"gate.opened":      {ready},
	"gate.resolved":    {waiting},
}

// node is the state of one node of the graph.
type node struct {
	pending, hits, misses int32
	cause                 int32 // of an omission: the step it goes back to; -1: none
	attempt               int32
	state                 nodeState
	outcome               events.Outcome
	effective             events.Outcome // what edges see: an ignored failure counts as ok, a kept result that was not reached as omitted
	decided               bool           // its condition was evaluated and holds
	announced             bool           // its start was published
	solo                  bool           // runs although the run is paused: a person asked for another attempt
	asked                 bool           // a person asked for an attempt: those that follow by themselves run although the run is paused
	unsent                bool           // it has ended before all that comes before it has; its edges wait for that
	byEdges               bool           // it was not run because of how what comes before it ended
}

// choice is what people decided about a step.
type choice uint8

const (
	approved choice = 1 << iota
	confirmed
	excluded
	breakpoint
	passed // the breakpoint does not stop the run here any more: the run has paused here, or its condition does not hold
	probed // the condition of the breakpoint was evaluated
	marked // counts as ok, without running
)

// State is the state of a run: a fold of its facts and of nothing else. It is pure: it has no clock, no randomness
// and no files, and the same facts give the same state.
type State struct {
	plan  *plan.Plan
	graph *graph.Graph
	opts  fact.Options
	emit  func(step int, e events.Event) // may be nil

	nodes    []node
	choices  []choice        // per step
	breaks   map[int]*breaks // of breakpoints that do not simply stop
	kept     map[int]*ending // results taken over from the plan before
	behind   map[int]bool    // excluded steps that were skipped under the plan before: they do not come back
	ready    readyHeap
	blocked  []graph.ID // ready, but no slot of their pool is free
	fenced   []graph.ID // ready, but outside what `advance` allows
	solo     []graph.ID
	again    []graph.ID
	delayed  map[graph.ID]time.Time
	queued   map[graph.ID]time.Time    // until when ready steps with timeout_queued may wait
	nextDue  time.Time                 // no earlier than that any of them is over
	used     []int                     // slots per pool
	lent     int                       // 1 while a step has the terminal
	active   int                       // attempts that run
	open     int                       // open gates
	left     int                       // nodes that have not settled
	held     []int                     // steps that failed and wait for a person
	notifies map[int][]int             // by step: the handlers that a change of it notifies
	reasons  map[int]events.SkipReason // of skipped steps of plays
	counts   events.Counts
	queue    []arrival          // edges being resolved
	ends     []*ending          // per step, how it ended
	names    map[int]string     // of steps that run, as rendered
	outs     map[int]string     // their output files
	began    map[int]events.Ran // of steps that have not ended: the first attempt, and what the last runs
	sameRun  bool               // what is kept is of this run, and not of one before
	tried    map[int][]string   // output files of the attempts under earlier plans
	errors   map[int]string     // of steps between two attempts
	reruns   []int              // done steps that a person wants to be run again, one after the other; the first is on its way

	begun      bool
	paused     bool
	pause      fact.RunPaused
	atBreak    bool // the step that it is paused before already had its breakpoint then
	fence      *events.Range
	budget     int  // steps that may still start; -1: any
	reopened   bool // a person has taken back the end of a step
	halting    bool
	haltCause  int // step that stopped the run; -1: a person
	stop       events.StopHow
	signalled  bool
	leaving    bool
	finished   bool
	generation int
	reviewed   bool // the review is over
	now        time.Time
	mono       time.Duration
	clock      events.Clock

	usual Durations // of earlier runs; see prefer
}

// ending is how a step ended, as far as it must be told again when the plan is replaced.
type ending struct {
	outcome events.Outcome
	digest  string // of the step as it was run; "" in journals that do not say
	ignored bool
	reason  events.SkipReason // of a skip
	detail  string
	name    string
	out     string
	err     string
	rc      *int
	diff    *events.Diff
	drift   string
	changed bool // although it failed
	held    bool // it waits to be told what becomes of it
	ran     events.Ran
}

type arrival struct {
	to  graph.ID
	hit bool
	why int32 // step a miss goes back to
}

// NewState is the state before the first fact. emit gets the events that follow from facts; it may be nil.
func NewState(p *plan.Plan, g *graph.Graph, emit func(step int, e events.Event)) *State {
	s := &State{emit: emit}
	s.load(p, g)
	return s
}

func (s *State) load(p *plan.Plan, g *graph.Graph) {
	s.plan, s.graph = p, g
	s.nodes = make([]node, len(g.Nodes))
	s.choices = make([]choice, len(p.Steps))
	s.breaks = map[int]*breaks{}
	s.kept, s.behind = map[int]*ending{}, nil
	s.delayed = map[graph.ID]time.Time{}
	s.queued, s.nextDue = map[graph.ID]time.Time{}, time.Time{}
	s.used, s.lent = make([]int, len(g.Pools)), 0
	s.ends = make([]*ending, len(p.Steps))
	s.tried, s.began = nil, map[int]events.Ran{}
	s.names, s.errors, s.outs = map[int]string{}, map[int]string{}, map[int]string{}
	s.ready = readyHeap{rank: ranks(p, g, s.usual)}
	s.blocked, s.fenced, s.solo, s.again, s.held, s.reruns = nil, nil, nil, nil, nil, nil
	s.reasons, s.notifies = map[int]events.SkipReason{}, map[int][]int{}
	for i := range p.Steps {
		for _, by := range p.Steps[i].Notifiers {
			s.notifies[by] = append(s.notifies[by], i)
		}
	}
	s.left, s.active, s.open = len(g.Nodes), 0, 0
	s.counts = events.Counts{}
	s.budget = -1
	s.fence = nil
	for i := range s.nodes {
		s.nodes[i].pending = int32(len(g.In(graph.ID(i))))
		s.nodes[i].cause = -1
	}
}

func (s *State) publish(step int, e events.Event) {
	if skip, ok := e.(events.StepSkipped); ok && s.plan.Plays {
		s.reasons[step] = skip.Reason
	}
	s.clock.See(events.Record{Time: s.now, Mono: s.mono, Step: step, Event: e})
	if s.emit != nil {
		s.emit(step, e)
	}
}

// Apply folds one fact into the state. An error means that the fact cannot have happened in this state; the state is
// then unchanged.
func (s *State) Apply(r fact.Record) error {
	s.now, s.mono = r.At, r.Mono
	if err := s.check(r.Fact); err != nil {
		return err
	}
	switch f := r.Fact.(type) {
	case fact.RunCreated:
		s.opts = f.Options
	case fact.RunStarted:
		s.start()
	case fact.RunPaused:
		s.setPause(f)
	case fact.RunReplanned:
		return errors.New("run.replanned needs the new plan: use Replan")
	case fact.RunResumed:
		return errors.New("run.resumed needs the plan: use Resume")
	case fact.RunFinished:
		s.finish(f)
	case fact.CondEvaluated:
		s.condition(f)
	case fact.ValuesMissing:
		if f.Skips {
			s.node(f.Step).byEdges = true
			s.skip(s.id(f.Step), events.SkipNeeds, f.Detail)
		} else {
			n := s.node(f.Step)
			s.settle(s.id(f.Step), events.Omitted, s.missingCause(f), func() {
				s.publish(f.Step, events.StepOmitted{Name: s.name(f.Step), Reason: f.Detail, Cause: ref(n.cause)})
			})
		}
		s.resolve()
	case fact.AttemptStarted:
		s.attemptStarted(f)
	case fact.AttemptStopping:
		// Shown by the end of the attempt.
	case fact.AttemptFinished:
		s.attemptFinished(f)
		s.resolve()
	case fact.ReadsChanged:
		s.readsChanged(f)
	case fact.RetryScheduled:
		s.retryScheduled(f)
	case fact.BreakProbed:
		s.breakProbed(f)
	case fact.GateOpened:
		s.gateOpened(f)
	case fact.GateResolved:
		s.gateResolved(f)
		s.resolve()
	case fact.Warned:
		s.publish(f.Step, events.Warning{Message: f.Message})
	case fact.Commanded:
		s.publish(-1, events.CommandAccepted{Order: f.Order})
		s.command(f.Order.Command)
		s.resolve()
	case fact.Refused:
		s.publish(-1, events.CommandRejected{Order: f.Order, Reason: f.Reason})
	}
	s.nextRerun()
	return nil
}

// check looks a step's fact up in the table.
func (s *State) check(f fact.Fact) error {
	step := stepOf(f)
	if step == noStep {
		return nil
	}
	if step < 0 || step >= len(s.plan.Steps) {
		return fmt.Errorf("%s: the plan has no step %d", fact.Kind(f), step)
	}
	states := allowed[fact.Kind(f)]
	if end, ok := f.(fact.AttemptFinished); ok && end.Unstarted {
		states = []nodeState{ready}
	}
	if have := s.node(step).state; !slices.Contains(states, have) {
		return fmt.Errorf("%s of %s cannot happen while it is %s", fact.Kind(f), events.StepID(step), have)
	}
	return nil
}

const noStep = -2

// stepOf is the step whose state a fact changes, or noStep.
func stepOf(f fact.Fact) int {
	switch f := f.(type) {
	case fact.CondEvaluated:
		return f.Step
	case fact.ValuesMissing:
		return f.Step
	case fact.AttemptStarted:
		return f.Step
	case fact.AttemptStopping:
		return f.Step
	case fact.AttemptFinished:
		return f.Step
	case fact.ReadsChanged:
		return f.Step
	case fact.RetryScheduled:
		return f.Step
	case fact.BreakProbed:
		return f.Step
	case fact.GateOpened:
		return f.Step
	case fact.GateResolved:
		return f.Step
	case fact.RunCreated, fact.RunStarted, fact.RunPaused, fact.RunReplanned, fact.RunResumed, fact.RunFinished,
		fact.Warned, fact.Commanded, fact.Refused:
	}
	return noStep
}

func (s *State) id(step int) graph.ID { return s.graph.NodeOf(step) }
func (s *State) node(step int) *node  { return &s.nodes[s.graph.NodeOf(step)] }

// outName is the prefix of an attempt's output files. A replaced plan numbers its steps anew, so its files say so.
func (s *State) outName(step, attempt int) string {
	name := fmt.Sprintf("%s.%d", events.StepID(step), attempt)
	if s.generation > 1 {
		name = fmt.Sprintf("plan%d-%s", s.generation, name)
	}
	return name
}

func (s *State) name(step int) string { return s.plan.Steps[step].Title() }

func ref(step int32) events.StepRef { return events.RefTo(int(step)) }

func (s *State) start() {
	s.begun, s.reviewed = true, !s.opts.Review
	s.generation = 1
	started := events.RunStarted{
		TotalSteps: len(s.plan.Steps), Playbook: s.plan.RootFile, Check: s.opts.Check, Forks: s.opts.Forks, Review: s.opts.Review,
	}
	if s.opts.Check {
		started.RealSteps = s.plan.DefyDryRun()
	}
	s.publish(-1, started)
	s.publish(-1, events.PlanLoaded{TotalSteps: len(s.plan.Steps), Digest: s.plan.Digest, Generation: s.generation, Times: s.clock.Copy()})
	s.arriveRoots()
	if s.opts.Review {
		s.setPause(fact.RunPaused{Reason: events.PauseReview, Step: -1})
	}
	s.resolve()
}

func (s *State) arriveRoots() {
	for i := range s.nodes {
		if s.nodes[i].pending == 0 && s.nodes[i].state == pending {
			s.arrive(graph.ID(i))
		}
	}
}

func (s *State) setPause(f fact.RunPaused) {
	s.paused, s.pause = true, f
	s.atBreak = f.Step >= 0 && f.Step < len(s.choices) && s.choices[f.Step]&breakpoint != 0
	s.fence, s.budget = nil, -1
	s.unfence()
	if f.Step >= 0 && f.Reason != events.PauseStep {
		s.publish(f.Step, events.GateOpened{Reason: f.Reason, Message: f.Message})
	}
	s.publish(f.Step, events.RunPaused{Reason: f.Reason, Message: f.Message})
}

func (s *State) resume() {
	if !s.paused {
		return
	}
	s.paused = false
	for id := range s.queued { // what a person took to think does not count
		s.wait(id)
	}
	if !s.reviewed {
		s.reviewed = true
	}
	if s.pause.Step >= 0 && s.pause.Reason != events.PauseStep && s.pause.Step < len(s.plan.Steps) {
		s.publish(s.pause.Step, events.GateResolved{By: "user"})
	}
	s.publish(-1, events.RunResumed{})
	s.skipExcluded()
}

func (s *State) finish(f fact.RunFinished) {
	s.finished = true
	sum := s.summary()
	sum.Outcome, sum.Success = f.Outcome, f.Outcome == events.RunDone
	s.clock.Stop(s.now, s.mono)
	sum.Spent(&s.clock.Times)
	s.publish(-1, sum)
}

func (s *State) summary() events.RunCompleted {
	c := s.counts
	sum := events.RunCompleted{
		TotalSteps: len(s.plan.Steps), Executed: c.OK + c.Changed + c.Ignored, Changed: c.Changed, Skipped: c.Skipped,
		Failed: c.Failed + c.Lost, Ignored: c.Ignored, Rescued: c.Rescued, Cancelled: c.Cancelled,
	}
	sum.Hosts = s.hosts()
	sum.Outdated = len(s.outdated(events.Range{To: len(s.plan.Steps)}))
	sum.NotRun = sum.TotalSteps - sum.Executed - sum.Skipped - sum.Failed - sum.Rescued - sum.Cancelled
	return sum
}

func (s *State) condition(f fact.CondEvaluated) {
	n := s.node(f.Step)
	if f.Holds {
		n.decided = true
		heap.Push(&s.ready, s.id(f.Step))
		return
	}
	s.settle(s.id(f.Step), events.Skipped, -1, func() {
		s.publish(f.Step, events.StepSkipped{Name: s.name(f.Step), Reason: events.SkipWhen, Detail: f.Text})
	})
	s.resolve()
}

// missingCause is the step whose end left the value without a producer.
func (s *State) missingCause(f fact.ValuesMissing) int32 {
	n := s.node(f.Step)
	for _, u := range s.plan.Steps[f.Step].Unknowns {
		if u.Name != f.Name {
			continue
		}
		for _, p := range u.Steps {
			from := s.node(p)
			if from.outcome == events.Omitted {
				n.cause = from.cause
			} else if n.cause < 0 {
				n.cause = int32(p)
			}
		}
	}
	return n.cause
}

func (s *State) attemptStarted(f fact.AttemptStarted) {
	id := s.id(f.Step)
	n := &s.nodes[id]
	n.state, n.attempt, n.solo = running, int32(f.Attempt), false
	s.names[f.Step], s.outs[f.Step] = f.Name, f.Out
	ran := s.began[f.Step]
	if ran.From.IsZero() {
		ran.From = s.now
	}
	ran.Command = f.Command
	s.began[f.Step] = ran
	delete(s.delayed, id)
	delete(s.queued, id)
	s.solo = remove(s.solo, id)
	s.active++
	s.take(id, +1)
	s.spend(n)
	step := &s.plan.Steps[f.Step]
	if !n.announced {
		n.announced = true
		s.publish(f.Step, events.StepStarted{
			Name: f.Name, Action: step.Action, Tags: orEmpty(step.Tags), Command: f.Command, Out: f.Out,
			Real: s.opts.Check && step.DefiesDryRun(),
		})
	} else {
		s.publish(f.Step, events.AttemptStarted{Attempt: f.Attempt})
	}
}

// spend counts a step that starts in step mode, unless a person has asked for it by itself.
func (s *State) spend(n *node) {
	if s.budget > 0 && !n.asked {
		s.budget--
	}
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// take accounts for a slot of the node's pool, and for the terminal.
func (s *State) take(id graph.ID, d int) {
	if pool := s.graph.Nodes[id].Pool; pool >= 0 {
		s.used[pool] += d
	}
	if s.graph.Nodes[id].Terminal {
		s.lent += d
	}
}

func (s *State) retryScheduled(f fact.RetryScheduled) {
	id := s.id(f.Step)
	n := &s.nodes[id]
	s.again = remove(s.again, id)
	n.state = backoff
	s.delayed[id] = f.Due
	s.publish(f.Step, events.StepRetrying{Attempt: f.Attempt, Due: f.Due, Error: f.Error, Out: f.Out})
}

// asksAgain reports whether a step whose files have changed waits to be approved again: there is a person, who sees the plan as it is
// made again.
func (s *State) asksAgain(step int) bool {
	return s.opts.Review && !s.opts.Saved && !s.halting && s.plan.RootFile != "-" && s.node(step).state == ready
}

// readsChanged holds a step back that was about to start: what was approved was another.
func (s *State) readsChanged(f fact.ReadsChanged) {
	id := s.id(f.Step)
	s.nodes[id].solo, s.nodes[id].asked = false, false
	s.solo = remove(s.solo, id)
	heap.Push(&s.ready, id)
	s.choices[f.Step] &^= approved | confirmed
	withdrawn := events.Withdraw{Range: events.Range{From: f.Step, To: f.Step + 1}}
	s.publish(-1, events.CommandAccepted{Order: events.Order{Actor: "moon", Command: withdrawn}})
	s.publish(f.Step, events.Warning{Message: f.Message})
	s.setPause(fact.RunPaused{Reason: events.PauseUndecided, Step: f.Step, Message: f.Message})
}

func (s *State) gateOpened(f fact.GateOpened) {
	n := s.node(f.Step)
	n.state, n.solo = waiting, false
	s.solo = remove(s.solo, s.id(f.Step))
	s.spend(n)
	s.open++
	s.publish(f.Step, events.GateOpened{Reason: events.PauseUser, Message: f.Message})
}

func (s *State) gateResolved(f fact.GateResolved) {
	s.open--
	s.publish(f.Step, events.GateResolved{By: f.By, Reject: f.Reject})
	if f.Reject {
		s.fail(f.Step, events.Rejected, false)
		s.publish(f.Step, events.StepFailed{Name: s.name(f.Step), Error: "rejected", Rescued: s.graph.Nodes[s.id(f.Step)].Rescued})
		return
	}
	s.ends[f.Step] = &ending{outcome: events.OK, digest: s.plan.Steps[f.Step].Digest, name: s.name(f.Step)}
	s.settle(s.id(f.Step), events.OK, -1, func() {
		s.publish(f.Step, events.StepCompleted{Name: s.name(f.Step), Result: map[string]any{}})
	})
}

func remove(list []graph.ID, id graph.ID) []graph.ID {
	return slices.DeleteFunc(list, func(have graph.ID) bool { return have == id })
}

// readyHeap orders ready nodes: what has the longest path to the end first, then plan order.
type readyHeap struct {
	rank []int64
	ids  []graph.ID
}

func (h *readyHeap) Len() int { return len(h.ids) }
func (h *readyHeap) Less(i, j int) bool {
	a, b := h.ids[i], h.ids[j]
	if h.rank[a] != h.rank[b] {
		return h.rank[a] > h.rank[b]
	}
	return a < b
}
func (h *readyHeap) Swap(i, j int) { h.ids[i], h.ids[j] = h.ids[j], h.ids[i] }
func (h *readyHeap) Push(x any)    { h.ids = append(h.ids, x.(graph.ID)) }
func (h *readyHeap) Pop() any {
	last := len(h.ids) - 1
	id := h.ids[last]
	h.ids = h.ids[:last]
	return id
}

// Dump shows every node that has not settled and what it waits for, for the report of a bug.
func (s *State) Dump() string {
	var b strings.Builder
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.state == settled {
			continue
		}
		fmt.Fprintf(&b, "%s %s pending=%d hits=%d misses=%d\n", s.graph.Name(graph.ID(i)), n.state, n.pending, n.hits, n.misses)
		for _, e := range s.graph.In(graph.ID(i)) {
			fmt.Fprintf(&b, "  <- %s (%s) on %s\n", s.graph.Name(e.From), s.nodes[e.From].outcome, e.On)
		}
	}
	return b.String()
}
