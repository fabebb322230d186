package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"moon/engine"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
)

// A value that an override changes runs nothing again that is done, whatever its scope; that is a decision of its own.
func TestFixLeavesDoneSteps(t *testing.T) {
	text := "vars: { rate: 1 }\nsteps:\n  - name: pay\n    block:\n      - {name: charge, shell: 'charge {{ rate }}', register: c}\n      - {name: fails, shell: 'fails {{ rate }}'}\n  - {name: after, shell: 'after {{ rate }} {{ c.rc }}'}\n"
	for _, tt := range []struct {
		name, at string
		again    bool
		order    string
	}{
		{"this step", "playbook.yml/pay/fails", false, "charge 1, fails 1, fails 2, after 1 0"},
		{"the block", "playbook.yml/pay", false, "charge 1, fails 1, fails 2, after 1 0"},
		{"the rest of the run", "", false, "charge 1, fails 1, fails 2, after 2 0"},
		{"the rest of the run, and run again", "", true, "charge 1, fails 1, charge 2, fails 2, after 2 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, g := build(t, text)
			f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
				rc := 0
				if cmdOf(job) == "fails 1" {
					return exec.Result{Outcome: events.Failed, Error: "no"}
				}
				return exec.Result{Outcome: events.Changed, RC: &rc}
			}}
			s := begin(t, p, g, f, fact.Options{Review: true, BreakOnFailure: true, KeepOpen: true})
			w := watching(t, s, false)
			send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
			send(events.Approve{Range: events.Range{From: 0, To: 3}})
			send(events.Continue{})
			w.until("the failure", func() bool { return w.run.Phase == events.Paused && w.run.Pause.Reason == events.PauseFailure })
			send(events.Fix{Values: []events.Override{{Name: "rate", Value: "2", At: tt.at}}, Retry: p.Steps[1].Path, Rerun: tt.again})
			if tt.again {
				w.until("run again", func() bool {
					return len(w.run.Steps) == 3 && w.run.Steps[0].Attempt == 2 && w.run.Steps[0].State == events.Settled
				})
			} else {
				w.until("the retry", func() bool { return len(w.run.Steps) == 3 && w.run.Steps[1].Outcome == events.Changed })
				if tt.at != p.Steps[1].Path && !w.run.Steps[0].Outdated {
					t.Error("the done step does not say that its definition changed")
				}
			}
			send(events.Keep{Range: events.Range{From: 0, To: 3}})
			send(events.Continue{})
			w.done()
			if got := strings.Join(f.order, ", "); got != tt.order || w.run.Result.Outcome != events.RunDone {
				t.Errorf("ran %s, want %s; %+v", got, tt.order, w.run.Result)
			}
		})
	}
}

// A done step runs again on demand, alone or with what depends on it; the handlers and steps that merely come later do not.
func TestRerun(t *testing.T) {
	text := "- {name: make, shell: make, register: m}\n- {name: other, shell: other}\n- {name: use, shell: 'use {{ m.rc }}', register: u}\n- {name: further, shell: 'further {{ u.rc }}'}\n- {name: last, shell: last}\n"
	for _, tt := range []struct {
		with  bool
		order string
	}{
		{false, "make, other, use 0, further 0, make, last"},
		{true, "make, other, use 0, further 0, make, use 0, further 0, last"},
	} {
		p, g := build(t, text)
		f := &fake{do: func(context.Context, *exec.Job) exec.Result {
			rc := 0
			return exec.Result{Outcome: events.Changed, RC: &rc}
		}}
		s := begin(t, p, g, f, fact.Options{Review: true, BreakOnFailure: true})
		w := watching(t, s, false)
		send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
		send(events.Approve{Range: events.Range{From: 0, To: 5}})
		send(events.Break{Step: 4})
		send(events.Continue{})
		w.until("the breakpoint", func() bool { return w.run.Phase == events.Paused })
		send(events.Rerun{Range: events.Range{From: 4, To: 5}})
		send(events.Rerun{Range: events.Range{From: 0, To: 1}, With: tt.with})
		last := map[bool]int{false: 0, true: 3}[tt.with]
		w.until("run again", func() bool { return w.run.Steps[last].Attempt == 2 && w.run.Steps[last].State == events.Settled })
		if w.run.Phase != events.Paused {
			t.Error("the run goes on by itself")
		}
		send(events.Break{Step: 4, Clear: true})
		send(events.Continue{})
		w.done()
		if got := strings.Join(f.order, ", "); got != tt.order || w.run.Counts.Changed != 5 {
			t.Errorf("ran %s, want %s; %+v", got, tt.order, w.run.Counts)
		}
	}
}

// Stepping on from a failure gives it up, and pauses before the first step of its rescue.
func TestSteppingPausesBeforeRescue(t *testing.T) {
	for _, c := range []events.Advance{
		{Verb: "step"}, {Verb: "over", Range: events.Range{From: 1, To: 2}, Approve: true}, {Verb: "out", Range: events.Range{From: 0, To: 3}, Approve: true},
	} {
		p, g := build(t, "- block:\n    - shell: boom\n  rescue:\n    - shell: mend\n- shell: last\n")
		f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
			if cmdOf(job) == "boom" {
				return exec.Result{Outcome: events.Failed, Error: "no"}
			}
			return exec.Result{Outcome: events.OK}
		}}
		s := begin(t, p, g, f, fact.Options{Review: true, BreakOnFailure: true})
		w := watching(t, s, false)
		send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
		send(events.Approve{Range: events.Range{From: 0, To: 3}})
		send(events.Continue{})
		w.until("the failure", func() bool { return w.run.Phase == events.Paused && w.run.Pause.Reason == events.PauseFailure })
		send(c)
		w.until("the pause before the rescue", func() bool { return w.run.Phase == events.Paused && w.run.PausedAt == 1 })
		if w.run.Steps[1].Attempt > 0 {
			t.Errorf("%s started the rescue", c.Verb)
		}
		send(events.Continue{})
		w.done()
		if got := strings.Join(f.order, ", "); got != "boom, mend, last" {
			t.Errorf("%s: ran %s", c.Verb, got)
		}
	}
}

// At the end all that failed is tried again together, at once, and what was not run because of it follows; what has succeeded is left alone.
func TestRetryTogether(t *testing.T) {
	text := `strategy: graph
steps:
  - {name: a, id: a, shell: a}
  - {name: after a, needs: [a], shell: after a}
  - {name: b, id: b, shell: b}
  - {name: after b, needs: [b], shell: after b}
  - {name: both, needs: [a, b], shell: both}
  - {name: c, shell: c}
`
	p, g := build(t, text)
	var mended atomic.Bool
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		if cmd := cmdOf(job); (cmd == "a" || cmd == "b") && !mended.Load() {
			return exec.Result{Outcome: events.Failed, Error: "no"}
		}
		return exec.Result{Outcome: events.Changed}
	}}
	s := begin(t, p, g, f, fact.Options{Review: true, KeepOpen: true, OnFailure: fact.Continue})
	w := watching(t, s, false)
	all := events.Range{To: len(p.Steps)}
	send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
	send(events.Approve{Range: all})
	send(events.Continue{})
	w.until("the end", func() bool { return w.run.Phase == events.Ended })
	f.mu.Lock()
	first := len(f.order)
	f.mu.Unlock()
	mended.Store(true)
	send(events.Retry{Range: all, Continue: true})
	w.done()
	again := f.order[first:]
	slices.Sort(again)
	if got := strings.Join(again, ", "); first != 3 || got != "a, after a, after b, b, both" || w.run.Result.Outcome != events.RunDone {
		t.Errorf("%d steps at first, then %s; %+v", first, got, w.run.Result)
	}
	var paused int
	for _, r := range w.all {
		if e, ok := r.Event.(events.RunPaused); ok && e.Reason != events.PauseReview {
			paused++
		}
	}
	if paused != 1 {
		t.Errorf("paused %d times after the review, want only at the end", paused)
	}
}

// Who continues with a retry would decide about all that has failed, so all of that must be meant.
func TestRetryTogetherLeavesNoFailureOut(t *testing.T) {
	p, g := build(t, "strategy: graph\nsteps:\n  - {name: a, shell: a}\n  - {name: b, shell: b}\n")
	f := &fake{do: func(context.Context, *exec.Job) exec.Result { return exec.Result{Outcome: events.Failed, Error: "no"} }}
	s := begin(t, p, g, f, fact.Options{Review: true, KeepOpen: true, BreakOnFailure: true, OnFailure: fact.Continue})
	w := watching(t, s, false)
	send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
	send(events.Approve{Range: events.Range{To: 2}})
	send(events.Continue{})
	w.until("both failures", func() bool { return w.run.Counts.Failed == 2 && w.run.Phase == events.Paused })
	send(events.Retry{Range: events.Range{To: 1}, Continue: true})
	var why string
	w.until("the answer", func() bool {
		for _, r := range w.all {
			if e, ok := r.Event.(events.CommandRejected); ok {
				why = e.Reason
			}
		}
		return why != ""
	})
	if !strings.Contains(why, "another step has failed and waits for a decision") {
		t.Error(why)
	}
	send(events.Stop{How: events.StopDrain})
	w.done()
}

// A step that was marked as done is known as such to the end, in a run that is resumed, too; its time is that of its failure.
func TestMarkedIsKnownToTheEnd(t *testing.T) {
	p, g := build(t, "- {name: one, shell: one}\n- {name: two, shell: two}\n- {name: three, shell: three}\n")
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		if cmdOf(job) == "two" {
			return exec.Result{Outcome: events.OK}
		}
		return exec.Result{Outcome: events.Failed, Error: "no"}
	}}
	s := begin(t, p, g, f, fact.Options{Review: true, BreakOnFailure: true})
	w := watching(t, s, false)
	send := func(c events.Command) { s.Send(events.Order{Actor: "test", Command: c}) }
	send(events.Approve{Range: events.Range{To: 3}})
	send(events.Continue{})
	w.until("the failure", func() bool { return w.run.Phase == events.Paused && w.run.Steps[0].Outcome == events.Failed })
	took := w.run.Steps[0].Lasted(time.Now())
	time.Sleep(30 * time.Millisecond)
	send(events.Mark{Range: events.Range{To: 1}})
	send(events.Continue{})
	w.until("the other failure", func() bool { return w.run.Phase == events.Paused && w.run.Steps[2].Outcome == events.Failed })
	if st := w.run.Steps[0]; !st.Marked || st.Outcome != events.OK || st.Lasted(time.Now()) != took {
		t.Errorf("%+v took %s, and %s when it had failed", st, st.Lasted(time.Now()), took)
	}
	send(events.Continue{})
	w.done()
	if w.run.Steps[1].Marked || w.run.Result.Failed != 1 {
		t.Errorf("%+v", w.run.Result)
	}
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	f.do = nil
	again, err := resume(t, s.Dir(), p, g, f, engine.Resumption{RetryFailed: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.order, ", "); got != "one, two, three, three" {
		t.Errorf("ran %s", got)
	}
	if st := again.run.Steps[0]; !st.Marked || !st.Kept || again.run.Steps[1].Marked || again.run.Result.Outcome != events.RunDone {
		t.Errorf("%+v, %+v", st, again.run.Result)
	}
}
