package state

import (
	"slices"
	"strings"
	"testing"
	"time"

	"moon/engine/graph"
	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/events/fact"
	"moon/exec/fault"
)

func stepRange(step int) events.Range { return events.Range{From: step, To: step + 1} }

// pausedAtStep is a run of a chain under review, all of it approved, that is paused at a breakpoint.
func pausedAtStep(t *testing.T, n, at int, edit func(b *bench)) *bench {
	t.Helper()
	p := graphtest.NewPlan(n)
	b := newBench(t, p, chain(t, p), fact.Options{Review: true, BreakOnFailure: true, KeepOpen: true})
	if edit != nil {
		edit(b)
	}
	b.send(events.Approve{Range: events.Range{From: 0, To: n}})
	b.send(events.Break{Step: at})
	b.send(events.Continue{})
	b.all()
	if b.s.pause.Step != at || !b.s.paused {
		t.Fatalf("not paused at step %d: %+v", at, b.s.pause)
	}
	b.log = nil
	return b
}

// A step that is excluded while the run is paused waits like the others, so that it can be restored, also if it is the next one.
func TestExcludeAndRestoreWhilePaused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		review bool
		send   []events.Command
		log    string
	}{
		{"restored", false, []events.Command{events.Exclude{Range: stepRange(1)}, events.Include{Range: stepRange(1)}}, "started 1, completed 1, started 2, completed 2, run.completed:done"},
		{"excluded", false, []events.Command{events.Exclude{Range: stepRange(1)}}, "skipped:user 1, started 2, completed 2, run.completed:done"},
		{"excluded again", false, []events.Command{events.Exclude{Range: stepRange(1)}, events.Include{Range: stepRange(1)}, events.Exclude{Range: stepRange(1)}}, "skipped:user 1, started 2, completed 2, run.completed:done"},
		{"approval withdrawn", false, []events.Command{events.Exclude{Range: stepRange(1)}, events.Withdraw{Range: stepRange(1)}}, "skipped:user 1, started 2, completed 2, run.completed:done"},
		{"the rest", false, []events.Command{events.Exclude{Range: events.Range{From: 1, To: 3}}, events.Include{Range: stepRange(2)}}, "skipped:user 1, started 2, completed 2, run.completed:done"},
		{"review", true, []events.Command{events.Exclude{Range: stepRange(0)}, events.Include{Range: stepRange(0)}}, "started 0, completed 0, started 1, completed 1, started 2, completed 2, run.completed:done"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b *bench
			if tt.review {
				p := graphtest.NewPlan(3)
				b = newBench(t, p, chain(t, p), fact.Options{Review: true})
				b.send(events.Approve{Range: events.Range{From: 0, To: 3}})
			} else {
				b = pausedAtStep(t, 3, 1, nil)
			}
			for _, c := range tt.send {
				if why := b.send(c); why != "" {
					t.Fatalf("%T is refused: %s", c, why)
				}
			}
			b.log = nil
			if why := b.send(events.Continue{}); why != "" {
				t.Fatalf("continue is refused: %s", why)
			}
			b.all()
			got := strings.Join(slices.DeleteFunc(b.log, func(w string) bool {
				return strings.HasPrefix(w, "command.") || strings.HasPrefix(w, "gate.") || w == "run.resumed"
			}), ", ")
			if got != tt.log {
				t.Errorf("got %s, want %s", got, tt.log)
			}
			foldAgainOf(t, b)
		})
	}
}

// foldAgainOf folds a run's facts again: the state must be the same.
func foldAgainOf(t *testing.T, b *bench) {
	t.Helper()
	again := foldOf(t, b.facts, b.plans, graphtest.NewPlan(len(b.s.plan.Steps)), b.s.graph, nil)
	if !slices.Equal(again.nodes, b.s.nodes) {
		t.Errorf("folded again the nodes are\n%+v, and were\n%+v", again.nodes, b.s.nodes)
	}
}

// An excluded step is not started by a stop, although it is essential.
func TestStopLeavesExcludedSteps(t *testing.T) {
	b := pausedAtStep(t, 3, 1, func(b *bench) { b.s.graph.Nodes[b.s.id(1)].Essential = true })
	b.send(events.Exclude{Range: stepRange(1)})
	b.log = nil
	b.send(events.Stop{How: events.StopDrain})
	b.all()
	if got := strings.Join(b.log, ", "); !strings.Contains(got, "skipped:user 1") || strings.Contains(got, "started 1") {
		t.Error(got)
	}
}

// A step that a person runs again has all its attempts, although the run is paused meanwhile.
func TestAttemptsGoOnWhilePaused(t *testing.T) {
	fails := func(b *bench, step int, attempts ...int) {
		b.outcome = func(at, attempt int) events.Outcome {
			if at == step && slices.Contains(attempts, attempt) {
				return events.Failed
			}
			return events.OK
		}
	}
	t.Run("run again", func(t *testing.T) {
		b := pausedAtStep(t, 3, 1, func(b *bench) { b.s.plan.Steps[0].Retry.Max = 2 })
		fails(b, 0, 2, 3)
		b.send(events.Rerun{Range: stepRange(0)})
		b.all()
		b.want("command.accepted", "retrying 0", "retrying 0", "retrying 0", "completed 0")
		if n := b.s.node(0); n.attempt != 4 || !b.s.paused {
			t.Errorf("attempt %d, paused %t", n.attempt, b.s.paused)
		}
	})
	t.Run("tried again", func(t *testing.T) {
		p := graphtest.NewPlan(2)
		b := newBench(t, p, chain(t, p), fact.Options{BreakOnFailure: true, KeepOpen: true})
		b.class = "transient" // once it is tried again it may be tried three times more
		b.outcome = func(_, attempt int) events.Outcome {
			b.class = ""
			if attempt > 1 {
				b.class = fault.Transient
			}
			return map[bool]events.Outcome{true: events.OK, false: events.Failed}[attempt == 4]
		}
		b.all()
		b.log = nil
		b.send(events.Retry{Range: stepRange(0)})
		b.all()
		b.want("command.accepted", "retrying 0", "retrying 0", "retrying 0", "completed 0")
	})
	t.Run("paused by a person meanwhile", func(t *testing.T) {
		p := graphtest.NewPlan(2)
		p.Steps[0].Retry.Max = 1
		b := newBench(t, p, chain(t, p), fact.Options{})
		fails(b, 0, 1)
		b.start()
		b.end(0)
		b.start()
		b.send(events.Pause{})
		b.now = b.now.Add(time.Minute)
		b.start()
		if n := b.s.node(0); n.state != backoff {
			t.Errorf("an attempt that nobody asked for begins in a pause: it is %s", n.state)
		}
		b.send(events.Continue{})
		b.all()
		if b.run.Result.Outcome != events.RunDone {
			t.Errorf("%+v", b.run.Result)
		}
	})
}

// What comes while done steps wait for their turn to run again takes nothing from that, and what is excluded then is not run again.
func TestCommandsWhileStepsRunAgain(t *testing.T) {
	setup := func() *bench {
		b := pausedAtStep(t, 5, 3, func(b *bench) { b.s.opts.Forks = 1 })
		b.send(events.Rerun{Range: events.Range{From: 0, To: 3}})
		b.log = nil
		b.start() // the first runs
		return b
	}
	runs := func(b *bench) string {
		var words []string
		for _, w := range b.log {
			if strings.HasPrefix(w, "started") || strings.HasPrefix(w, "retrying") || strings.HasPrefix(w, "skipped") || strings.HasPrefix(w, "run.") {
				words = append(words, w)
			}
		}
		return strings.Join(words, ", ")
	}
	for _, tt := range []struct {
		name string
		c    events.Command
		want string
	}{
		{"exclude", events.Exclude{Range: stepRange(1)}, "retrying 2"},
		{"step", events.Advance{Verb: "step"}, "run.resumed, retrying 1, retrying 2, started 3, run.paused:step 4"},
		{"over", events.Advance{Verb: "over", Range: stepRange(3)}, "run.resumed, retrying 1, retrying 2, started 3, run.paused:step 4"},
		{"continue", events.Continue{}, "run.resumed, retrying 1, retrying 2, started 3, started 4, run.completed:done"},
		{"retry", events.Retry{Range: events.Range{From: 0, To: 3}}, "retrying 1, retrying 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := setup()
			b.send(tt.c)
			b.all()
			if got := runs(b); got != tt.want {
				t.Errorf("%s, want %s\n%s", got, tt.want, strings.Join(b.log, "\n"))
			}
		})
	}
	t.Run("replaced", func(t *testing.T) {
		b := pausedAtStep(t, 5, 3, nil)
		b.outcome = func(step, attempt int) events.Outcome {
			return map[bool]events.Outcome{true: events.Failed, false: events.OK}[step == 0 && attempt == 2]
		}
		b.send(events.Rerun{Range: events.Range{From: 0, To: 3}})
		b.all()
		var warned []string
		b.s.emit = func(_ int, e events.Event) {
			if w, ok := e.(events.Warning); ok {
				warned = append(warned, w.Message)
			}
		}
		p := graphtest.NewPlan(5)
		p.Digest = "d2"
		b.s.Replan(fact.Record{At: b.now, Fact: fact.RunReplanned{Generation: 2, Digest: "d2", Total: 5, Keeps: true}}, p, chain(t, p))
		if len(warned) != 1 || !strings.Contains(warned[0], "step-0002, step-0003") {
			t.Errorf("what is not run again is not named: %q", warned)
		}
	})
}

// A step is one step, also if it is a pause of the playbook that a person answers.
func TestStepOverGate(t *testing.T) {
	b := pausedAtStep(t, 4, 1, func(b *bench) { b.s.graph.Nodes[b.s.id(1)].Kind = graph.Gate })
	b.send(events.Advance{Verb: "step"})
	b.all()
	b.add(fact.GateResolved{Step: 1, By: "test"})
	b.all()
	if b.run.Steps[2].Attempt > 0 || b.s.pause.Reason != events.PauseStep || b.s.pause.Step != 2 {
		t.Errorf("after the answer the run is at %+v, and step 2 had %d attempts", b.s.pause, b.run.Steps[2].Attempt)
	}
}

// A step that was skipped as excluded does not come back when the plan is replaced, and the pause stays after it.
func TestExcludedStepsStayGone(t *testing.T) {
	b := pausedAtStep(t, 4, 2, func(b *bench) { b.send(events.Exclude{Range: stepRange(1)}) })
	p := graphtest.NewPlan(4)
	p.Digest, p.Steps[3].Digest = "d2", "new"
	b.s.Replan(fact.Record{At: b.now, Fact: fact.RunReplanned{Generation: 2, Digest: "d2", Total: 4, Keeps: true}}, p, chain(t, p))
	if n := b.s.node(1); n.outcome != events.Skipped || b.s.pause.Step != 2 || b.s.pause.Reason != events.PauseBreakpoint {
		t.Errorf("it is %s, and the run is paused at %+v", n.state, b.s.pause)
	}
}

// A run that is kept open can be left, whatever it is kept open for.
func TestLeaveAtTheEnd(t *testing.T) {
	for _, policy := range []fact.Policy{fact.Drain, fact.Continue} {
		p := graphtest.NewPlan(2)
		b := newBench(t, p, chain(t, p), fact.Options{KeepOpen: true, OnFailure: policy})
		b.outcome = func(step, _ int) events.Outcome {
			return map[bool]events.Outcome{true: events.Failed, false: events.OK}[step == 1]
		}
		b.all()
		if why := b.send(events.Leave{}); why != "" || b.s.pause.Reason != events.PauseEnd {
			t.Fatalf("%s: %q, paused at %+v", policy, why, b.s.pause)
		}
		b.all()
		if b.run.Result.Outcome != events.RunFailed {
			t.Errorf("%s: left, the run is %+v", policy, b.run.Result)
		}
	}
}

// What was not reached says why, also when another failure is taken back and it is decided about again.
func TestCauseStaysWhenAnotherFailureIsTakenBack(t *testing.T) {
	p := graphtest.NewPlan(3)
	gb := graph.NewBuilder(3)
	a := gb.Node(graph.Node{Step: 0, Pool: -1}, nil)
	b := gb.Node(graph.Node{Step: 1, Pool: -1}, nil)
	task := gb.Node(graph.Node{Kind: graph.Barrier, Step: -1, Pool: -1}, []graph.Edge{{From: a, On: events.OnFinish}, {From: b, On: events.OnFinish}})
	gb.Node(graph.Node{Step: 2, Pool: -1}, []graph.Edge{{From: a, On: events.OnSuccess}, {From: task, On: events.OnSuccess}})
	g, err := gb.Graph()
	if err != nil {
		t.Fatal(err)
	}
	be := newBench(t, p, g, fact.Options{OnFailure: fact.Continue, KeepOpen: true})
	be.outcome = func(int, int) events.Outcome { return events.Failed }
	be.all()
	be.send(events.Mark{Range: stepRange(1)})
	be.all()
	if st := be.run.Steps[2]; st.Outcome != events.Omitted || st.Cause != 0 {
		t.Errorf("%+v", st)
	}
}

// A done step that nothing leads to any more, because what was put above it failed, leads to nothing when it is run again.
func TestRerunOfUnreachedStep(t *testing.T) {
	b := pausedAtStep(t, 3, 2, func(b *bench) { b.s.opts.OnFailure = fact.Continue })
	p := graphtest.NewPlan(4)
	p.Digest = "d2"
	for i := range p.Steps {
		if i > 0 {
			name := string(rune('0' + i - 1))
			p.Steps[i].Path, p.Steps[i].Digest = name, name
		}
	}
	p.Steps[0].Path, p.Steps[0].Digest = "new", "new"
	b.s.Replan(fact.Record{At: b.now, Fact: fact.RunReplanned{Generation: 2, Digest: "d2", Total: 4, Keeps: true}}, p, chain(t, p))
	clear(b.done) // it goes by numbers
	b.outcome = func(step, _ int) events.Outcome {
		return map[bool]events.Outcome{true: events.Failed, false: events.OK}[step == 0]
	}
	b.send(events.Approve{Range: events.Range{From: 0, To: 4}})
	b.send(events.Continue{})
	b.all() // paused on the failure
	b.send(events.Continue{})
	b.all()
	b.send(events.Rerun{Range: stepRange(1)})
	b.all()
	if left := b.s.tally().unexplained(); left != nil || b.run.Steps[3].Outcome != events.Omitted || b.run.Steps[1].Outcome != events.OK {
		t.Errorf("nothing says why %v was not run; %+v", left, b.run.Steps[3])
	}
}

// A failure that waits for a decision is kept when values are changed. If what comes before it runs again and the run is stopped meanwhile,
// nothing is asked any more: it counts as failed, and the run ends.
func TestStopAboveAKeptFailure(t *testing.T) {
	for _, how := range []events.StopHow{events.StopDrain, events.StopInterrupt} {
		p := graphtest.NewPlan(3)
		b := newBench(t, p, chain(t, p), fact.Options{BreakOnFailure: true})
		b.s.carry(p, b.s.graph, carrying{of: []int{0, 1, 2}, generation: 2, keeps: true}, func(step int, _ *node) (*ending, choice) {
			if step == 1 {
				return &ending{outcome: events.Failed, digest: p.Steps[1].Digest, held: true, err: "exit status 1"}, approved
			}
			return nil, approved
		})
		b.start()
		if !slices.Equal(b.running, []int{0}) {
			t.Fatalf("running: %v", b.running)
		}
		if why := b.send(events.Stop{How: how}); why != "" {
			t.Fatal(why)
		}
		b.all()
		if !b.s.finished || b.s.counts.Failed != 1 || b.run.Steps[1].Open {
			t.Errorf("%s: finished %t, %+v; %v", how, b.s.finished, b.s.counts, b.log)
		}
	}
}

// steppedOnto is a run that stepping has paused before step 2, which has a breakpoint.
func steppedOnto(t *testing.T, bp events.Break) *bench {
	t.Helper()
	b := pausedAtStep(t, 5, 1, nil)
	if why := b.send(events.Break{Step: 2, To: bp.To}); why != "" {
		t.Fatal(why)
	}
	if on := (&breaks{Break: bp}); bp.When != "" || bp.After > 0 || bp.Log != "" { // no plan of this bench has conditions: even steps hold
		for i := bp.Range().From; i < bp.Range().To; i++ {
			b.s.breaks[i] = on
		}
	}
	b.send(events.Advance{Verb: "step"})
	b.all()
	if b.s.pause.Step != 2 || b.s.pause.Reason != events.PauseStep {
		t.Fatalf("%+v: paused %+v", bp, b.s.pause)
	}
	return b
}

// Whoever steps onto a breakpoint and continues has seen it: it does not pause the run at the same place again. A condition is still
// counted there, and a message is still printed.
func TestGoOnFromABreakpointThatWasSteppedOnto(t *testing.T) {
	for _, bp := range []events.Break{{Step: 2}, {Step: 2, When: "true"}, {Step: 2, To: 5, After: 1}, {Step: 2, Log: "here"}} {
		for _, by := range []events.Command{events.Continue{}, events.Advance{Verb: "over", Range: events.Range{From: 2, To: 5}}, events.Advance{Verb: "step"}} {
			b := steppedOnto(t, bp)
			b.log = nil
			b.send(by)
			b.all()
			log := strings.Join(b.log, ", ")
			if !strings.Contains(log, "started 2") {
				t.Errorf("%+v, %+v: paused again: %s", bp, by, log)
			}
			if hits := b.s.breaks[4]; bp.After > 0 && by != (events.Advance{Verb: "step"}) && (hits.hits != 2 || b.s.pause.Step != 4) {
				t.Errorf("%+v, %+v: hit %d times, paused %+v", bp, by, hits.hits, b.s.pause)
			}
			if bp.Log != "" && strings.Count(log, "print.message 2") != 1 {
				t.Errorf("%+v, %+v: %s", bp, by, log)
			}
		}
	}
}

// A step that must be confirmed and has a breakpoint pauses the run once; one that gets its breakpoint during the pause, again.
func TestBreakpointOfAStepToConfirm(t *testing.T) {
	for during, want := range map[bool]int{false: 1, true: 2} {
		b := pausedAtStep(t, 4, 1, func(b *bench) { b.s.plan.Steps[2].Confirm = "sure?" })
		if !during {
			b.send(events.Break{Step: 2})
		}
		b.send(events.Continue{})
		b.all()
		if b.s.pause.Reason != events.PauseConfirm {
			t.Fatalf("paused %+v", b.s.pause)
		}
		if during {
			b.send(events.Break{Step: 2})
		}
		b.send(events.Approve{Range: stepRange(2), Confirm: true})
		for !b.s.finished && b.send(events.Continue{}) == "" {
			b.all()
		}
		if got := pausesAt(b, 2); !b.s.finished || got != want {
			t.Errorf("set during the pause %t: paused %d times, want %d: %s", during, got, want, strings.Join(b.log, ", "))
		}
	}
}

// pausesAt is how often the run has paused before a step.
func pausesAt(b *bench, step int) (n int) {
	for _, r := range b.facts {
		if f, ok := r.Fact.(fact.RunPaused); ok && f.Step == step {
			n++
		}
	}
	return n
}

// cleaningUp is a run whose first step fails under drain; the second is essential, like one of an `always`.
func cleaningUp(t *testing.T, o fact.Options, confirm string) *bench {
	t.Helper()
	p := graphtest.NewPlan(2)
	p.Steps[1].Confirm = confirm
	gb := graph.NewBuilder(2)
	body := gb.Node(graph.Node{Step: 0, Pool: -1}, nil)
	gb.Node(graph.Node{Step: 1, Pool: -1, Essential: true}, []graph.Edge{{From: body, On: events.OnFinish}})
	g, err := gb.Graph()
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, p, g, o)
	b.outcome = func(step, _ int) events.Outcome {
		return []events.Outcome{events.Failed, events.OK}[step]
	}
	return b
}

// A step that asks to be confirmed never runs unconfirmed, also not in the `always` of a block that failed, and a breakpoint and the
// approval count there too.
func TestGatesAfterAFailure(t *testing.T) {
	for _, tt := range []struct {
		name    string
		confirm string
		review  bool
		set     []events.Command
		reason  events.PauseReason
		release []events.Command
	}{
		{"confirm", "sure?", true, []events.Command{events.Approve{Range: stepRange(0)}, events.Continue{}}, events.PauseConfirm, []events.Command{events.Approve{Range: stepRange(1), Confirm: true}}},
		{"breakpoint", "", false, []events.Command{events.Break{Step: 1}}, events.PauseBreakpoint, nil},
		{"undecided", "", true, []events.Command{events.Approve{Range: stepRange(0)}, events.Continue{}}, events.PauseUndecided, []events.Command{events.Approve{Range: stepRange(1)}}},
	} {
		for _, policy := range []fact.Policy{fact.Drain, fact.Cancel} {
			b := cleaningUp(t, fact.Options{Review: tt.review, OnFailure: policy}, tt.confirm)
			for _, c := range tt.set {
				b.send(c)
			}
			b.all()
			if log := strings.Join(b.log, ", "); b.s.pause.Reason != tt.reason || b.s.pause.Step != 1 || strings.Contains(log, "started 1") {
				t.Errorf("%s, %s: paused %+v: %s", tt.name, policy, b.s.pause, log)
				continue
			}
			for _, c := range append(tt.release, events.Continue{}) {
				if why := b.send(c); why != "" {
					t.Errorf("%s, %s: %+v is refused: %s", tt.name, policy, c, why)
				}
			}
			b.all()
			if log := strings.Join(b.log, ", "); !strings.Contains(log, "started 1") || !b.s.finished {
				t.Errorf("%s, %s: %s", tt.name, policy, log)
			}
		}
	}
}

// In a run without a review nobody is there to confirm a step that was added: it ends in order.
func TestNobodyConfirms(t *testing.T) {
	b := cleaningUp(t, fact.Options{}, "sure?")
	b.s.choices[1] |= added
	b.start()
	b.all()
	if log := strings.Join(b.log, ", "); !strings.Contains(log, "unasked 1") || strings.Contains(log, "started 1") || !b.s.finished {
		t.Error(log)
	}
}

// Stopping the run instead of confirming leaves the step out, before and after it is reached.
func TestStopRunsNothingUnconfirmed(t *testing.T) {
	for _, reached := range []bool{false, true} {
		b := cleaningUp(t, fact.Options{Review: true}, "sure?")
		b.start()
		b.send(events.Approve{Range: stepRange(0)})
		b.send(events.Continue{})
		if reached {
			b.all()
		}
		b.send(events.Stop{How: events.StopDrain})
		b.all()
		if log := strings.Join(b.log, ", "); strings.Contains(log, "started 1") || !strings.Contains(log, "omitted:the run was stopped 1") || !b.s.finished {
			t.Errorf("reached %t: %s", reached, log)
		}
	}
}

// A step that was skipped when its turn came cannot be restored, and the user gets the reason; "restore" takes the others of a range.
func TestRestoreWhatWasSkipped(t *testing.T) {
	b := pausedAtStep(t, 5, 1, nil)
	b.send(events.Exclude{Range: stepRange(1)})
	b.send(events.Break{Step: 3})
	b.send(events.Continue{})
	b.all()
	if b.s.pause.Step != 3 {
		t.Fatalf("paused %+v", b.s.pause)
	}
	for step, want := range map[int]string{1: "step-0002 was already skipped and cannot be restored", 2: "nothing here is excluded", 4: "nothing here is excluded"} {
		if why := b.send(events.Include{Range: stepRange(step)}); why != want {
			t.Errorf("restoring step %d: %q, want %q", step, why, want)
		}
	}
	b.send(events.Exclude{Range: events.Range{From: 2, To: 5}})
	if why := b.send(events.Include{Range: events.Range{From: 0, To: 5}}); why == "" {
		t.Error("what was skipped is restored along with what was not")
	}
	for _, r := range (events.Range{From: 0, To: 5}).Where(b.s.Restorable) {
		if why := b.send(events.Include{Range: r}); why != "" {
			t.Error(why)
		}
	}
	if b.s.choices[1]&excluded == 0 || b.s.choices[2]&excluded != 0 || b.s.choices[4]&excluded != 0 {
		t.Errorf("%v", b.s.choices)
	}
	b.send(events.Continue{})
	b.all()
	if log := strings.Join(b.log, ", "); !strings.Contains(log, "started 4") || !b.s.finished {
		t.Error(log)
	}
	foldAgainOf(t, b)
}
