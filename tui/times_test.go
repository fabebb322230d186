package tui

import (
	"testing"
	"time"

	"moon/events"
	"moon/tui/pane"
	"moon/tui/tree"
	"moon/tui/tuitest"
)

// TestWaitingIsNoRunTime has a person think before the run, at a breakpoint and at a failure. The time of it is in none of the
// numbers but one.
func TestWaitingIsNoRunTime(t *testing.T) {
	s := newScreen(t, setup{p: threeParts(), w: 120, h: 40, fake: func(f *tuitest.Engine) {
		f.Takes = func(int) time.Duration { return 2 * time.Second }
		f.Fails["web 1"] = 1
	}})
	thinks := func(d time.Duration) { s.f.Clock = s.f.Clock.Add(d) }
	thinks(30 * time.Second)
	s.keys("A")
	s.on("alone")
	s.keys("b c")
	s.has("PAUSED at breakpoint", "2/7   00:04   nothing is running", "▾ block: preflight", "2/2  00:04")
	thinks(time.Minute)
	s.keys("c")
	s.has("PAUSED on failure", "6/7   00:12")
	thinks(10 * time.Minute)
	s.keys("r c")
	s.has("DONE", "7/7   00:16   waited 11:30   1 retried", "00:16")
	s.m.SetFilter(tree.FilterAll)
	s.has("block: web", "3/3  00:08")
	if got := (pane.TimePane{State: s.m.State}).ShownTime(); got != 16*time.Second {
		t.Errorf("the bars are of %s", got)
	}
	if got, want := s.bars(16), "████\n    ████\n        ████████"; got != want {
		t.Errorf("the bars are\n%s\nwant\n%s", got, want)
	}
	s.m.Store.Read(func(run *events.Run) {
		if took := run.Steps[5].Lasted(s.f.Clock); took != 2*time.Second {
			t.Errorf("the step that was tried again took %s", took)
		}
	})
}
