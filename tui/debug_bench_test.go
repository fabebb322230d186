package tui

import (
	"testing"

	"moon/events"
)

// BenchmarkManyBreakpoints is a frame with a breakpoint at every step, where folded scopes look for theirs.
func BenchmarkManyBreakpoints(b *testing.B) {
	s := largeScreen(b, 100_000, 200, 60)
	s.f.Send(events.Break{Step: 0, To: len(s.m.Plan.Steps)})
	s.frame()
	s.m.Rows.FoldAll()
	for b.Loop() {
		s.m.stale = true
		_ = s.m.View()
	}
}

// BenchmarkPalette is opening the palette and typing a letter, over a large plan.
func BenchmarkPalette(b *testing.B) {
	s := largeScreen(b, 100_000, 200, 60)
	for b.Loop() {
		s.press(":")
		s.press("g")
		s.press("esc")
	}
}

// BenchmarkViewNow is what closing the screen costs.
func BenchmarkViewNow(b *testing.B) {
	s := largeScreen(b, 100_000, 200, 60)
	s.m.Rows.FoldAll()
	for b.Loop() {
		_ = viewNow(s.m.State)
	}
}
