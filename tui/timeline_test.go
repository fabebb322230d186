package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"moon/events"
	"moon/plan"
	"moon/tui/feed"
	"moon/tui/pane"
	"moon/tui/tree"
	"moon/tui/tuitest"
)

// threeParts is a plan with single steps between two blocks.
func threeParts() *plan.Plan {
	b := tuitest.NewBuilder("site.yml")
	block := func(name string, n int) {
		b.Scope(plan.ScopeBlock, name, 3, nil, func() {
			for i := range n {
				b.Step(fmt.Sprintf("%s %d", name, i), "shell", 4+i)
			}
		})
	}
	block("preflight", 2)
	b.Step("alone", "shell", 8)
	b.Step("alone too", "shell", 9)
	block("web", 3)
	return b.Done()
}

func inTime(s float64) time.Time { return tuitest.Start.Add(time.Duration(s * float64(time.Second))) }

func ranFrom(from, to float64) *events.Step {
	return &events.Step{State: events.Settled, Outcome: events.OK, Attempt: 1, Started: inTime(from), Ended: inTime(to)}
}

// bars are the lines of a timeline over so many seconds, in a second a cell.
func (s *screen) bars(seconds int) string {
	var lines []string
	for i := range s.m.Timeline.Parts {
		line := ""
		for _, span := range (pane.TimePane{State: s.m.State}).PartBar(&s.m.Timeline.Parts[i], time.Duration(seconds)*time.Second,
			seconds) {
			line += span.S
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestTimeline(t *testing.T) {
	s := newScreen(t, setup{p: threeParts(), w: 120, h: 40, ascii: true})
	s.keys("A")
	l := &s.m.Timeline
	l.Times = events.Times{} // of no review
	if len(l.Parts) != 3 || l.Parts[1].Steps != (events.Range{From: 2, To: 4}) {
		t.Fatalf("%+v", l.Parts)
	}
	if got := s.bars(10); got != "         .\n         .\n         ." {
		t.Errorf("before the start:\n%s", got)
	}
	// In any order, also at once.
	l.See(4, ranFrom(3, 7))
	l.See(5, ranFrom(5, 9))
	l.See(2, ranFrom(2, 3))
	l.See(0, ranFrom(0, 2))
	if got := s.bars(10); got != "##\n  #\n   ######" {
		t.Errorf("got\n%s", got)
	}
	// A person has a failed step tried again later; what lies between is nobody's time.
	again := *ranFrom(0, 14)
	again.Attempt, again.Since = 2, inTime(12)
	l.See(0, &again)
	if got := s.bars(16); got != "##          ##\n  #\n   ######" {
		t.Errorf("after a retry\n%s", got)
	}
	// One that is tried again by itself is busy all the time.
	l.See(6, &events.Step{State: events.Active, Attempt: 1, Started: inTime(15)})
	l.See(6, &events.Step{State: events.Backoff, Attempt: 2, Started: inTime(15), Due: inTime(18)})
	l.See(6, &events.Step{State: events.Active, Attempt: 2, Started: inTime(15), Due: inTime(18)})
	l.Advance(inTime(19))
	if got := s.bars(20); got != "##          ##\n  #\n   ######      ####" {
		t.Errorf("while it is tried again\n%s", got)
	}
	// Time may have passed before it is known that a step has ended.
	l.Advance(inTime(20.4))
	l.See(6, &events.Step{State: events.Settled, Outcome: events.OK, Attempt: 2, Started: inTime(15), Ended: inTime(19)})
	if got := s.bars(21); got != "##          ##\n  #\n   ######      ####" {
		t.Errorf("when it has ended\n%s", got)
	}
	// A plan that was edited keeps what is still in it.
	next := threeParts()
	next.Scopes[2].Path = "/api"
	replanning{s.m.State}.changePlan(next)
	if got := s.bars(20); got != "##          ##\n  #\n-" {
		t.Errorf("after an edit\n%s", got)
	}
}

// However steps follow each other, a second in which one ran is marked, and one that is far from all of them is not.
func TestTimelineMarks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := threeParts()
		l := feed.NewTimeline(tree.Grow(p), &feed.Timeline{})
		var ran [][3]int // part, from, to in seconds
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			step := rapid.IntRange(0, len(p.Steps)-1).Draw(rt, "step")
			from := rapid.IntRange(0, 100_000).Draw(rt, "from")
			to := from + rapid.SampledFrom([]int{0, 1, 5, 100, 10_000}).Draw(rt, "took")
			l.See(step, ranFrom(float64(from), float64(to)))
			ran = append(ran, [3]int{map[bool]int{true: 0, false: 1}[step < 2], from, to})
			if step > 3 {
				ran[len(ran)-1][0] = 2
			}
		}
		for i := range l.Parts {
			if n := len(l.Parts[i].Busy); n > feed.MostMarks {
				rt.Fatalf("%d marks", n)
			}
		}
		second := rapid.IntRange(0, 120_000).Draw(rt, "second")
		offset := inTime(float64(second)).Sub(l.From)
		if offset < 0 {
			return
		}
		grain := int(l.Grain/time.Second) + 1
		for part := range l.Parts {
			near, within := false, false
			for _, r := range ran {
				within = within || r[0] == part && second >= r[1] && second < r[2]
				near = near || r[0] == part && second >= r[1]-2*grain && second <= r[2]+2*grain
			}
			busy := l.When(&l.Parts[part]).Share(offset, offset+1) > 0
			if within && !busy || busy && !near {
				rt.Fatalf("part %d at %d is %t, of %v, with marks of %v", part, second, busy, ran, l.Grain)
			}
		}
	})
}

func TestPartsOfPlans(t *testing.T) {
	// Everything is in one include: its own parts are shown.
	b := tuitest.NewBuilder("site.yml")
	b.Scope(plan.ScopeInclude, "all.yml", 1, nil, func() {
		b.Scope(plan.ScopeBlock, "one", 2, nil, func() { b.Step("a", "shell", 3) })
		b.Scope(plan.ScopeBlock, "none", 4, nil, nil)
		b.Scope(plan.ScopeBlock, "two", 5, nil, func() { b.Step("b", "shell", 6) })
	})
	if parts := feed.PartsOf(tree.Grow(b.Done())); len(parts) != 2 {
		t.Errorf("%d parts of an include with two blocks", len(parts))
	}
	// So is the only play.
	b = tuitest.NewBuilder("site.yml")
	b.Scope(plan.ScopePlay, "web", 1, nil, func() {
		b.Scope(plan.ScopeBlock, "one", 2, nil, func() { b.Step("a", "shell", 3) })
		b.Step("b", "shell", 6)
	})
	if parts := feed.PartsOf(tree.Grow(b.Done())); len(parts) != 2 {
		t.Errorf("%d parts of a play", len(parts))
	}
	// So many that nobody could look at them.
	b = tuitest.NewBuilder("site.yml")
	for i := range feed.MostParts + 5 {
		b.Scope(plan.ScopeBlock, fmt.Sprint(i), 1, nil, func() { b.Step("a", "shell", 3) })
	}
	if parts := feed.PartsOf(tree.Grow(b.Done())); parts != nil {
		t.Errorf("%d parts", len(parts))
	}
	if parts := feed.PartsOf(tree.Grow(&plan.Plan{})); parts != nil {
		t.Errorf("%d parts of nothing", len(parts))
	}
}

// Many parts show as those around what runs, and what does not fit is counted.
func TestManyParts(t *testing.T) {
	b := tuitest.NewBuilder("site.yml")
	for i := range 40 {
		b.Scope(plan.ScopeBlock, fmt.Sprintf("part %d", i), 1, nil, func() { b.Step(fmt.Sprintf("step %d", i), "shell", 3) })
	}
	s := newScreen(t, setup{p: b.Done(), w: 120, h: 40})
	s.f.Takes = func(int) time.Duration { return time.Second }
	s.keys("A")
	s.press("c")
	s.f.Until("step 20")
	s.f.Clock = s.f.Clock.Add(3 * time.Second)
	s.frame()
	s.has("  part 20", "  and 29 more", "0:23")
	if strings.Contains(s.shows(), "  part 3 ") {
		t.Error("a part that ended long ago takes a row")
	}
}

// Nothing stands below the output where that would become small.
func TestTimeNeedsRoom(t *testing.T) {
	for _, c := range []struct {
		w, h           int
		running, times bool
	}{{120, 40, true, true}, {100, 24, true, false}, {100, 20, false, false}, {99, 40, false, false}, {60, 20, false, false}} {
		s := newScreen(t, setup{w: c.w, h: c.h})
		s.keys("A")
		s.press("c")
		s.f.Until("install tmux")
		s.f.Clock = s.f.Clock.Add(3 * time.Second)
		s.frame()
		screen := s.shows()
		if strings.Contains(screen, "Running now") != c.running || strings.Contains(screen, "── Time") != c.times {
			t.Errorf("%d×%d, want what runs: %t, and times: %t\n%s", c.w, c.h, c.running, c.times, screen)
		}
	}
}
