package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/plan"
	"moon/tui/feed"
	"moon/tui/tuitest"
)

// inOrder is a forecast of a plan's steps one after the other, each of which takes as long.
func inOrder(p *plan.Plan, each time.Duration) func(string) *events.Forecast {
	return func(string) *events.Forecast {
		f := &events.Forecast{Slots: 1, Took: make([]time.Duration, len(p.Steps)), Rest: make([]time.Duration, len(p.Steps))}
		var rest time.Duration
		for i := len(p.Steps) - 1; i >= 0; i-- {
			if !p.Steps[i].Excluded {
				f.Took[i] = each
				rest += each
			}
			f.Rest[i] = rest
		}
		return f
	}
}

// TestTimeLeft is the running screen where it is known how long the steps take.
func TestTimeLeft(t *testing.T) {
	for _, size := range sizes {
		for _, ascii := range []bool{false, true} {
			name := fmt.Sprintf("timeleft/%dx%d-%s", size.w, size.h, map[bool]string{false: "unicode", true: "ascii"}[ascii])
			t.Run(name, func(t *testing.T) {
				p := devbox()
				s := newScreen(t, setup{p: p, w: size.w, h: size.h, ascii: ascii, options: func(o *Options) { o.Forecast = inOrder(p, 15*time.Second) }})
				s.press("A")
				s.frame()
				s.press("c")
				s.f.Until("read the installed version")
				s.f.Clock = s.f.Clock.Add(9 * time.Second)
				s.frame()
				golden(t, name, s.shows())
			})
		}
	}
}

// TestTimeLeftIsQuiet looks at when nothing is said, and at what makes it say something else.
func TestTimeLeftIsQuiet(t *testing.T) {
	p := devbox()
	s := newScreen(t, setup{p: p, w: 120, h: 40, options: func(o *Options) { o.Forecast = inOrder(p, 15*time.Second) }})
	silent := func() {
		t.Helper()
		if head, _, _ := strings.Cut(s.shows(), "\n"); strings.Contains(head, "left") {
			t.Errorf("the header says what is not known: %s", head)
		}
	}
	silent()
	s.keys("A")
	s.press("c")
	s.f.Tick()
	s.frame()
	s.has("about 4m left")
	s.f.Clock = s.f.Clock.Add(20 * time.Second) // 15 of which the step took in earlier runs
	s.Send(tickMsg{})
	s.has("about 4m left") // 3:31, which rounds to 4
	s.f.Clock = s.f.Clock.Add(time.Hour)
	s.Send(tickMsg{})
	s.has("about 14m left") // what is late is late by at most four times
	s.press("p")
	s.f.Settle()
	s.frame()
	s.has("PAUSED")
	silent()
}

// TestTimeLeftGoesDown has steps end one by one, each in a frame of its own, and then the run be stopped.
func TestTimeLeftGoesDown(t *testing.T) {
	p := devbox()
	s := newScreen(t, setup{p: p, w: 120, h: 40, options: func(o *Options) { o.Forecast = inOrder(p, 15*time.Second) }})
	s.keys("A")
	s.press("c")
	s.f.Takes = func(int) time.Duration { return 15 * time.Second }
	s.frame()
	for _, step := range []struct{ name, left string }{
		{"say hello", "about 4m left"}, {"install git", "about 3m left"}, {"unpack go", "about 2m left"}, {"link .zshrc", "about 1m left"},
	} {
		s.f.Until(step.name)
		s.frame()
		s.has(step.left)
	}
	s.m.Stopping, s.m.stale = 1, true
	s.has("STOPPING")
	if screen := s.shows(); strings.Contains(screen, "about 1m left") {
		t.Errorf("a run that is being stopped will not take that long\n%s", screen)
	}
}

// TestCountdownDoesNotJump gives a countdown times that go back and forth around where they are rounded.
func TestCountdownDoesNotJump(t *testing.T) {
	const whole = 1000 * time.Second
	c := feed.Countdown{Estimate: events.NewEstimate(events.Forecast{Slots: 1, Took: []time.Duration{whole}, Rest: []time.Duration{whole}})}
	c.See(0, &events.Step{State: events.Active, Attempt: 1, Started: tuitest.Start})
	for i, move := range []struct{ left, shown time.Duration }{
		{149, 120},
		{151, 120},
		{149, 120},
		{164, 120},
		{166, 180},
		{149, 180},
		{134, 120},
		{89, 120},
		{74, 60},
		{54, 60},
		{52, 50},
		{56, 50},
		{44, 50},
		{42, 40},
		{8, 10},
		{4, 10},
		{2, 0},
		{6, 0},
		{8, 10},
		{150, 180},
	} {
		c.Refresh(tuitest.Start.Add(whole - move.left*time.Second))
		if !c.Known || c.Shown != move.shown*time.Second {
			t.Errorf("%d: %ds left shows as %v (%t), want %ds", i, move.left, c.Shown, c.Known, move.shown)
		}
	}
}
