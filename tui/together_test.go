package tui

import (
	"strings"
	"testing"

	"moon/events"
	"moon/plan"
	"moon/tui/draw"
	"moon/tui/frame"
	"moon/tui/pane"
	"moon/tui/status"
	"moon/tui/tuitest"
	"moon/tui/view"
)

// While the run is paused on a step that a rescue will follow, the step has failed: in its row, above it, and in the counts.
func TestFailureBeforeItsRescue(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) {
		f.Fails["unpack go"] = 1
		pass := f.Emit
		f.Emit = func(batch []events.Record) {
			for i := range batch {
				if e, ok := batch[i].Event.(events.StepFailed); ok {
					e.Rescued = true
					batch[i].Event = e
				}
			}
			pass(batch)
		}
	}})
	s.keys("A c")
	s.has("PAUSED on failure", "✗ ▾ devbox.yml", "✗ │ └ ▾ include: languages/go.yml", "✗ 1")
	s.hasNot("↻ 1")
	s.f.Say(-1, events.RunResumed{})
	s.m.Store.Read(func(run *events.Run) { run.Phase = events.Running })
	s.frame()
	if step := s.m.Failing; step >= 0 || s.m.Tree.Tallies[0][status.Rescued] != 1 {
		t.Errorf("step %d still counts as failed when the run has gone on\n%s", step, s.shows())
	}
}

// The header counts what the tree counts, also where a step was left out of the run on the way.
func TestProgressIsTheSame(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("A c")
	s.m.Tree.Set(s.m.Shot.PausedAt+1, status.Omitted)
	s.m.stale = true
	done, total := s.m.CountProgress()
	root := s.m.Tree.Tally(0)
	if done != root.Done() || total != root.Total() {
		t.Errorf("%d of %d above, %d of %d in the tree", done, total, root.Done(), root.Total())
	}
}

// Where the run stopped to be told, the screen says what it was told, and what is to be done then comes first.
func TestConfirmed(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("A c")
	s.has("PAUSED to confirm  replace /etc/hosts", "a confirm   E editor", "confirms it")
	s.hasNot("by itself, with")
	s.keys("a")
	s.has("PAUSED approved  replace /etc/hosts", "  c continue   s step")
	s.keys("x")
	s.has("PAUSED excluded  replace /etc/hosts", "  c continue   s step")
}

// The guides of a filtered tree end with what the filter shows.
func TestGuidesOfAFilter(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.press("/")
	s.text("tmux")
	s.press("tab")
	s.has("   ◇ └ ▾ include: packages.yml", "   ◇   └ ▾ loop: install packages", "install tmux")
	if strings.Contains(s.shows(), "├") {
		t.Errorf("a guide to what does not follow\n%s", s.shows())
	}
	s.keys("esc")
	s.has("◇ ├ ▾ include: packages.yml")
}

// All tabs are told by the rule, in whatever room there is.
func TestTabsFit(t *testing.T) {
	s := newScreen(t, setup{w: 100, h: 30})
	names, between := frame.Rules{State: s.m.State}.TabNames(60)
	if got := strings.Join(names[:], between); got != "1 Step  2 Output  3 Diff  4 Vars  5 Events" {
		t.Error(got)
	}
	s.keys("A c a c")
	s.has("DONE", "5 Events")
	for range 12 {
		s.keys(">")
	}
	s.has("1 Summary", "2 3 4 5 ─")
	s.keys("4")
	s.has("1 2 3‹4 Vars›5 ─")
}

// What is next in the tree is not what n is pressed for in the output.
func TestNextInOutput(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("A c")
	s.press("/")
	s.text("install")
	s.keys("enter")
	s.on("install git")
	s.keys("2 tab n")
	s.has("no search in the output; esc goes back to the plan, where install was sought")
	if got := s.m.Tree.Title(s.m.CursorNode()); got != "install git" {
		t.Errorf("the cursor went to %s", got)
	}
	s.keys("esc n")
	if got := s.m.Tree.Title(s.m.CursorNode()); got != "install ripgrep" {
		t.Errorf("the cursor is on %s", got)
	}
}

// An item of a loop is one of so many, of what has a name if it has one.
func TestItemOfLoop(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.on("install ripgrep")
	s.has("item      ripgrep  2 of 4, packages")
	step := s.m.Tree.Step(s.m.CursorNode())
	s.m.Plan.Steps[step].Loop.Expression = "list of 4"
	if got := (pane.StepPane{State: s.m.State}).ItemOf(&s.m.Plan.Steps[step], s.m.Plan.Steps[step].Loop); got != "  2 of 4" {
		t.Errorf("%q", got)
	}
}

// A step of an include that loops says which item that is for.
func TestItemOfIncludedLoop(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	step := s.m.Tree.Step(s.m.CursorNode())
	for n := range s.m.Tree.Size {
		if i := s.m.Tree.Step(n); i >= 0 && s.m.Plan.Steps[i].Loop == nil {
			step = i
			break
		}
	}
	s.m.Plan.Steps[step].InLoop = &plan.LoopContext{Label: "web", Expression: "machines"}
	s.on(s.m.Plan.Steps[step].Title())
	s.has("item      web  1, machines")
}

// A screen that was left with a step's output on it opens with what the steps will do.
func TestOutputIsNotRestored(t *testing.T) {
	for left, want := range map[view.Tab]view.Tab{view.TabOutputs: view.TabSteps, view.TabVariables: view.TabVariables} {
		s := newScreen(t, setup{w: 120, h: 40, options: func(o *Options) { o.View = &View{Tab: int(left)} }})
		if s.m.Detail.Tab != want {
			t.Errorf("left with %s, opened with %s", view.TabNames[left], view.TabNames[s.m.Detail.Tab])
		}
	}
}

// A box leaves dots where it cuts, and the one about leaving stays clear of what went wrong.
func TestBoxes(t *testing.T) {
	for _, tt := range []struct {
		spans []draw.Text
		w     int
		want  string
	}{
		{[]draw.Text{{S: "as it"}, {S: " is"}}, 8, "as it is"},
		{[]draw.Text{{S: "as it"}, {S: " is"}}, 7, "as it …"},
		{[]draw.Text{{S: "as it"}, {S: " is"}}, 5, "as i…"},
		{[]draw.Text{{S: "as it"}, {S: " is"}}, 1, "…"},
	} {
		got := ""
		for _, span := range draw.Fitted(tt.spans, tt.w, "…") {
			got += span.S
		}
		if got != tt.want {
			t.Errorf("in %d cells %q, want %q", tt.w, got, tt.want)
		}
	}
	s := newScreen(t, setup{w: 100, h: 24, fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 1 }})
	s.keys("A c q")
	s.has("Quit?", "FAILED", "Cannot open: Permission")
}

// After the end there is nothing to follow.
func TestFollowAfterTheEnd(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.keys("A c a c F")
	s.has("the run has ended")
	if s.m.Following {
		t.Error("it follows")
	}
}

// A key that can change nothing says so, and larger is larger at the first press.
func TestPanesSayWhatCannotBe(t *testing.T) {
	s := newScreen(t, setup{w: 60, h: 20})
	s.keys("+")
	s.has("it cannot be larger")
	s.keys("_")
	s.has("it cannot be smaller")
	s.keys(">")
	s.has("no divider")
	s.keys("tab +")
	if kind := s.m.CurrentLayout().Kind; kind != view.LayoutBare {
		t.Errorf("the layout is %d", kind)
	}
	s.keys("_")
	if kind := s.m.CurrentLayout().Kind; kind != view.LayoutOne {
		t.Errorf("the layout is %d", kind)
	}
	s = newScreen(t, setup{w: 120, h: 40})
	s.keys("tab + +")
	if kind := s.m.CurrentLayout().Kind; kind != view.LayoutBare {
		t.Errorf("the layout is %d", kind)
	}
	s.keys("_ _")
	if s.m.Panes.Zoom != 0 {
		t.Errorf("zoom %d", s.m.Panes.Zoom)
	}
}
