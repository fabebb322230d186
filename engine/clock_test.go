package engine_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"moon/engine"
	"moon/events"
	"moon/events/fact"
	"moon/exec"
	"moon/internal/assault"
)

// jumped is a time after somebody has set the wall clock: the monotonic reading is as it was. A time with such a reading
// keeps the seconds of the wall in the upper bits of its first word.
func jumped(t time.Time, by time.Duration) time.Time {
	word := (*uint64)(unsafe.Pointer(&t))
	*word += uint64(int64(by/time.Second)) << 30
	return t
}

// TestClockJumps sets the wall clock by a day, there and back, while a run goes on: durations, and waiting for the next
// attempt, do not notice, and the order of the records is that of their numbers.
func TestClockJumps(t *testing.T) {
	assault.Tried(t, "jumps of the clock by a day", 4)
	now := time.Now()
	if d := jumped(now, 24*time.Hour).Sub(now); d != 0 || jumped(now, 24*time.Hour).Round(0).Sub(now.Round(0)) != 24*time.Hour {
		t.Fatalf("the test's clock does not jump: %v", d)
	}
	p, g := build(t, "- shell: a\n- shell: b\n  retries: 1\n  delay: 10ms\n- shell: c\n")
	var wall atomic.Int64
	calls := 0
	f := &fake{do: func(_ context.Context, job *exec.Job) exec.Result {
		calls++
		wall.Store(int64(24*time.Hour) * []int64{1, -1, 0, 1, -1}[calls%5])
		if cmdOf(job) == "b" && calls == 2 {
			return exec.Result{Outcome: events.Failed, Error: "not yet"}
		}
		return exec.Result{Outcome: events.OK}
	}}
	s, err := engine.Start(engine.Config{
		Plan: p, Graph: g, Runner: f, Dry: f, Runs: t.TempDir(), Options: fact.Options{Forks: 1, OnFailure: fact.Drain},
		Now: func() time.Time { return jumped(time.Now(), time.Duration(wall.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w := watching(t, s, false)
	w.done()
	if err := s.Wait(); err != nil || w.run.Result.Outcome != events.RunDone || calls != 4 {
		t.Fatalf("%v, %+v, %d calls", err, w.run.Result, calls)
	}
	if d := w.run.Result.Duration; d < 0 || d > time.Hour {
		t.Errorf("the run took %v", d)
	}
	back := false
	var last fact.Record
	_, _, err = reopen(filepath.Join(s.Dir(), "journal.jsonl"), func(r fact.Record) {
		if f, ok := r.Fact.(fact.AttemptFinished); ok && (f.Duration < 0 || f.Duration > time.Hour) {
			t.Errorf("step %d took %v", f.Step, f.Duration)
		}
		if r.Seq != last.Seq+1 || r.Mono < last.Mono {
			t.Errorf("record %d at %v follows %d at %v", r.Seq, r.Mono, last.Seq, last.Mono)
		}
		back = back || r.At.Before(last.At)
		last = r
	})
	if err != nil || !back {
		t.Errorf("the wall clock did not go back in the journal: %v", err)
	}
}
