package engine_test

import (
	"testing"
	"time"

	"moon/engine"
	"moon/engine/history"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
)

// TestTimes has a person take time at a review, a pause, a failure and a question, and another process go on an hour later: all views
// tell the same run time, which has none of it.
func TestTimes(t *testing.T) {
	p, g := build(t, "- shell: a\n- shell: b\n  retries: 1\n  delay: 0s\n- pause:\n    prompt: sure\n- shell: c\n- shell: d\n")
	runs, bad := t.TempDir(), 4 // attempts of b and d that fail
	f := newTimed(map[string]time.Duration{"a": 2 * time.Second, "b": 5 * time.Second, "c": time.Second, "d": 3 * time.Second}, func(cmd string) exec.Result {
		if cmd == "b" || cmd == "d" {
			if bad--; bad >= 0 {
				return exec.Result{Outcome: events.Failed, Error: "no"}
			}
		}
		return exec.Result{Outcome: events.Changed}
	})
	c := f.config(p, g, runs, "")
	c.Options.Review, c.Options.BreakOnFailure = true, true
	s, err := engine.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	w := watching(t, s, false)
	person := func(takes time.Duration, what events.Command) {
		t.Helper()
		f.clock.Add(int64(takes))
		s.Send(events.Order{Command: what})
	}
	pausedFor := func(why events.PauseReason) {
		t.Helper()
		w.until(string(why), func() bool { return w.run.Phase != events.Running && w.run.Pause.Reason == why })
	}
	pausedFor(events.PauseReview)
	person(30*time.Second, events.Approve{Range: events.Range{To: 5}})
	person(30*time.Second, events.Break{Step: 1})
	person(0, events.Continue{})
	pausedFor(events.PauseBreakpoint)
	if r := w.run.Clock; r.Ran != 2*time.Second || r.Waited != time.Minute {
		t.Errorf("at the breakpoint it ran %s and waited %s", r.Ran, r.Waited)
	}
	person(10*time.Second, events.Continue{})
	pausedFor(events.PauseFailure) // after two attempts of its own
	if took := w.run.Steps[1].Lasted(f.now()); took < 10*time.Second || took >= 11*time.Second {
		t.Errorf("b took %s", took)
	}
	person(100*time.Second, events.Retry{Range: events.Range{From: 1, To: 2}})
	w.until("the retry", func() bool { return w.run.Steps[1].Attempt == 3 && w.run.Steps[1].State == events.Settled })
	if took := w.run.Steps[1].Lasted(f.now()); took != 5*time.Second {
		t.Errorf("b took %s when it was tried again", took)
	}
	person(1*time.Second, events.Retry{Range: events.Range{From: 1, To: 2}})
	w.until("b again", func() bool { return w.run.Steps[1].Attempt == 4 && w.run.Steps[1].State == events.Settled })
	bad = 0
	person(1*time.Second, events.Retry{Range: events.Range{From: 1, To: 2}})
	w.until("b well", func() bool { return w.run.Steps[1].Outcome == events.Changed })
	person(2*time.Second, events.Continue{})
	pausedFor(events.PauseConfirm)
	bad = 2
	person(20*time.Second, events.Approve{Range: events.Range{From: 2, To: 3}, Confirm: true})
	person(0, events.Continue{})
	pausedFor(events.PauseFailure)
	person(7*time.Second, events.Stop{How: events.StopDrain})
	w.done()
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	ran, waited := w.run.Result.Duration.Round(100*time.Millisecond), w.run.Result.Waited
	if want := (2 + 10 + 5 + 5 + 5 + 1 + 3) * time.Second; ran != want {
		t.Errorf("it ran %s, want %s", ran, want)
	}
	if want := (60 + 10 + 100 + 1 + 1 + 2 + 20 + 7) * time.Second; waited != want {
		t.Errorf("it waited %s, want %s", waited, want)
	}
	told := func(when string, ran, waited time.Duration) {
		t.Helper()
		past, err := history.Find(runs, "")
		if err != nil {
			t.Fatal(err)
		}
		if past.Ran.Round(100*time.Millisecond) != ran || past.Waited != waited {
			t.Errorf("%s the history says it ran %s and waited %s, want %s and %s", when, past.Ran, past.Waited, ran, waited)
		}
		all, err := history.Outline(past)
		if err != nil {
			t.Fatal(err)
		}
		var run events.Run
		for _, r := range all {
			run.Apply(r)
		}
		if run.Result.Duration.Round(100*time.Millisecond) != ran || run.Result.Waited != waited {
			t.Errorf("%s the outline says it ran %s and waited %s", when, run.Result.Duration, run.Result.Waited)
		}
	}
	told("at first", ran, waited)

	f.clock.Add(int64(time.Hour))
	again, err := engine.Resume(engine.Config{Runner: f, Dry: f, Now: f.now, Options: fact.Options{Forks: 1, OnFailure: fact.Drain}},
		engine.Resumption{Dir: s.Dir(), RetryFailed: true, Planned: plansOf(p, g)})
	if err != nil {
		t.Fatal(err)
	}
	w = watching(t, again, false)
	w.done()
	if err := again.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := w.run.Result; got.Duration.Round(100*time.Millisecond) != ran+3*time.Second || got.Waited != waited || w.run.Clock.Ran != got.Duration {
		t.Errorf("resumed it ran %s and waited %s, want %s and %s", got.Duration, got.Waited, ran+3*time.Second, waited)
	}
	told("then", ran+3*time.Second, waited)
}
