package tui

import (
	"fmt"
	"runtime"
	"testing"

	"moon/events/steplog"
	"moon/tui/keymap"
	"moon/tui/tuitest"
	"moon/tui/view"
)

// The first row has the output of all steps in the order in which it came, each line with its step; what is looked for is found in all of
// it, and enter goes to the step of a line.
func TestLog(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 30, fake: func(f *tuitest.Engine) {
		f.Print = func(f *tuitest.Engine, i, attempt int) string {
			prefix := fmt.Sprintf("%d.%d", i, attempt)
			w := steplog.NewWriter(f.Dir, prefix, nil)
			_, _ = fmt.Fprintf(w.Stdout(), "output %d\n", i)
			if f.P.Steps[i].Name == "install git" {
				_, _ = fmt.Fprintln(w.Stderr(), "a needle")
			}
			_ = w.Close()
			return prefix
		}
	}})
	s.press("L")
	s.has("Nothing has run.")
	s.keys("esc A c")
	s.press("L")
	s.frame()
	s.has("  say hello        output 0", "  update the…index output 1", "  install git      a needle")
	s.keys("/")
	s.text("needle")
	s.press("enter")
	s.has("❯ install git      a‹needle›", "1 of 1", "enter go to step")
	s.press("enter")
	if i := s.m.Tree.Step(s.m.CursorNode()); i < 0 || s.m.Plan.Steps[i].Name != "install git" || s.m.Following {
		t.Errorf("the cursor is on step %d", i)
	}
	s.has("│ a needle")
	s.press("enter")
	s.has("this is the output of one step; L shows that of all steps")
	s.keys("L k k k")
	last := s.m.Detail.Reel.Total - 1
	if v := &s.m.Detail.Output; v.Follow || v.Pick != last-3 {
		t.Errorf("line %d of %d", v.Pick, last)
	}
	s.keys("j j j")
	if !s.m.Detail.Output.Follow {
		t.Error("at the end it does not follow")
	}
	s.keys("[")
	s.has("lines of several steps")
	// A scope has that of its own steps.
	s.keys("esc")
	s.on("loop: install packages")
	s.has("  install git      output 2")
	s.hasNot("say hello        output 0")
}

// Output without end is read where it is looked at, and not kept.
func TestLogOfAMillionLines(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 30, fake: printed(numbered(100_000))})
	s.keys("A c")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s.press("L")
	total := 0
	for range 1000 {
		s.frame()
		if r := &s.m.Detail.Reel; r.Total == total && !r.Stale && total > 0 {
			break
		}
		total = s.m.Detail.Reel.Total
	}
	if total < 1_000_000 || total%100_000 != 0 {
		t.Fatalf("%d lines", total)
	}
	s.has("line 99999", fmt.Sprintf("%d lines", total))
	s.keys("g g")
	// Which of the steps is first is not said: two of them begin at the same moment.
	s.has("line 0", "line 20")
	if v := &s.m.Detail.Output; v.Pick != 0 {
		t.Errorf("line %d is picked", v.Pick)
	}
	s.keys("pgdown pgdown")
	s.has("line 50")
	if n := len(s.m.Detail.Reel.Lines); n > 2*100+2*30 {
		t.Errorf("%d lines are held", n)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if more := int64(after.HeapAlloc) - int64(before.HeapAlloc); more > 12<<20 {
		t.Errorf("%d bytes more are held", more)
	}
	s.m.doIntent(keymap.GoBack)
	if s.m.FocusedPane() != view.PaneTree {
		t.Error("esc does not go back")
	}
}

// The table of hosts stands in the place of both panes, and gives way to the output.
func TestLogFromTheHosts(t *testing.T) {
	s := newScreen(t, setup{p: twoPlays(), w: 120, h: 30, fake: printed(numbered(2))})
	s.keys("A H")
	s.has("Hosts", "task 1/7")
	s.press("L")
	s.hasNot("task 1/7")
	s.keys("esc c L")
	s.has("line 1", "web1", "❯")
	if s.m.FocusedPane() != view.PaneDetail {
		t.Error("the output has not the keys")
	}
}
