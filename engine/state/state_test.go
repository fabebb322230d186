package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"moon/engine/graph"
	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// bench drives a State without a session: decisions become facts at once, attempts end as outcome says, and time is a
// number that the test moves.
type bench struct {
	t       testing.TB
	s       *State
	outcome func(step, attempt int) events.Outcome
	facts   []fact.Record
	log     []string // the events, in words
	run     events.Run
	now     time.Time
	seq     uint64
	running []int
	class   string // of failures

	badExport string // why the exports fail

	shots [][]byte // the state after each fact, if they are kept
	keeps bool
	looks int // how often the counters were compared with looking at every edge

	done  map[int]bool          // steps that ended well, and may only start again because a command says so
	plans map[string]*plan.Plan // of replacements, by digest
}

func newBench(tb testing.TB, p *plan.Plan, g *graph.Graph, o fact.Options) *bench {
	tb.Helper()
	b := &bench{t: tb, now: time.Unix(1_000_000, 0), outcome: func(int, int) events.Outcome { return events.OK }, done: map[int]bool{}, plans: map[string]*plan.Plan{}}
	b.s = New(p, g, func(step int, e events.Event) {
		b.seq++
		b.run.Apply(events.Record{Seq: b.seq, Time: b.now, Step: step, Event: e})
		b.log = logged(b.log, step, e)
	})
	if o.Forks == 0 {
		o.Forks = 4
	}
	if o.OnFailure == "" {
		o.OnFailure = fact.Drain
	}
	b.add(fact.RunCreated{Options: o, Total: len(p.Steps)})
	b.add(fact.RunStarted{})
	return b
}

// logged adds an event to a log. That another attempt starts is not in it: retrying says that it will.
func logged(log []string, step int, e events.Event) []string {
	if _, again := e.(events.AttemptStarted); again {
		return log
	}
	return append(log, word(step, e))
}

// word is an event in a few letters: "changed 2".
func word(step int, e events.Event) string {
	w := strings.TrimPrefix(events.Type(e), "step.")
	switch e := e.(type) {
	case events.StepSkipped:
		w += ":" + string(e.Reason)
	case events.RunPaused:
		w += ":" + string(e.Reason)
	case events.RunCompleted:
		w += ":" + string(e.Outcome)
	case events.StepOmitted:
		w += ":" + e.Reason
	}
	if step >= 0 {
		w += fmt.Sprintf(" %d", step)
	}
	return w
}

func (b *bench) add(f fact.Fact) {
	b.t.Helper()
	r := fact.Record{Seq: uint64(len(b.facts) + 1), At: b.now, Mono: b.now.Sub(time.Unix(1_000_000, 0)), Fact: f}
	if err := b.s.Apply(r); err != nil {
		b.t.Fatalf("%v\n%s", err, b.s.Dump())
	}
	b.record(r)
}

// record keeps a fact that has been applied.
func (b *bench) record(r fact.Record) {
	b.facts = append(b.facts, r)
	if b.keeps {
		b.shots = append(b.shots, shotOf(b.s))
	}
}

// shotOf is a state as text. What a scheduler prefers is no part of it, nor is the order of what is ready: decisions differ by
// that, and no fold may.
func shotOf(s *State) []byte {
	return fmt.Appendf(nil, "%v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v", s.limitsByPath(), s.nodes, s.atBreak, s.choices, s.used, s.lent, s.active, s.open, s.left,
		s.held, s.skips, s.counts, s.names, s.outs, s.tried, s.errors, s.begun, s.paused, s.pause, s.reopened, s.halting, s.haltCause, s.stop, s.leaving, s.finished, s.generation, s.reviewed, s.now, s.mono, s.exported)
}

// send gives a command and reports whether it was accepted.
func (b *bench) send(c events.Command) string {
	b.t.Helper()
	o := events.Order{Command: c}
	if why := b.s.commands().refuse(c, nil); why != "" {
		b.add(fact.Refused{Order: o, Reason: why})
		return why
	}
	if again, ok := c.(events.Rerun); ok {
		for _, step := range b.s.rerunnable(again) {
			delete(b.done, step)
		}
	}
	b.add(fact.Commanded{Order: o})
	return ""
}

// start carries out decisions until the state is idle. Attempts stay running until end.
func (b *bench) start() {
	b.t.Helper()
	for range 1_000_000 {
		switch d := b.s.decider().next(b.now).(type) {
		case Idle:
			return
		case Evaluate:
			b.add(fact.CondEvaluated{Step: d.Step, Holds: true})
		case Lapse:
			b.add(fact.ScopeTimedOut{Scope: d.Scope})
		case Start:
			b.joined(d.Step)
			if b.s.isLate(d.Step) {
				b.t.Errorf("step %d starts in a scope that has no time left", d.Step)
			}
			if b.done[d.Step] {
				b.t.Errorf("step %d had ended well and starts again", d.Step)
			}
			b.add(fact.AttemptStarted{Step: d.Step, Attempt: d.Attempt})
			b.running = append(b.running, d.Step)
		case Expire:
			b.add(fact.AttemptFinished{Step: d.Step, Attempt: int(b.s.node(d.Step).attempt) + 1, Outcome: events.Timeout, Unstarted: true})
		case Probe:
			b.add(fact.BreakProbed{Step: d.Step, Holds: d.Step%2 == 0})
		case Schedule:
			b.add(fact.RetryScheduled{Step: d.Step, Attempt: d.Attempt, Due: b.now.Add(time.Second)})
		case OpenGate:
			b.add(fact.GateOpened{Step: d.Step})
		case Unasked:
			b.log = append(b.log, fmt.Sprint("unasked ", d.Step))
			b.send(events.Stop{How: events.StopDrain})
		case Pause:
			b.add(d.RunPaused)
		case Export:
			b.log = append(b.log, "export")
			b.add(fact.RunExported{Values: map[string]any{"x": 1}, Error: b.badExport})
		case Finish:
			b.add(fact.RunFinished{Outcome: d.Outcome})
			return
		case Stuck:
			b.t.Fatalf("stuck\n%s\nlimits %v\n%s", b.s.Dump(), b.s.limitsByPath(), strings.Join(b.log[max(0, len(b.log)-30):], "\n"))
		}
	}
	b.t.Fatal("the state never comes to rest")
}

// end finishes one running attempt.
func (b *bench) end(i int) {
	b.t.Helper()
	step := b.running[i]
	b.running = slices.Delete(b.running, i, i+1)
	attempt := int(b.s.node(step).attempt)
	o := b.outcome(step, attempt)
	if b.s.RanOut(step) != "" && o != events.OK { // one that had ended when it was interrupted has ended well
		o = events.Timeout
	}
	b.add(fact.AttemptFinished{Step: step, Attempt: attempt, Outcome: o, Again: o == events.Failed, Class: b.class})
	b.done[step] = events.OnSuccess.Has(o)
}

// all runs until nothing runs any more, always ending the attempt that was started first.
func (b *bench) all() {
	b.t.Helper()
	for {
		b.start()
		switch {
		case len(b.running) > 0:
			b.end(0)
		case len(b.s.delayed) > 0 && !b.s.finished:
			b.now = b.now.Add(time.Second)
		default:
			return
		}
	}
}

func (b *bench) want(log ...string) {
	b.t.Helper()
	if got := strings.Join(b.log, "\n"); got != strings.Join(log, "\n") {
		b.t.Errorf("got\n%s\nwant\n%s", got, strings.Join(log, "\n"))
	}
	b.log = nil
}

// chain is the graph of steps in order.
func chain(tb testing.TB, p *plan.Plan) *graph.Graph {
	tb.Helper()
	g, err := graph.Build(p)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

var allOutcomes = []events.Outcome{events.OK, events.Changed, events.Skipped, events.Failed, events.Timeout, events.Cancelled, events.Lost, events.Omitted}

// TestDiamond checks a join of two edges against its definition, for every pair of outcomes, every pair of edge sets,
// and both joins.
func TestDiamond(t *testing.T) {
	sets := []events.OutcomeSet{events.OnSuccess, events.OnFailure, events.OnFinish, events.OnChanged, 1<<events.OK | 1<<events.Failed}
	cases := 0
	for _, b := range allOutcomes {
		for _, c := range allOutcomes {
			for _, onB := range sets {
				for _, onC := range sets {
					for _, join := range []graph.Join{graph.All, graph.Any} {
						cases++
						got := diamond(t, b, c, onB, onC, join)
						hits := 0
						if onB.Has(b) {
							hits++
						}
						if onC.Has(c) {
							hits++
						}
						// A miss of a step that ended well is a need that did not come about; any other cuts off.
						cut := !onB.Has(b) && !events.OnSuccess.Has(b) || !onC.Has(c) && !events.OnSuccess.Has(c)
						want := events.OK
						switch {
						case join == graph.All && hits < 2 && cut:
							want = events.Omitted
						case join == graph.All && hits < 2:
							want = events.Skipped
						case join == graph.Any && hits == 0:
							want = events.Skipped
						}
						if got != want {
							t.Errorf("b %s on %s, c %s on %s, join %d: d is %s, want %s", b, onB, c, onC, join, got, want)
						}
					}
				}
			}
		}
	}
	if cases != 8*8*5*5*2 {
		t.Errorf("%d cases", cases)
	}
}

func diamond(t *testing.T, ob, oc events.Outcome, onB, onC events.OutcomeSet, join graph.Join) events.Outcome {
	t.Helper()
	p := graphtest.NewPlan(4)
	gb := graph.NewBuilder(4)
	// A step can only be omitted by an edge, so a fails for one that must be.
	oa := events.OK
	need := func(o events.Outcome) events.OutcomeSet {
		if o == events.Omitted {
			oa = events.Failed
			return events.OnSuccess
		}
		return events.OnFinish
	}
	a := gb.Node(graph.Node{Step: 0, Pool: -1}, nil)
	b := gb.Node(graph.Node{Step: 1, Pool: -1}, []graph.Edge{{From: a, On: need(ob)}})
	c := gb.Node(graph.Node{Step: 2, Pool: -1}, []graph.Edge{{From: a, On: need(oc)}})
	gb.Node(graph.Node{Step: 3, Pool: -1, Join: join}, []graph.Edge{{From: b, On: onB}, {From: c, On: onC}})
	g, err := gb.Graph()
	if err != nil {
		t.Fatal(err)
	}
	be := newBench(t, p, g, fact.Options{OnFailure: fact.Continue})
	be.outcome = func(step, _ int) events.Outcome { return []events.Outcome{oa, ob, oc, events.OK}[step] }
	be.all()
	if !be.s.finished {
		t.Fatalf("not finished\n%s", be.s.Dump())
	}
	return be.run.Steps[3].Outcome
}

func TestChainDrains(t *testing.T) {
	p := graphtest.NewPlan(4)
	b := newBench(t, p, chain(t, p), fact.Options{})
	b.outcome = func(step, _ int) events.Outcome {
		return []events.Outcome{events.Changed, events.Failed, events.OK, events.OK}[step]
	}
	b.all()
	b.want("run.started", "plan.loaded", "started 0", "completed 0", "started 1", "failed 1",
		"omitted:step-0002 failed 2", "omitted:step-0002 failed 3", "run.completed:failed")
	if r := b.run.Result; r.Executed != 1 || r.Changed != 1 || r.Failed != 1 || r.NotRun != 2 || r.Success {
		t.Errorf("%+v", r)
	}
}

func TestRetriesAreAttemptsOfOneStep(t *testing.T) {
	p := graphtest.NewPlan(2)
	p.Steps[0].Retry.Max = 2
	b := newBench(t, p, chain(t, p), fact.Options{})
	b.outcome = func(_, attempt int) events.Outcome {
		return map[bool]events.Outcome{true: events.OK, false: events.Failed}[attempt == 3]
	}
	b.all()
	b.want("run.started", "plan.loaded", "started 0", "retrying 0", "retrying 0", "completed 0", "started 1", "failed 1", "run.completed:failed")
	if s := b.run.Steps[0]; s.Attempt != 3 || s.Outcome != events.OK {
		t.Errorf("%+v", s)
	}
}

func TestReviewApproveStepAndBreak(t *testing.T) {
	p := graphtest.NewPlan(4)
	p.Steps[2].Confirm = "really?"
	b := newBench(t, p, chain(t, p), fact.Options{Review: true})
	b.all()
	b.want("run.started", "plan.loaded", "run.paused:review")

	b.send(events.Continue{})
	b.all()
	b.want("command.accepted", "run.resumed", "gate.opened 0", "run.paused:undecided 0")
	if why := b.send(events.Continue{}); why != "step-0001 is not approved" {
		t.Errorf("continue at an undecided step: %q", why)
	}
	b.log = nil
	b.send(events.Advance{Verb: "step"}) // approves what it runs
	b.all()
	b.want("command.accepted", "gate.resolved 0", "run.resumed", "started 0", "completed 0", "run.paused:step 1")

	b.send(events.Approve{Range: events.Range{From: 0, To: 4}, Digest: "d"})
	b.send(events.Break{Step: 1})
	b.send(events.Continue{})
	b.all()
	b.want("command.accepted", "command.accepted", "command.accepted", "run.resumed", "gate.opened 1", "run.paused:breakpoint 1")
	b.send(events.Continue{})
	b.all()
	b.want("command.accepted", "gate.resolved 1", "run.resumed", "started 1", "completed 1", "gate.opened 2", "run.paused:confirm 2")
	if why := b.send(events.Approve{Range: events.Range{From: 2, To: 3}, Digest: "other", Confirm: true}); why == "" {
		t.Error("an approval of another plan was accepted")
	}
	b.log = nil
	b.send(events.Approve{Range: events.Range{From: 2, To: 3}, Digest: "d", Confirm: true})
	b.send(events.Continue{})
	b.all()
	b.want("command.accepted", "command.accepted", "gate.resolved 2", "run.resumed", "started 2", "completed 2", "started 3", "completed 3", "run.completed:done")
}

func TestStepModeNeverConfirms(t *testing.T) {
	p := graphtest.NewPlan(2)
	p.Steps[0].Confirm = "sure?"
	b := newBench(t, p, chain(t, p), fact.Options{Review: true})
	b.start()
	b.log = nil
	b.send(events.Advance{Verb: "over", Range: events.Range{From: 0, To: 1}, Approve: true})
	b.all()
	b.want("command.accepted", "run.resumed", "gate.opened 0", "run.paused:confirm 0")
}

func TestOverAndUntil(t *testing.T) {
	p := graphtest.NewPlan(6)
	b := newBench(t, p, chain(t, p), fact.Options{Review: true})
	b.start()
	b.log = nil
	b.send(events.Advance{Verb: "over", Range: events.Range{From: 0, To: 3}, Approve: true})
	b.all()
	b.want("command.accepted", "run.resumed", "started 0", "completed 0", "started 1", "completed 1", "started 2", "completed 2", "run.paused:step 3")
	b.send(events.Approve{Range: events.Range{From: 0, To: 6}})
	b.log = nil
	b.send(events.Advance{Verb: "until", Range: events.Range{From: 0, To: 5}})
	b.all()
	b.want("command.accepted", "run.resumed", "started 3", "completed 3", "started 4", "completed 4", "run.paused:step 5")
}

func TestBreakOnFailureThenRetrySkipGiveUp(t *testing.T) {
	setup := func() *bench {
		p := graphtest.NewPlan(3)
		b := newBench(t, p, chain(t, p), fact.Options{BreakOnFailure: true, KeepOpen: true})
		b.outcome = func(step, attempt int) events.Outcome {
			if step == 1 && attempt == 1 {
				return events.Failed
			}
			return events.OK
		}
		b.all()
		b.want("run.started", "plan.loaded", "started 0", "completed 0", "started 1", "failed 1", "gate.opened 1", "run.paused:failure 1")
		return b
	}
	t.Run("retry", func(t *testing.T) {
		b := setup()
		b.send(events.Retry{Range: events.Range{From: 1, To: 2}})
		b.all()
		b.want("command.accepted", "retrying 1", "completed 1") // and stays paused
		b.send(events.Continue{})
		b.all()
		b.want("command.accepted", "gate.resolved 1", "run.resumed", "started 2", "completed 2", "run.completed:done")
		if b.run.Steps[1].Attempt != 2 {
			t.Errorf("attempt %d", b.run.Steps[1].Attempt)
		}
	})
	t.Run("skip", func(t *testing.T) {
		b := setup()
		b.send(events.Skip{Step: 1})
		b.all()
		b.want("command.accepted", "skipped:user 1", "gate.resolved 1", "run.resumed", "started 2", "completed 2", "run.completed:done")
	})
	t.Run("give up, then retry at the end", func(t *testing.T) {
		b := setup()
		b.send(events.Continue{})
		b.all()
		b.want("command.accepted", "gate.resolved 1", "run.resumed", "omitted:step-0002 failed 2", "run.paused:end")
		b.send(events.Retry{Range: events.Range{From: 0, To: 3}})
		b.all()
		b.want("command.accepted", "retrying 1", "gate.opened 1", "run.paused:failure 1", "completed 1")
		b.send(events.Continue{})
		b.all()
		b.want("command.accepted", "gate.resolved 1", "run.resumed", "started 2", "completed 2", "run.completed:done")
		if r := b.run.Result; r.Executed != 3 || r.Failed != 0 || r.NotRun != 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("leave", func(t *testing.T) {
		b := setup()
		b.send(events.Continue{})
		b.all()
		b.log = nil
		b.send(events.Leave{})
		b.all()
		b.want("command.accepted", "run.completed:failed")
	})
	t.Run("stop", func(t *testing.T) {
		b := setup()
		b.send(events.Stop{How: events.StopInterrupt})
		b.all()
		b.want("command.accepted", "gate.resolved 1", "run.resumed", "omitted:step-0002 failed 2", "run.completed:stopped")
	})
}

func TestExcludeAndSkipByTag(t *testing.T) {
	p := graphtest.NewPlan(3)
	p.Steps[1].Excluded = true
	b := newBench(t, p, chain(t, p), fact.Options{Review: true})
	b.send(events.Approve{Range: events.Range{From: 0, To: 3}})
	b.send(events.Exclude{Range: events.Range{From: 0, To: 1}})
	b.log = nil
	b.send(events.Continue{})
	b.all()
	b.want("command.accepted", "run.resumed", "skipped:user 0", "skipped:tags 1", "started 2", "completed 2", "run.completed:done")
	if got := b.run.Steps[0].Reason + b.run.Steps[1].Reason; got != "usertags" {
		t.Errorf("reasons %q", got)
	}
}

func TestReplanKeepsWhatIsTheSame(t *testing.T) {
	p := graphtest.NewPlan(4)
	b := newBench(t, p, chain(t, p), fact.Options{Review: true, BreakOnFailure: true, KeepOpen: true})
	b.outcome = func(step, _ int) events.Outcome {
		if step == 2 {
			return events.Failed
		}
		return events.Changed
	}
	b.send(events.Approve{Range: events.Range{From: 0, To: 4}})
	b.send(events.Continue{})
	b.all()
	b.log = nil
	// The third step was edited, and one was put in front of it.
	edited := graphtest.NewPlan(4)
	edited.Digest = "d2"
	edited.Steps[2].Digest = "new"
	insert := plan.Step{Name: "inserted", Path: "inserted", Digest: "inserted"}
	edited.Steps = slices.Insert(edited.Steps, 2, insert)
	for i := range edited.Steps {
		edited.Steps[i].Index = i
	}
	edited.Scopes[0].Last = 5
	r := fact.Record{At: b.now, Fact: fact.RunReplanned{Generation: 2, Digest: "d2", Total: 5}}
	b.s.Replan(r, edited, chain(t, edited))
	b.want("plan.loaded", "command.accepted", "command.accepted", "tried 0", "tried 1", "tried 3", "completed 0", "completed 1", "run.paused:step 2")
	if k := b.run.Steps[1]; k.Kept || k.Attempt != 1 || k.Outcome != events.Changed {
		t.Errorf("kept step: %+v", k)
	}
	if b.run.Steps[3].Approved || !b.run.Steps[4].Approved {
		t.Error("a changed step must be decided again, an unchanged one not")
	}
	b.outcome = func(int, int) events.Outcome { return events.OK }
	b.send(events.Approve{Range: events.Range{From: 0, To: 5}})
	b.send(events.Continue{})
	b.all()
	if b.run.Result.Outcome != events.RunDone || b.run.Result.Executed != 5 {
		t.Errorf("%+v\n%s", b.run.Result, strings.Join(b.log, "\n"))
	}
}

// TestFactsOutsideTheTable checks that every fact about a step is refused in every state that the table does not
// name, and changes nothing.
func TestFactsOutsideTheTable(t *testing.T) {
	facts := []fact.Fact{
		fact.CondEvaluated{Step: 0},
		fact.ValuesMissing{Step: 0},
		fact.AttemptStarted{Step: 0, Attempt: 1},
		fact.AttemptStopping{Step: 0},
		fact.AttemptFinished{Step: 0, Outcome: events.OK},
		fact.RetryScheduled{Step: 0},
		fact.GateOpened{Step: 0},
		fact.GateResolved{Step: 0},
	}
	pairs := 0
	for _, f := range facts {
		for n := range nodeStates {
			state := nodeState(n)
			pairs++
			p := graphtest.NewPlan(1)
			b := newBench(t, p, chain(t, p), fact.Options{})
			b.s.nodes[0].state = state
			b.s.open = 1
			legal := slices.Contains(allowed[fact.Kind(f)], state)
			before := b.s.nodes[0]
			err := b.s.Apply(fact.Record{At: b.now, Fact: f})
			if legal != (err == nil) {
				t.Errorf("%s while %s: %v", fact.Kind(f), state, err)
			}
			if err != nil && b.s.nodes[0] != before {
				t.Errorf("%s while %s was refused, and changed the node", fact.Kind(f), state)
			}
		}
	}
	if pairs != 8*nodeStates {
		t.Errorf("%d pairs", pairs)
	}
}
