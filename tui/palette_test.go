package tui

import (
	"fmt"
	"strings"
	"testing"

	"moon/events"
	"moon/tui/draw"
	"moon/tui/keymap"
	"moon/tui/tree"
	"moon/tui/view"
)

func TestPaletteDoesWhatIsPicked(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40})
	s.press(":")
	s.text("approve all")
	s.press("enter")
	s.frame()
	if len(s.f.Sent) != 1 || s.m.Overlay != nil {
		t.Fatalf("sent %v", s.f.Sent)
	}
	s.has("14 approved")
	s.press(":")
	s.text("zzzz")
	s.press("enter")
	if len(s.f.Sent) != 1 {
		t.Error("enter with nothing picked did something")
	}
	s.has("unknown command `zzzz`")
	s.press("esc")
	s.command("gate.exclude")
	if _, ok := s.f.Sent[1].(events.Exclude); !ok {
		t.Errorf("the name of an action did %v", s.f.Sent[1])
	}
	s.press(":")
	s.has("❯ exclude or restore") // what was done last
	s.press("esc")
	s.command("fliter")
	s.has("unknown command `fliter`; did you mean `filter`?")
	s.press("esc")
	s.command("filtr problems") // what was typed behind a slip is kept
	s.has("> filter problems▏")
}

func TestPaletteSaysWhyNot(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 60})
	s.press(":")
	s.text("retry what")
	s.has("nothing to retry here")
	s.press("enter")
	if s.m.Overlay == nil || len(s.f.Sent) > 0 {
		t.Errorf("did what cannot be done: %v", s.f.Sent)
	}
	s.press("esc")
	s.press(":")
	s.text("earlier attempt")
	s.has("in the output")
	s.press("esc")
	s.press("A")
	s.press("c")
	s.f.Until("install git")
	s.frame()
	for _, c := range []struct{ name, why string }{{"run.step", "it is running"}, {"gate.approve-all", "everything is approved"}, {"find.next", "no search"}} {
		s.press(":")
		s.text(c.name)
		s.has(c.why)
		s.press("esc")
	}
}

func TestTypedCommands(t *testing.T) {
	s := debugging(t, 120, 40)
	s.command("goto unpack go")
	if s.m.Tree.Step(s.m.CursorNode()) != stepUnpack {
		t.Errorf("went to %d", s.m.CursorNode())
	}
	s.press("tab")
	s.command("g packages.yml:5") // the loop, whose first step it is
	if s.m.Tree.Step(s.m.CursorNode()) != stepGit || s.m.FocusedPane() != view.PaneTree {
		t.Errorf("went to %d", s.m.CursorNode())
	}
	s.has("the first of 4 steps")
	s.command("goto nowhere")
	s.has("no step is `nowhere`")
	s.command("filter problems")
	if s.m.Filter != tree.FilterProblems {
		t.Errorf("filter %s", s.m.Filter)
	}
	s.command("goto say hello") // which the filter hides
	if s.m.Tree.Step(s.m.CursorNode()) != stepHello || s.m.Filter != tree.FilterAll {
		t.Errorf("at %d, filter %s", s.m.CursorNode(), s.m.Filter)
	}
	s.command("filter chnaged")
	s.has("unknown filter `chnaged`; did you mean `changed`?")
	s.command("theme moonlight")
	if s.m.looks.Theme() != "moonlight" {
		t.Errorf("theme %s", s.m.looks.Theme())
	}
	s.command("theme monlight")
	s.has("unknown theme `monlight`; did you mean `moonlight`?")

	// Half a command is completed, and says what it wants.
	s.press(":")
	s.text("wat")
	s.press("tab")
	s.has("> watch ▏")
	s.press("enter")
	s.has("type :watch EXPRESSION")
	s.text("go_version")
	s.press("enter")
	if len(s.m.Watch.Texts) != 1 {
		t.Error("nothing is watched")
	}
	s.press(":")
	s.text("p")
	s.has("pause, resume")
	s.press("esc")
	s.command("q")
	s.sent(events.Stop{How: events.StopInterrupt})
}

// sent fails the test unless that was the last command.
func (s *screen) sent(want events.Command) {
	s.t.Helper()
	if n := len(s.f.Sent); n == 0 || s.f.Sent[n-1] != want {
		s.t.Errorf("sent %v, want %v", s.f.Sent, want)
	}
}

// The help is the key table and the signs: nothing is missing from it.
func TestHelpShowsEveryKey(t *testing.T) {
	for _, where := range []string{"", "tab 1", "tab 2"} {
		s := newScreen(t, setup{w: 100, h: 40})
		s.keys(where)
		s.press("?")
		var pages strings.Builder
		for range 20 {
			pages.WriteString(s.shows())
			s.press("pgdown")
		}
		for i := range keymap.Bindings {
			b := &keymap.Bindings[i]
			if labels := s.m.Keys.Labels(b.Do, s.m.KeyPlace()); !strings.Contains(pages.String(), labels) || !strings.Contains(pages.String(), b.Words) {
				t.Errorf("%s (%s) is not in the help", b.Name, labels)
			}
		}
		for look := draw.SignUnapproved; look < draw.Signs; look++ {
			if !strings.Contains(pages.String(), fmt.Sprintf("%s             %s", draw.UnicodeGlyphs.Signs[look], draw.SignLooks[look].Word)) {
				t.Errorf("the sign for %s is not in the help", draw.SignLooks[look].Word)
			}
		}
		if where == "tab 2" && strings.Index(pages.String(), "earlier attempt") > strings.Index(pages.String(), "expand, or go in") {
			t.Error("the keys of another place come first")
		}
	}
	s := newScreen(t, setup{w: 100, h: 40})
	s.press("?")
	s.text("breakpoint")
	s.has("Deciding", "b  f9", "with a condition or a count")
	s.hasNot("Moving")
	for range len("breakpoint") {
		s.press("backspace")
	}
	s.text("f5")
	s.has("run, continue", "1 of")
	s.press("esc")
	if s.m.Overlay != nil {
		t.Error("esc did not close the help")
	}
	s.press("?")
	s.press("?")
	if s.m.Overlay != nil {
		t.Error("? did not close the help")
	}
}
