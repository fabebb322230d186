package state

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"moon/engine/graph/graphtest"
	"moon/engine/journal"
	"moon/events"
	"moon/events/fact"
)

// runAll runs a state to its end. tell is given every fact.
func runAll(b *testing.B, s *State, now time.Time, tell func(fact.Fact)) {
	b.Helper()
	add := func(f fact.Fact) {
		tell(f)
		if err := s.Apply(fact.Record{At: now, Fact: f}); err != nil {
			b.Fatal(err)
		}
	}
	add(fact.RunCreated{Format: fact.Format, Options: fact.Options{Forks: 64, OnFailure: fact.Drain}, Digest: "d", Total: len(s.plan.Steps)})
	add(fact.RunStarted{})
	var running []int
	for !s.finished {
		switch d := s.decider().next(now).(type) {
		case Start:
			add(fact.AttemptStarted{Step: d.Step, Attempt: d.Attempt, Name: "step", Command: "shell: true", Out: s.OutName(d.Step, d.Attempt)})
			running = append(running, d.Step)
		case Idle:
			for _, step := range running {
				add(fact.AttemptFinished{Step: step, Attempt: 1, Outcome: events.OK, Duration: time.Millisecond})
			}
			running = running[:0]
		case Finish:
			add(fact.RunFinished{Outcome: d.Outcome})
		default:
			b.Fatalf("%T", d)
		}
	}
}

// BenchmarkReopen reads the journal of a run of 100,000 steps, checks every record and folds it. Budget: 2 s.
func BenchmarkReopen(b *testing.B) {
	p, graphOf := graphtest.NewWide(b, graphtest.Wide)
	g := graphOf()
	path := filepath.Join(b.TempDir(), "journal.jsonl")
	w, err := journal.Disk{}.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	runAll(b, New(p, g, nil), now, func(f fact.Fact) {
		if err := w.Append(&fact.Record{Run: "run", At: now, Fact: f}); err != nil {
			b.Fatal(err)
		}
	})
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := journal.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		s := New(p, g, nil)
		n := 0
		for ; !s.finished; n++ {
			rec, err := r.Next()
			if err != nil {
				b.Fatal(fmt.Errorf("record %d: %w", n, err))
			}
			if err := s.Apply(rec); err != nil {
				b.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n), "records")
	}
}
