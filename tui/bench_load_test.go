package tui

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/tui/feed"
	"moon/tui/tree"
	"moon/tui/tuitest"
)

// BenchmarkScene is the time of one frame of each kind at 200×60 over 100,000 steps, with nothing cached.
func BenchmarkScene(b *testing.B) {
	for _, scene := range []struct {
		name string
		play func(s *screen)
	}{
		{"review", func(*screen) {}},
		{"running", func(s *screen) { s.press("c"); s.f.Tick(); s.frame() }},
		{"filtered", func(s *screen) { s.press("f"); s.press("f"); s.press("f") }},
		{"folded", func(s *screen) { s.press("-") }},
		{"summary", func(s *screen) { s.m.Cur.Node = 0 }},
		{"output", func(s *screen) {
			s.press("2")
			for range 200 {
				s.m.Detail.Reel.Lines = append(s.m.Detail.Reel.Lines, feed.TextLine{Text: "a line of \x1b[32moutput\x1b[0m that is as long as lines are, 日本語 and all, and goes on past the edge of the pane"})
			}
			s.m.Detail.Reel.Total = 200
		}},
		{"palette", func(s *screen) { s.press(":") }},
		{"help", func(s *screen) { s.press("?") }},
		{"find", func(s *screen) { s.press("/"); s.text("install") }},
	} {
		b.Run(scene.name, func(b *testing.B) {
			s := largeScreen(b, 100_000, 200, 60)
			s.m.Cur.Node = s.m.Tree.Len() / 2
			scene.play(s)
			for b.Loop() {
				s.m.stale = true
				_ = s.m.View()
			}
		})
	}
}

// BenchmarkTree is what changes the rows of 100,000 steps, each time with a frame.
func BenchmarkTree(b *testing.B) {
	for _, change := range []struct {
		name string
		keys []string
	}{
		{"fold all and open all", []string{"-", "="}},
		{"filter", []string{"f"}},
		{"only matches", []string{"/", "q", "tab", "esc"}},
		{"next that needs you", []string{"]"}},
		{"to the end and back", []string{"G", "home"}},
	} {
		b.Run(change.name, func(b *testing.B) {
			s := largeScreen(b, 100_000, 120, 40)
			for i := 0; b.Loop(); i++ {
				s.press(change.keys[i%len(change.keys)])
			}
		})
	}
}

// BenchmarkOpen is the time from a plan of 100,000 steps to the first frame.
func BenchmarkOpen(b *testing.B) {
	p := large(100_000)
	for b.Loop() {
		_ = newScreen(b, setup{p: p, w: 120, h: 40})
	}
}

// BenchmarkMemory is what the screen itself keeps for each of 100,000 steps, beside the plan and the run.
func BenchmarkMemory(b *testing.B) {
	p := large(100_000)
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		m := newModel(Options{Plan: p, Glyphs: "unicode"}, func(string) string { return "" })
		m.Width, m.Height = 120, 40
		m.Rows.OpenAll()
		_ = m.View()
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(m)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(tree.Grow(p).Len()), "B/node")
}

// BenchmarkKeyUnderLoad presses keys while 100,000 events a second come in: the time from a key to the frame that answers it,
// behind whatever frame is being made.
func BenchmarkKeyUnderLoad(b *testing.B) {
	const n, perSecond = 100_000, 100_000
	s := largeScreen(b, n, 120, 40)
	feed := make(chan []events.Record)
	stop := make(chan struct{})
	// One goroutine takes messages, as Bubble Tea's loop does.
	msgs := make(chan func())
	go s.m.Store.Drain(feed)
	go passFrames(s.m.Store.Poke, stop, func() {
		select {
		case msgs <- func() { _, _ = s.m.Update(frameMsg{}); _ = s.m.View() }:
		case <-stop:
		}
	})
	go func() {
		for do := range msgs {
			do()
		}
	}()
	var sent atomic.Int64
	done := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				close(feed)
				return
			default:
			}
			batch := make([]events.Record, 0, 200)
			for k := range 100 {
				step := (i*100 + k) % n
				batch = append(batch, events.Record{Time: tuitest.Start, Step: step, Event: events.StepStarted{Name: "do"}},
					events.Record{Time: tuitest.Start, Step: step, Event: events.StepCompleted{Changed: k%7 == 0}})
			}
			feed <- batch
			sent.Add(int64(len(batch)))
			time.Sleep(time.Until(began.Add(time.Duration(sent.Load()) * time.Second / perSecond)))
		}
	}()
	keys := []tea.KeyPressMsg{{Code: 'j', Text: "j"}, {Code: 'k', Text: "k"}}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		answered := make(chan struct{})
		at := time.Now()
		msgs <- func() { _, _ = s.m.Update(keys[i/50%2]); _ = s.m.View(); close(answered) }
		<-answered
		took = append(took, time.Since(at))
		time.Sleep(2 * time.Millisecond) // nobody types faster
	}
	rate := float64(sent.Load()) / time.Since(began).Seconds()
	close(stop)
	<-done
	slices.Sort(took)
	at := func(part float64) float64 { return float64(took[int(part*float64(len(took)-1))].Microseconds()) / 1000 }
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(at(1), "max-ms")
	b.ReportMetric(rate, "events/s")
}
