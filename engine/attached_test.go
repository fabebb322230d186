package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"moon/engine"
	"moon/engine/history"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
)

// TestAttached has two screens of other processes look at a run under review, decide, ask and break it, and compares what they know with
// what the run says itself.
func TestAttached(t *testing.T) {
	p, g := build(t, `
- name: give
  shell: give
  register: given
- name: use
  shell: "use {{ given.stdout }}"
- name: last
  shell: last
`)
	var mu sync.Mutex
	var log []string
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, cmdOf(job))
		fmt.Fprint(job.Output.Stdout(), "words of "+cmdOf(job))
		if cmdOf(job) == "last" && len(log) < 4 {
			return exec.Result{Outcome: events.Failed, Error: "not yet"}
		}
		return exec.Result{Outcome: events.OK}
	}}
	s := begin(t, p, g, f, fact.Options{Forks: 1, Review: true, BreakOnFailure: true})
	w := watching(t, s, false)
	w.until("the review", func() bool { return w.run.ID != "" && w.run.Phase == events.Review })

	type screen struct {
		*engine.Attached
		*watch
	}
	attach := func() screen {
		t.Helper()
		past, err := history.Find(filepath.Dir(s.Dir()), s.ID())
		if err != nil {
			t.Fatal(err)
		}
		a, err := engine.Attach(past, "", plansOf(p, g), engine.DeliverTo(s.Dir()))
		if err != nil {
			t.Fatal(err)
		}
		return screen{a, watching(t, a, false)}
	}
	one, two := attach(), attach()
	sent := 0
	send := func(to screen, c events.Command) {
		sent++
		to.Send(events.Order{ID: fmt.Sprint("o", sent), Command: c, Plan: p.Digest})
	}
	one.until("the review, elsewhere", func() bool { return one.run.ID != "" && one.run.Phase == events.Review })
	if _, err := one.Eval(p, 1, "given.stdout"); err == nil {
		t.Error("a value is known that no step has given")
	}
	send(one, events.Approve{Range: events.Range{To: 3}, Digest: p.Digest})
	send(one, events.Advance{Verb: "step"})
	two.until("one step done, seen by the other", func() bool {
		return len(two.run.Steps) > 0 && two.run.Steps[0].Outcome == events.Changed && two.run.Phase == events.Paused
	})
	if got, err := two.Eval(p, 1, "given.stdout"); err != nil || !strings.Contains(got, "words of give") {
		t.Errorf("the value is %q, %v", got, err)
	}
	if now, err := two.StepNow(p, 1); err != nil || !strings.Contains(now.Title(), "use") || len(now.Unknowns) > 0 {
		t.Errorf("the step is %+v, %v", now, err)
	}
	if waits := two.Why(p.Digest, []int{2, 1}); !reflect.DeepEqual(waits, s.Why(p.Digest, []int{2, 1})) || len(waits) != 2 {
		t.Errorf("what keeps the others: %+v", waits)
	}
	send(two, events.Continue{})
	one.until("the failure", func() bool {
		return one.run.Phase == events.Paused && len(one.run.Steps) > 0 && one.run.Steps[2].Attempt == 1
	})
	send(one, events.Retry{Range: events.Range{From: 2, To: 3}})
	send(one, events.Retry{Range: events.Range{From: 0, To: 1}}) // which is refused
	send(one, events.Continue{})
	one.done()
	two.done()
	w.done()
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(log, ", "), "give, use words of give, last, last"; got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	if one.run.Result.Outcome != events.RunDone || !reflect.DeepEqual(two.run.Result, w.run.Result) {
		t.Errorf("it ended %+v, %+v, %+v", one.run.Result, two.run.Result, w.run.Result)
	}
	var by, refused []string
	for _, r := range w.all {
		switch e := r.Event.(type) {
		case events.CommandAccepted:
			by = append(by, e.ID+" "+strings.TrimPrefix(e.Actor, history.Self().User))
		case events.CommandRejected:
			refused = append(refused, e.ID)
		}
	}
	if got, want := strings.Join(by, ","), "o1 (attach),o2 (attach),o3 (attach),o4 (attach),o6 (attach)"; strings.ReplaceAll(got, "  ", " ") != want {
		t.Errorf("accepted %s, want %s", got, want)
	}
	if got := strings.Join(refused, ","); got != "o5" {
		t.Errorf("refused %s", got)
	}
}

// TestAttachedToNobody sends a command to a run whose process takes none any more. The screen must not wait for an answer.
func TestAttachedToNobody(t *testing.T) {
	s, _, p, g, let := gated(t, "- shell: a\n")
	past, err := history.Find(filepath.Dir(s.Dir()), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	a, err := engine.Attach(past, "", plansOf(p, g), engine.DeliverTo(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	w := watching(t, a, false)
	a.Send(events.Order{ID: "lost", Command: events.Pause{}, Plan: p.Digest})
	w.until("the refusal", func() bool {
		for _, r := range w.all {
			if e, is := r.Event.(events.CommandRejected); is {
				return e.ID == "lost" && strings.HasPrefix(e.Reason, "no process has the run")
			}
		}
		return false
	})
	let()
	w.done()
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
}
