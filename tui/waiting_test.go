package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"moon/events"
	"moon/tui/pane"
	"moon/tui/tree"
)

// Every reason has a sentence, and those that say more than the order of the steps have a word in the row.
func TestWaitWords(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("A")
	s.press("c")
	s.f.Until("update the package index")
	s.f.Clock = s.f.Clock.Add(12 * time.Second)
	s.frame()
	for _, c := range []struct {
		wait  events.Wait
		words string
		note  string
	}{
		{
			events.Wait{For: events.WaitSteps, Steps: []int{1}, Root: 1, Is: events.WaitRuns},
			"for step-0002 «update the package index», which has been running for 0:12", "",
		},
		{
			events.Wait{For: events.WaitSteps, Steps: []int{3, 4, 5}, More: 2, Root: 1, Is: events.WaitRuns},
			"for step-0004 «install ripgrep», step-0005 «install fd-find», step-0006 «install tmux» and 2 more; step-0002 «update the package index» has been running for 0:12", "",
		},
		{events.Wait{For: events.WaitSteps, Steps: []int{3}, Root: -1}, "for step-0004 «install ripgrep»", ""},
		{
			events.Wait{For: events.WaitSteps, Steps: []int{3}, Root: 2, Is: events.WaitApproval, Held: events.WaitConfirm},
			"for step-0004 «install ripgrep»; step-0003 «install git» is not approved; then needs confirmation", "",
		},
		{
			events.Wait{For: events.WaitValue, Name: "go_now", Steps: []int{7}, Root: 7, Is: events.WaitTurn},
			"for the value of go_now from step-0008 «read the installed version», which is next", "waiting for go_now",
		},
		{
			events.Wait{For: events.WaitOutcome, Steps: []int{7}, Root: 7, Is: events.WaitFailed},
			"for the outcome of step-0008 «read the installed version», which failed", "",
		},
		{
			events.Wait{For: events.WaitPool, Name: "images", Slots: 2, Steps: []int{0, 1}, Root: -1, Limit: time.Minute},
			"for a slot of images: 2 of 2 are in use by step-0001 «say hello» and step-0002 «update the package index», for at most 1m0s",
			"waiting (2 of 2 in use)",
		},
		{
			events.Wait{For: events.WaitForks, Slots: 8, Steps: []int{0}, More: 7, Root: -1},
			"for a slot: all 8 (--forks) are in use by step-0001 «say hello» and 7 more", "waiting (forks 8)",
		},
		{
			events.Wait{For: events.WaitTerminal, Steps: []int{1}, Root: -1},
			"for the terminal, used by step-0002 «update the package index»",
			"waiting (terminal)",
		},
		{events.Wait{For: events.WaitTurn, Root: -1}, "about to start", ""},
		{events.Wait{For: events.WaitRetry, Due: s.f.Clock.Add(4 * time.Second), Root: -1}, "for its next attempt in 4.0s", ""},
		{events.Wait{For: events.WaitApproval, Root: -1}, "not approved (a approves)", ""},
		{events.Wait{For: events.WaitConfirm, Root: -1}, "needs confirmation (a confirms)", ""},
		{events.Wait{For: events.WaitBreakpoint, Root: -1}, "at a breakpoint (c continues)", ""},
		{events.Wait{For: events.WaitAnswer, Root: -1}, "for your answer (a continues, x rejects)", ""},
		{events.Wait{For: events.WaitFailed, Root: -1}, "for you: it failed", ""},
		{events.Wait{For: events.WaitStepping, Root: -1}, "for you (c continues)", ""},
		{
			events.Wait{For: events.WaitPaused, Root: -1, Held: events.WaitApproval},
			"for you: the run is paused (c continues); also not approved", "",
		},
		{
			events.Wait{For: events.WaitPaused, Root: 1, Is: events.WaitFailed},
			"for you: the run is paused at step-0002 «update the package index», which failed", "",
		},
		{events.Wait{For: events.WaitPaused, Root: 1}, "for you: the run is paused at step-0002 «update the package index»", ""},
		{events.Wait{For: events.WaitStopping, Root: -1}, "the run is stopping; this step will not run", "will not run"},
	} {
		if got := (pane.WaitWords{State: s.m.State}).WaitWords(c.wait); got != c.words {
			t.Errorf("%s:\n%s, want\n%s", c.wait.For, got, c.words)
		}
		s.m.Waits = map[int]events.Wait{stepClone: c.wait}
		if got := (pane.WaitWords{State: s.m.State}).WaitNote(stepClone); got != c.note {
			t.Errorf("the row of %s says %q, want %q", c.wait.For, got, c.note)
		}
	}
	for _, is := range []events.WaitFor{
		events.WaitRuns, events.WaitRetry, events.WaitSteps, events.WaitValue, events.WaitOutcome, events.WaitPool,
		events.WaitForks, events.WaitTerminal, events.WaitTurn, events.WaitApproval, events.WaitConfirm, events.WaitBreakpoint,
		events.WaitAnswer,
		events.WaitFailed, events.WaitPaused, events.WaitStepping, events.WaitStopping,
	} {
		if (pane.WaitWords{State: s.m.State}).DoingText(0, is) == "" {
			t.Errorf("nothing is said of a step that is at %s", is)
		}
	}
}

// waitingScreen is a screen whose engine says of all steps that there is no slot, and what it was asked.
func waitingScreen(t *testing.T, w, h int) (*screen, *[][]int) {
	t.Helper()
	asked := &[][]int{}
	s := newScreen(t, setup{w: w, h: h, options: func(o *Options) {
		o.Why = func(digest string, steps []int) []events.Wait {
			if digest != o.Plan.Digest {
				t.Errorf("asked about the plan %s", digest)
			}
			*asked = append(*asked, steps)
			list := make([]events.Wait, len(steps))
			for i := range list {
				list[i] = events.Wait{For: events.WaitForks, Slots: 1, Steps: []int{1}, Root: -1}
			}
			return list
		}
	}})
	return s, asked
}

func TestWhyIsAsked(t *testing.T) {
	s, asked := waitingScreen(t, 120, 40)
	s.keys("A 1")
	if len(*asked) > 0 {
		t.Errorf("asked about %v under review", *asked)
	}
	s.press("c")
	s.f.Until("update the package index")
	s.frame()
	s.frame()
	s.on("clone the dotfiles")
	s.has("waiting   for a slot: all 1 (--forks) are in use by", "waiting (forks 1)  :15")
	if last := (*asked)[len(*asked)-1]; last[0] != stepClone || slices.Contains(last, 0) || slices.Contains(last, 1) {
		t.Errorf("asked about %v", last)
	}
	// Nothing changes, and nothing is asked; a tick asks once, however many frames follow it.
	n := len(*asked)
	for range 5 {
		s.frame()
	}
	if len(*asked) != n {
		t.Errorf("asked %d times although nothing changed", len(*asked)-n)
	}
	s.Send(tickMsg{})
	s.frame()
	s.frame()
	if len(*asked) != n+1 {
		t.Errorf("asked %d times in a tick", len(*asked)-n)
	}
	// A scope waits for what its first step waits for, as long as nothing in it runs.
	s.on("block: dotfiles")
	s.has("waiting   for a slot")
	s.on("include: packages.yml")
	if strings.Contains(s.shows(), "waiting   ") {
		t.Error("a scope in which something runs waits")
	}
	// An answer about another plan, and none, say nothing.
	s.m.TakeWaits("another", []int{stepClone}, []events.Wait{{For: events.WaitTurn}})
	s.m.TakeWaits(s.m.Plan.Digest, []int{stepClone}, nil)
	if len(s.m.Waits) != 0 {
		t.Errorf("%v", s.m.Waits)
	}
}

// What a step's name had open is known once it runs, and then the row, the search and other sentences call it so.
func TestNamesOfWhatRan(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("A")
	s.f.Say(-1, events.RunResumed{})
	s.f.Say(0, events.StepStarted{Name: "say hello to ann"})
	s.f.Say(0, events.StepCompleted{Name: "say hello to ann", Drift: "changed, though no change was predicted"})
	s.frame()
	s.has("├   say hello to ann")
	if got := s.m.StepName(0); got != "step-0001 «say hello to ann»" {
		t.Errorf("it is called %s", got)
	}
	s.press("/")
	s.text("to ann")
	s.has("1 match")
	s.press("esc")
	// What drifted is worth seeing at the end, even where it is ok.
	s.m.SetFilter(tree.FilterNotable)
	if got := s.rowsShown(); got != "devbox.yml\nsay hello to ann" {
		t.Errorf("problems and changes:\n%s", got)
	}
}
