package tui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
	"moon/tui/tuitest"
)

func largeScreen(b *testing.B, n, w, h int) *screen {
	b.Helper()
	p := large(n)
	s := newScreen(b, setup{p: p, w: w, h: h, options: func(o *Options) { o.Forecast = inOrder(p, time.Minute) }})
	s.press("=")
	s.m.Store.Apply(&events.Record{Step: -1, Event: events.CommandAccepted{Order: events.Order{Command: events.Approve{Range: events.Range{To: n / 2}}}}})
	s.frame()
	return s
}

// BenchmarkFrame is the time of one frame, with nothing cached: 2 ms is the budget at 200×60 over 100,000 nodes.
func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(map[int]string{1_000: "1k", 100_000: "100k"}[n], func(b *testing.B) {
			s := largeScreen(b, n, 200, 60)
			s.m.Cur.Node = s.m.Tree.Len() / 2
			for b.Loop() {
				s.m.stale = true
				_ = s.m.View()
			}
		})
	}
}

// BenchmarkRunningFrame is the same while steps run, with what runs now and the time of each part, also in the tick that
// looks at the clock.
func BenchmarkRunningFrame(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(map[int]string{1_000: "1k", 100_000: "100k"}[n], func(b *testing.B) {
			s := largeScreen(b, n, 200, 60)
			s.m.Store.Apply(&events.Record{Time: tuitest.Start, Step: -1, Event: events.RunResumed{}})
			for i := range n {
				at := tuitest.Start.Add(time.Duration(i) * time.Millisecond)
				s.m.Store.Apply(&events.Record{Time: at, Step: i, Event: events.StepStarted{Name: "do"}})
				if i < n/2 || i > n/2+50 {
					s.m.Store.Apply(&events.Record{Time: at.Add(time.Second), Step: i, Event: events.StepCompleted{}})
				}
			}
			s.f.Clock = tuitest.Start.Add(time.Hour)
			s.frame()
			s.m.Cur.Node = s.m.Tree.Len() / 2
			for b.Loop() {
				_, _ = s.m.Update(tickMsg{})
				_ = s.m.View()
			}
		})
	}
}

// BenchmarkKey is a key with the frame that follows it.
func BenchmarkKey(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(map[int]string{1_000: "1k", 100_000: "100k"}[n], func(b *testing.B) {
			s := largeScreen(b, n, 120, 40)
			keys := []tea.KeyPressMsg{{Code: 'j', Text: "j"}, {Code: 'k', Text: "k"}}
			for i := 0; b.Loop(); i++ {
				_, _ = s.m.Update(keys[i/1000%2])
				_ = s.m.View()
			}
		})
	}
}

// BenchmarkFold is folding and opening one scope of many.
func BenchmarkFold(b *testing.B) {
	s := largeScreen(b, 100_000, 120, 40)
	s.m.Cur.Node = 1
	enter := tea.KeyPressMsg{Code: tea.KeyEnter}
	for b.Loop() {
		_, _ = s.m.Update(enter)
		_ = s.m.View()
	}
}

// BenchmarkApply folds 100,000 events into the store, with a frame after each 3,300, as at 30 frames a second.
func BenchmarkApply(b *testing.B) {
	const n = 50_000
	records := make([]events.Record, 0, 2*n)
	for i := range n {
		at := tuitest.Start.Add(time.Duration(i) * time.Millisecond)
		records = append(records, events.Record{Time: at, Step: i, Event: events.StepStarted{Name: "do"}},
			events.Record{Time: at, Step: i, Event: events.StepCompleted{Changed: i%7 == 0}})
	}
	for b.Loop() {
		b.StopTimer()
		s := largeScreen(b, n, 120, 40)
		b.StartTimer()
		for i := range records {
			s.m.Store.Apply(&records[i])
			if i%3300 == 0 {
				_, _ = s.m.Update(frameMsg{})
				_ = s.m.View()
			}
		}
	}
	b.ReportMetric(float64(2*n*b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkFindKey is one letter typed into a search over 100,000 names.
func BenchmarkFindKey(b *testing.B) {
	s := largeScreen(b, 100_000, 120, 40)
	s.press("/")
	letters := []tea.KeyPressMsg{{Code: 'q', Text: "q"}, {Code: tea.KeyBackspace}}
	for i := 0; b.Loop(); i++ {
		_, _ = s.m.Update(letters[i%2])
		_ = s.m.View()
	}
}

// BenchmarkPlaceOpens is the time from the event that a loop has found 10,000 items to the frame that shows its rounds, without planning
// them: 0.5 s is the budget for both.
func BenchmarkPlaceOpens(b *testing.B) {
	const before, rounds = 1_000, 10_000
	old, now := large(before), large(before+rounds)
	now.Digest = "with the rounds"
	added := []events.Range{{From: before, To: before + rounds}}
	for b.Loop() {
		b.StopTimer()
		s := newScreen(b, setup{p: old, w: 120, h: 40, options: func(o *Options) {
			o.PlanFor = func(string) *plan.Plan { return now }
		}})
		s.frame()
		b.StartTimer()
		s.m.Store.Apply(&events.Record{Step: -1, Event: events.PlanLoaded{
			TotalSteps: before + rounds, Digest: now.Digest, Generation: 2, Expanded: []int{before - 1}, Added: added,
		}})
		_, _ = s.m.Update(frameMsg{})
		_ = s.m.View()
		b.StopTimer()
		if len(s.m.Plan.Steps) != before+rounds {
			b.Fatalf("%d steps are shown", len(s.m.Plan.Steps))
		}
		b.StartTimer()
	}
}
