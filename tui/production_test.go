package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"moon/events"
	"moon/internal/assault"
	"moon/plan"
	"moon/tui/overlay"
	"moon/tui/tuitest"
)

func production(o *Options) { o.Banner = "production" }

// sent counts the commands of a kind that the screen has sent.
func sent[C events.Command](s *screen) (n int) {
	for _, c := range s.f.Sent {
		if _, ok := c.(C); ok {
			n++
		}
	}
	return n
}

func TestApproveAllAsksForTheName(t *testing.T) {
	s := newScreen(t, setup{w: 100, h: 30, options: production})
	s.press("A")
	s.has("Approve 14 steps on PRODUCTION?", "1 destructive", "remove the lock", "state: absent", "type  devbox.yml  (the name of the playbook)")
	s.press("enter")
	s.text("devbox.yaml")
	s.press("enter")
	s.has("that is not the name")
	if n := sent[events.Approve](s); n > 0 || s.m.Overlay == nil {
		t.Fatalf("%d approvals without the name", n)
	}
	for range 3 {
		s.press("backspace")
	}
	s.text("ml ")
	s.press("enter")
	if n := sent[events.Approve](s); n != 1 || s.m.Overlay != nil {
		t.Errorf("%d approvals with the name", n)
	}
	s.frame()
	s.press("A") // nothing is left to approve
	if s.m.Overlay != nil {
		t.Error("it asks although nothing would be approved")
	}
}

func TestEscApprovesNothing(t *testing.T) {
	s := newScreen(t, setup{w: 100, h: 30, options: production})
	s.press("A")
	s.text("devbox.yml")
	s.press("esc")
	if n := sent[events.Approve](s); n > 0 || s.m.Overlay != nil {
		t.Errorf("%d approvals", n)
	}
	s.has("nothing was approved")
}

// Who approves what destroys nothing is not asked, whatever it is about.
func TestWhatIsAskedOnProduction(t *testing.T) {
	for _, c := range []struct {
		on, keys string
		asks     string // "": it does not
	}{
		{"install ripgrep", "a", ""},
		{"loop: install packages", "a", ""},
		{"remove the lock", "a", "state: absent"},
		{"block: dotfiles", "a", "remove the lock"},
		{"replace /etc/hosts", "a", "Replace /etc/hosts with ours?"},
		{"install ripgrep", "s", ""},
		{"install ripgrep", "b", ""},
		{"install ripgrep", "x", ""},
		{"block: dotfiles", "space space a", "remove the lock"},
	} {
		for _, banner := range []string{"", "production"} {
			s := newScreen(t, setup{w: 100, h: 30, options: func(o *Options) { o.Banner = banner }})
			s.on(c.on)
			for key := range strings.FieldsSeq(c.keys) {
				s.press(key)
			}
			box, asks := s.m.Overlay.(*overlay.Production)
			if asks != (c.asks != "" && banner != "") {
				t.Errorf("%s on %s, banner %q: asks %t", c.keys, c.on, banner, asks)
				continue
			}
			if !asks {
				continue
			}
			s.has(c.asks)
			n := len(s.f.Sent)
			s.text(box.Name())
			s.press("enter")
			if len(s.f.Sent) != n+1 {
				t.Errorf("%s on %s sent %d commands after the name", c.keys, c.on, len(s.f.Sent)-n)
			}
		}
	}
}

// Stepping approves as well.
func TestStepAsksBeforeWhatDestroys(t *testing.T) {
	s := newScreen(t, setup{w: 100, h: 30, options: production})
	s.keys("s s s s s s s s s s s")
	for i := range 20 {
		if s.m.Overlay != nil || i == 19 {
			break
		}
		s.keys("s")
	}
	s.has("Approve and run 1 step on PRODUCTION?", "remove the lock")
	n := sent[events.Advance](s)
	s.press("enter")
	if sent[events.Advance](s) != n {
		t.Error("enter alone stepped")
	}
	s.text("devbox.yml")
	s.press("enter")
	if sent[events.Advance](s) != n+1 {
		t.Error("the name did not step")
	}
}

// What was asked about is what is approved: an edit, or a filter that takes the row away, ends the question.
func TestWhatChangesMeanwhileIsNotApproved(t *testing.T) {
	for name, change := range map[string]func(*screen){
		"another plan": func(s *screen) {
			other := devbox()
			other.Digest = "another"
			replanning{s.m.State}.changePlan(other)
		},
		"another row": func(s *screen) { s.m.Cur.Node = 0 },
	} {
		s := newScreen(t, setup{w: 100, h: 30, options: production})
		s.on("remove the lock")
		s.press("a")
		s.text("devbox.yml")
		change(s)
		s.press("enter")
		if n := sent[events.Approve](s); n > 0 || s.m.Overlay != nil {
			t.Errorf("%s: %d approvals", name, n)
		}
		s.has("nothing was approved")
	}
}

func TestDestroys(t *testing.T) {
	b := tuitest.NewBuilder("x.yml")
	for _, a := range [][]any{
		{"file", "state", "absent"},
		{"apt", "state", "removed"},
		{"archive", "remove", true},
		{"authorized_key", "exclusive", "true"},
		{"file", "state", unknown(0)},
		{"file", "state", "directory"},
		{"wait", "state", "absent"},
		{"archive", "remove", false},
		{"shell", "cmd", "rm -rf /"}, // what a command does is for its author to say
	} {
		b.Step(a[0].(string), a[0].(string), 1, args(a[1:]...))
	}
	b.Step("asks", "shell", 1, func(s *plan.Step) { s.Confirm = "really?" })
	s := newScreen(t, setup{p: b.Done(), w: 80, h: 24})
	for i := range s.m.Plan.Steps {
		want := i < 5 || i == 9
		if got := overlay.WhyDestroys(s.m.Run, i); (got != "") != want {
			t.Errorf("step %d: %q", i, got)
		}
	}
	// What a look at the machine has found.
	s.m.Predicted.Replace(&events.Prediction{Step: 5, Diff: events.Diff{Kind: events.ChangeDelete, Path: "/srv/x"}}, s.m.Plan)
	if got := overlay.WhyDestroys(s.m.Run, 5); got != "deletes /srv/x" {
		t.Errorf("predicted: %q", got)
	}
}

func TestNameToType(t *testing.T) {
	b := tuitest.NewBuilder("plays/site.yml")
	b.Scope(plan.ScopePlay, "web  servers", 1, nil, func() { b.Step("a", "shell", 1); b.Step("b", "shell", 2) })
	b.Scope(plan.ScopePlay, "\x1b[31m \u200b", 1, nil, func() { b.Step("c", "shell", 1) })
	s := newScreen(t, setup{p: b.Done(), w: 80, h: 24})
	for _, c := range []struct {
		from, to int
		name     string
	}{{0, 2, "web servers"}, {1, 2, "web servers"}, {0, 3, "site.yml"}, {2, 3, "site.yml"}} {
		if name, _ := overlay.NameToType(s.m.Plan, []events.Range{{From: c.from, To: c.to}}); name != c.name {
			t.Errorf("%d to %d: %q", c.from, c.to, name)
		}
	}
	nameless := tuitest.NewBuilder("")
	nameless.Step("a", "shell", 1)
	s = newScreen(t, setup{p: nameless.Done(), w: 80, h: 24})
	if name, _ := overlay.NameToType(s.m.Plan, nil); name == "" {
		t.Error("an empty name can be typed by accident")
	}
}

// The mark is on every screen, in reverse, in every theme, also without colours.
func TestBannerShowsEverywhere(t *testing.T) {
	for _, theme := range []string{"terminal", "mono", "moonlight", "contrast"} {
		for _, size := range sizes {
			s := newScreen(t, setup{w: size.w, h: size.h, options: func(o *Options) {
				p := colorprofile.ASCII
				o.Banner, o.Theme, o.Profile = "production", theme, &p
			}})
			check := func(when string) {
				t.Helper()
				row, _, _ := strings.Cut(s.m.View().Content, "\n")
				at := strings.Index(row, " PRODUCTION ")
				if at < 0 {
					t.Errorf("%s at %d×%d, %s: %q", theme, size.w, size.h, when, ansi.Strip(row))
					return
				}
				style := row[strings.LastIndex(row[:at], "\x1b["):at]
				if !strings.Contains(style, ";7") {
					t.Errorf("%s: it is not in reverse: %q", theme, style)
				}
			}
			check("review")
			s.press("A")
			if s.has("PRODUCTION"); size.h > 8 { // the box covers a smaller screen, and says it itself
				check("asked")
			}
			s.text("devbox.yml")
			s.press("enter")
			s.keys("c")
			check("paused")
			if size.w >= 60 {
				s.has("PAUSED", "devbox.yml")
			}
		}
	}
}

// In a narrow header the name of the playbook goes first, then the mark is cut; the state of the run stays.
func TestNarrowHeaderKeepsTheState(t *testing.T) {
	for w := 40; w <= 130; w++ {
		s := newScreen(t, setup{w: w, h: 20, options: func(o *Options) { o.Banner = "production of the north" }})
		s.has("PRODUCT", "REVIEW")
		if row, _, _ := strings.Cut(s.shows(), "\n"); !strings.Contains(row, "0/15") && !strings.Contains(row, "0 approved") {
			t.Errorf("%d cells: %s", w, row)
		}
	}
}

// A banner of any text and any length fits into any screen, and so does the question.
func TestBannersFit(t *testing.T) {
	for i, banner := range nasty {
		if !assault.Sampled(i, 4) || raced && i >= 8 {
			continue
		}
		s := newScreen(t, setup{w: 80, h: 24, options: func(o *Options) { o.Banner = banner }})
		for range 2 {
			for w := 1; w <= 130; w += 1 + w/8 {
				for h := 1; h <= 45; h += 1 + h/5 {
					s.Send(tea.WindowSizeMsg{Width: w, Height: h})
					checkFrame(t, s.m.View().Content, w, h)
				}
			}
			s.press("A")
		}
	}
}

// TestProductionScenes are the mark and the question, as a person sees them.
func TestProductionScenes(t *testing.T) {
	for _, size := range sizes {
		for _, ascii := range []bool{false, true} {
			name := fmt.Sprintf("production/%dx%d-%s", size.w, size.h, map[bool]string{false: "unicode", true: "ascii"}[ascii])
			t.Run(name, func(t *testing.T) {
				s := newScreen(t, setup{w: size.w, h: size.h, ascii: ascii, options: production})
				s.press("A")
				s.text("devbox")
				s.press("enter")
				golden(t, name, s.shows())
			})
		}
	}
}

// Whoever looks at a recorded run is asked nothing, but sees what it is about.
func TestReplayHasTheBanner(t *testing.T) {
	s := newScreen(t, setup{w: 80, h: 24, options: func(o *Options) { o.Banner, o.Replay = "production", "failed" }})
	s.has("PRODUCTION")
	s.press("A")
	if s.m.Overlay != nil {
		t.Error("it asks")
	}
}
