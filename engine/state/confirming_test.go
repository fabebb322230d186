package state

import (
	"slices"
	"strings"
	"testing"

	"moon/engine/graph/graphtest"
	"moon/events"
	"moon/events/fact"
	"moon/internal/people"
)

// guarded is a run of three steps, of which certain people have to confirm the second.
func guarded(t *testing.T, o fact.Options, d people.Demand) *bench {
	t.Helper()
	p := graphtest.NewPlan(3)
	p.Steps[1].Confirm, p.Steps[1].Confirmers = "drop it?", &d
	return newBench(t, p, chain(t, p), o)
}

// confirmAs confirms steps as a user, or as a flag does, and says why that is refused.
func (b *bench) confirmAs(user string, r events.Range, groups ...string) string {
	b.t.Helper()
	o := events.Order{Command: events.Approve{Range: r, Confirm: true}}
	if user != "flag" {
		o.By = &people.Person{User: user, Groups: groups}
	}
	if why := b.s.Refuse(o); why != "" {
		b.add(fact.Refused{Order: o, Reason: why})
		return why
	}
	b.add(fact.Commanded{Order: o})
	return ""
}

func (b *bench) wantState(what string, step int, confirmed bool, by ...string) {
	b.t.Helper()
	s := b.run.Steps[step]
	if s.Confirmed != confirmed || !slices.Equal(s.By, by) || b.s.unconfirmed(step) == confirmed {
		b.t.Errorf("%s: confirmed is %v (%v for the run), by %v", what, s.Confirmed, !b.s.unconfirmed(step), s.By)
	}
}

// Two different people, each of whom counts once, whatever else is sent.
func TestTwoPeopleConfirm(t *testing.T) {
	b := guarded(t, fact.Options{}, people.Demand{By: 2})
	b.all()
	if !b.s.paused || b.s.pause.Reason != events.PauseConfirm || !strings.Contains(b.s.pause.Message, "drop it? (needs 2 people)") {
		t.Fatalf("the run is not paused for them: %+v", b.s.pause)
	}
	for _, r := range []events.Range{{From: 1, To: 2}, {From: 0, To: 3}} {
		b.confirmAs("flag", r)
		b.wantState("a flag", 1, false)
		b.confirmAs("", r)
		b.wantState("no name", 1, false)
	}
	if why := b.confirmAs("ada", stepRange(1)); why != "" {
		t.Fatal(why)
	}
	b.wantState("one", 1, false, "ada")
	if why := b.confirmAs("ada", stepRange(1)); why != "ada has confirmed it already; it needs 1 more person" {
		t.Errorf("twice: %q", why)
	}
	b.confirmAs("ada", events.Range{From: 0, To: 3})
	b.wantState("twice, with all others", 1, false, "ada")
	if why := b.send(events.Continue{}); !strings.Contains(why, "not approved") {
		t.Errorf("continue: %q", why)
	}
	b.start()
	if len(b.running) > 0 || b.s.node(1).state != ready {
		t.Fatal("it runs with one")
	}
	b.log = nil
	if why := b.confirmAs("bob", stepRange(1)); why != "" {
		t.Fatal(why)
	}
	b.wantState("both", 1, true, "ada", "bob")
	b.all()
	b.want("command.accepted", "confirmed 1", "gate.resolved 1", "run.resumed", "started 1", "completed 1", "started 2", "completed 2", "run.completed:done")
	foldAgainOf(t, b)
}

func TestGroupConfirms(t *testing.T) {
	b := guarded(t, fact.Options{Review: true}, people.Demand{By: 1, Group: "ops"})
	if why := b.confirmAs("ada", stepRange(1), "dev"); why != "ada is not in the group ops" {
		t.Errorf("another group: %q", why)
	}
	b.confirmAs("ada", events.Range{To: 3}, "dev")
	b.wantState("another group, all steps", 1, false)
	if why := b.confirmAs("bob", stepRange(1), "dev", "ops"); why != "" {
		t.Error(why)
	}
	b.wantState("a member", 1, true, "bob")
	b.send(events.Withdraw{Range: stepRange(1)})
	if !b.s.unconfirmed(1) || b.run.Steps[1].Confirmed {
		t.Error("it was withdrawn")
	}
}

// What has been confirmed runs once: another run of the step is another decision, however it comes about.
func TestConfirmationsAreSpent(t *testing.T) {
	b := guarded(t, fact.Options{Review: true, BreakOnFailure: true, KeepOpen: true}, people.Demand{By: 2})
	b.outcome = func(step, _ int) events.Outcome {
		if step == 1 {
			return events.Failed
		}
		return events.OK
	}
	b.confirmAs("ada", stepRange(1))
	b.confirmAs("bob", stepRange(1))
	b.send(events.Approve{Range: events.Range{To: 3}})
	b.send(events.Continue{})
	b.all()
	if b.s.pause.Reason != events.PauseFailure {
		t.Fatalf("not failed: %+v", b.s.pause)
	}
	for _, c := range []events.Command{events.Retry{Range: stepRange(1)}, events.Retry{Range: events.Range{To: 3}}} {
		if why := b.send(c); !strings.Contains(why, "has to be confirmed again before: it needs 2 people") {
			t.Errorf("%+v: %q", c, why)
		}
	}
	b.confirmAs("ada", stepRange(1))
	if why := b.send(events.Retry{Range: stepRange(1)}); !strings.Contains(why, "1 more person") {
		t.Errorf("retry with one: %q", why)
	}
	b.confirmAs("eve", stepRange(1))
	b.outcome = func(int, int) events.Outcome { return events.OK }
	if why := b.send(events.Retry{Range: stepRange(1)}); why != "" {
		t.Fatal(why)
	}
	b.all()
	if b.s.node(1).outcome != events.OK {
		t.Fatalf("it has not run again: %v", b.s.node(1))
	}
	b.send(events.Pause{})
	if why := b.send(events.Rerun{Range: stepRange(1)}); !strings.Contains(why, "has to be confirmed again before") && !strings.Contains(why, "ended") {
		t.Errorf("rerun: %q", why)
	}
	foldAgainOf(t, b)
}

// A resumed run may run a done step again that was edited: it waits for its people, as if it had never run.
func TestEditedStepAsksAgain(t *testing.T) {
	b := guarded(t, fact.Options{Review: true}, people.Demand{By: 1})
	b.confirmAs("ada", stepRange(1))
	b.send(events.Approve{Range: events.Range{To: 3}})
	b.send(events.Break{Step: 2})
	b.send(events.Continue{})
	b.all()
	b.s.queueReruns([]int{1})
	delete(b.done, 1)
	b.start()
	if len(b.running) > 0 {
		t.Fatal("it runs again without a confirmation")
	}
	b.send(events.Continue{})
	b.start()
	if len(b.running) > 0 || b.s.pause.Reason != events.PauseConfirm {
		t.Fatalf("it does not ask: %+v", b.s.pause)
	}
	b.confirmAs("ada", stepRange(1))
	b.send(events.Continue{})
	b.all()
	if b.s.node(1).attempt != 2 || !b.s.finished {
		t.Errorf("it has not run again: %+v", b.s.node(1))
	}
}

// Another plan with the same step keeps who has confirmed it; another step, and the same run by another process, ask as they must.
func TestConfirmationsOfAnotherPlan(t *testing.T) {
	for _, tt := range []struct {
		name   string
		digest string
		by     []string
	}{{"the same step", "", []string{"ada"}}, {"an edited step", "other", nil}} {
		t.Run(tt.name, func(t *testing.T) {
			b := guarded(t, fact.Options{Review: true}, people.Demand{By: 2})
			b.confirmAs("ada", stepRange(1))
			p := graphtest.NewPlan(3)
			p.Digest = "second"
			p.Steps[1].Confirm, p.Steps[1].Confirmers = "drop it?", &people.Demand{By: 2}
			if tt.digest != "" {
				p.Steps[1].Digest = tt.digest
			}
			b.s.Replan(fact.Record{At: b.now, Fact: fact.RunReplanned{Digest: p.Digest, Generation: 2, Keeps: true}}, p, chain(t, p))
			b.wantState(tt.name, 1, false, tt.by...)
			b.confirmAs("bob", stepRange(1))
			b.wantState(tt.name+", bob", 1, len(tt.by) == 1, append(tt.by, "bob")...)
		})
	}
}
