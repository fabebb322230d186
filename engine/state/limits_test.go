package state

import (
	"strings"
	"testing"
	"time"

	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/events/fact"
	"moon/plan"
)

// limited is a run of four steps in order, of which the second and the third may take ten seconds together.
func limited(t *testing.T, o fact.Options) *bench {
	t.Helper()
	p := graphtest.NewPlan(4)
	p.Scopes = append(p.Scopes, plan.Scope{
		ID: 1, Kind: plan.ScopeBlock, Name: "deploy", Path: "deploy", First: 1, Last: 3, Timeout: 10 * time.Second,
	})
	p.Steps[1].Scope, p.Steps[2].Scope = 1, 1
	b := newBench(t, p, chain(t, p), o)
	b.start()
	return b
}

// pass lets time go by, and carries out what follows.
func (b *bench) pass(d time.Duration) {
	b.t.Helper()
	b.now = b.now.Add(d)
	b.start()
}

// ends ends the attempt that runs, after a while.
func (b *bench) ends(after time.Duration) {
	b.t.Helper()
	b.pass(after)
	b.end(0)
	b.start()
}

func (b *bench) wantUntil(want time.Duration) {
	b.t.Helper()
	d, ok := b.s.Next(b.now).(Idle)
	if !ok || d.Until.Sub(b.now) != want {
		b.t.Errorf("the run does nothing until %s (%T), want %s", d.Until.Sub(b.now), b.s.Next(b.now), want)
	}
}

// The time of a scope begins with its first step, and is over for all of its steps together.
func TestLimitOfAScope(t *testing.T) {
	b := limited(t, fact.Options{})
	b.ends(time.Hour) // before the scope: it has no share in its time
	b.wantUntil(10 * time.Second)
	b.ends(6 * time.Second)
	b.wantUntil(4 * time.Second)
	b.outcome = func(int, int) events.Outcome { return events.Cancelled }
	b.pass(4 * time.Second)
	if why := b.s.RanOut(2); !strings.HasPrefix(why, "timed out: block «deploy»") || !strings.HasSuffix(why, "may take 10s") {
		t.Errorf("the third step is interrupted because %q", why)
	}
	b.end(0)
	b.start()
	if got := b.s.node(2).outcome; got != events.Timeout {
		t.Errorf("the third step has ended as %s", got)
	}
	if got := b.run.Result; got.Outcome != events.RunFailed || got.Failed != 1 || got.NotRun != 1 {
		t.Errorf("the run has ended as %+v", got)
	}
	foldAgain(t, b, b.s.plan, b.s.graph)
}

// A step that ends well although it was interrupted has ended well; what comes after it in the scope fails, as no time is left for it.
func TestLimitIsOverBetweenSteps(t *testing.T) {
	b := limited(t, fact.Options{})
	b.ends(0)
	b.pass(11 * time.Second)
	b.end(0) // ok
	b.start()
	if got := b.s.node(1).outcome.String() + " " + b.s.node(2).outcome.String() + " " + b.s.node(3).outcome.String(); got != "ok timeout omitted" {
		t.Errorf("the steps have ended as %s", got)
	}
	if got := b.s.node(2).attempt; got != 0 {
		t.Errorf("the third step was tried %d times", got)
	}
	foldAgain(t, b, b.s.plan, b.s.graph)
}

// What a person takes to decide does not count.
func TestLimitWaitsForPeople(t *testing.T) {
	b := limited(t, fact.Options{})
	b.ends(0)
	b.send(events.Pause{})
	b.wantUntil(10 * time.Second) // what runs goes on, and so does the clock
	b.ends(3 * time.Second)
	if d := b.s.Next(b.now); d != (Idle{}) { // paused, and nothing runs
		t.Errorf("a paused run does %+v", d)
	}
	b.pass(time.Hour)
	b.send(events.Continue{})
	b.start()
	b.wantUntil(7 * time.Second)
	b.ends(7*time.Second - 1)
	b.ends(time.Hour) // the scope has ended, and its time with it
	if got := b.run.Result; got.Outcome != events.RunDone {
		t.Errorf("the run has ended as %+v", got)
	}
}

// A run that is resumed has the time that was left; once the time was over, a new attempt has all of it.
func TestLimitOfAResumedRun(t *testing.T) {
	resume := func(b *bench) {
		r := fact.Record{At: b.now, Mono: b.now.Sub(time.Unix(1_000_000, 0)), Fact: fact.RunResumed{
			Generation: 2, Digest: b.s.plan.Digest, Total: 4, Options: b.s.opts, Keeps: true,
			Lost: []fact.Lost{{Step: 2, As: fact.LostRetry}},
		}}
		b.running = nil
		b.s.Resume(r, b.s.plan, b.s.graph)
		b.record(r)
		b.start()
	}
	b := limited(t, fact.Options{})
	b.ends(0)
	b.ends(6 * time.Second)
	b.now = b.now.Add(time.Hour) // no process
	resume(b)
	b.wantUntil(4 * time.Second)
	b.pass(4 * time.Second)
	b.outcome = func(int, int) events.Outcome { return events.Failed }
	b.end(0)
	b.start()
	if got := b.s.node(2).outcome; got != events.Timeout {
		t.Fatalf("the third step has ended as %s", got)
	}
	b.now = b.now.Add(time.Hour)
	resume(b)
	b.wantUntil(10 * time.Second)
	foldAgain(t, b, b.s.plan, b.s.graph)
}

// A person who tries again what had no time left gives it all of its time again.
func TestLimitOfARetry(t *testing.T) {
	b := limited(t, fact.Options{BreakOnFailure: true, KeepOpen: true})
	b.ends(0)
	b.ends(6 * time.Second)
	b.outcome = func(int, int) events.Outcome { return events.Failed }
	b.ends(5 * time.Second)
	if b.s.node(2).state != failed || b.s.node(2).outcome != events.Timeout {
		t.Fatalf("the third step is %s (%s)", b.s.node(2).state, b.s.node(2).outcome)
	}
	b.send(events.Retry{Range: events.Range{From: 2, To: 3}})
	b.start()
	b.wantUntil(10 * time.Second)
	b.outcome = func(int, int) events.Outcome { return events.OK }
	b.send(events.Continue{})
	b.ends(9 * time.Second)
	b.ends(time.Hour)
	if got := b.run.Result; got.Outcome != events.RunDone {
		t.Errorf("the run has ended as %+v", got)
	}
}

// The time of the run counts instead of that of the playbook, and holds for steps in no other scope, too.
func TestLimitOfARun(t *testing.T) {
	b := limited(t, fact.Options{Timeout: 3 * time.Second})
	if b.run.Timeout != 3*time.Second {
		t.Errorf("views are told that the run may take %s", b.run.Timeout)
	}
	b.wantUntil(3 * time.Second)
	b.ends(2 * time.Second)
	b.wantUntil(time.Second)
	b.outcome = func(int, int) events.Outcome { return events.Failed }
	b.ends(time.Second)
	if got := b.run.Result; got.Failed != 1 || got.NotRun != 2 {
		t.Errorf("the run has ended as %+v", got)
	}
	if why := b.s.ends[1].outcome; why != events.Timeout {
		t.Errorf("the second step has ended as %s", why)
	}
}

// What cleans up has no limit, and a rescue none of its own block.
func TestWhatALimitIsNotFor(t *testing.T) {
	p := graphtest.NewPlan(3)
	p.Scopes = append(p.Scopes,
		plan.Scope{ID: 1, Kind: plan.ScopeBlock, First: 0, Last: 3, Timeout: time.Second},
		plan.Scope{ID: 2, Kind: plan.ScopeBranch, Branch: "rescue", Parent: 1, First: 1, Last: 2},
		plan.Scope{ID: 3, Kind: plan.ScopeBranch, Branch: "always", Parent: 1, First: 2, Last: 3})
	p.Steps[0].Scope, p.Steps[1].Scope, p.Steps[2].Scope = 1, 2, 3
	s := New(p, chain(t, p), nil)
	s.opts.Timeout = time.Minute
	s.setLimits()
	for step, want := range []string{"1 0", "0", ""} {
		var got []string
		for _, scope := range s.limitsOf(step) {
			got = append(got, string(rune('0'+scope)))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("step %d is under the limits %v, want %s", step, got, want)
		}
	}
}
