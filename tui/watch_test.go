package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"moon/plan"
)

func TestWatch(t *testing.T) {
	s := debugging(t, 120, 40)
	s.on("unpack go")
	s.keys("W")
	s.has("Watch an expression")
	s.text("go_now.stdout")
	s.press("enter")
	s.text("go_version")
	s.press("enter")
	s.text("nonsense")
	s.press("enter")
	s.text("token")
	s.press("enter")
	s.press("esc")
	s.has("Watch", "go_now.stdout   after step-0008", "go_version      1.26.1", "vars/main.yml:4", "there is no variable `nonsense`", "••••••••")
	s.press("4")
	s.has("Watch", "go_version      1.26.1")
	s.press("2")
	s.hasNot("Watch")
	s.press("3")
	s.has("Watch")

	// It follows the run.
	s.keys("A c")
	s.has("PAUSED to confirm", "go_now.stdout   go1.25.3")
	if got := s.m.Watch.Of.Step; got != stepConfirm {
		t.Errorf("evaluated at step %d", got)
	}

	// Again, and away.
	s.keys("W")
	s.press("up")
	s.press("up")
	s.has("> nonsense▏")
	s.press("down")
	s.press("down")
	s.press("down")
	s.has("❯ go_now.stdout", "d removes")
	s.press("d")
	s.press("j")
	s.press("enter")
	s.has("> nonsense▏")
	s.press("esc")
	if got := strings.Join(s.m.Watch.Texts, " "); got != "go_version token" {
		t.Errorf("watched: %s", got)
	}
	s.has("go_version   1.26.1")
	s.hasNot("go_now.stdout")
}

// A reload keeps what is watched, and asks again.
func TestWatchesSurviveReloads(t *testing.T) {
	s := debugging(t, 120, 40)
	s.m.Watch.AddWatch("go_version")
	s.frame()
	s.has("1.26.1")
	asked := 0
	s.m.Tools.Eval = func(*plan.Plan, int, string) (string, error) { asked++; return "another", nil }
	again := devbox()
	again.Digest = "another"
	replanning{s.m.State}.changePlan(again)
	s.frame()
	s.has("go_version   another")
	s.frame()
	s.Send(tea.FocusMsg{})
	if asked != 1 {
		t.Errorf("asked %d times although nothing happened", asked)
	}
}

// Watches never grow beyond a third of a tab, and stay where they are when it is scrolled.
func TestWatchesStayInPlace(t *testing.T) {
	s := debugging(t, 100, 16)
	for i := range 12 {
		s.m.Watch.AddWatch("x" + strings.Repeat("y", i))
	}
	s.on("unpack go")
	s.press("tab")
	s.has("Watch", "and more: W")
	before := strings.Split(s.shows(), "\n")
	s.press("j")
	after := strings.Split(s.shows(), "\n")
	if before[10] != after[10] || before[3] == after[3] {
		t.Errorf("before\n%s\nafter\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	s.press("G")
	s.has("❯ 10", "Watch")
}

func TestPrint(t *testing.T) {
	s := debugging(t, 120, 30)
	s.on("unpack go")
	s.command("p go_version")
	s.has("go_version = 1.26.1")
	s.command("print go_now.rc")
	s.has("go_now.rc: known after step-0008")
	s.command("p nonsense")
	s.has("nonsense: there is no variable `nonsense`")
	s.command("p output")
	s.has(`output = "one\n"`)
	s.command("p unpacked")
	s.has("unpacked: there is no variable `unpacked`")
	s.m.Plan.Steps[stepShell].Register = "unpacked" // by a step that comes later
	s.command("p unpacked.rc")
	s.has("unpacked.rc: known after step-0016")
	s.command("p map")
	s.has(`"a": 1,`, `  "b": [`)
	s.press("esc")
	s.command("p long")
	s.has("a long value in lines", "of 30 lines")
	s.press("G")
	s.has("-30 of 30 lines")
	s.press("esc")
	if s.m.Overlay != nil || len(s.f.Sent) > 0 {
		t.Errorf("%v is left, sent %v", s.m.Overlay, s.f.Sent)
	}
	if len(s.m.Watch.Texts) > 0 {
		t.Error("printing watches")
	}
	s = newScreen(t, setup{w: 120, h: 40})
	s.press("W")
	s.has("nothing can be evaluated here")
}
