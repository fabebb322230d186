package tui

import (
	"errors"
	"strings"
	"testing"

	"moon/events"
	"moon/plan"
	"moon/plan/selector"
	"moon/tui/status"
	"moon/tui/tuitest"
)

// checks stands for the planner, which knows what an expression is.
func checks(_ *plan.Plan, condition, message string) error {
	switch {
	case strings.Contains(condition, "=="), condition == "":
	default:
		return errors.New("`" + condition + "` is no condition")
	}
	if strings.Count(message, "{{") != strings.Count(message, "}}") {
		return errors.New("`{{` is not closed")
	}
	return nil
}

// evaluates stands for the engine: what is registered is known when its step has run.
func evaluates(s *screen) func(p *plan.Plan, step int, text string) (string, error) {
	return func(_ *plan.Plan, step int, text string) (string, error) {
		switch {
		case text == "go_version":
			return "1.26.1", nil
		case text == "step":
			return (&plan.Step{Index: step}).ID(), nil
		case text == "token":
			return "••••••••", nil
		case text == "output":
			return "one\n", nil
		case text == "map":
			return `{"a":1,"b":["` + strings.Repeat("x", 120) + `"]}`, nil
		case text == "unpacked.rc":
			return "", errors.New("there is no variable `unpacked`")
		case text == "long":
			return strings.Repeat("a long value in lines\n", 30), nil
		case strings.HasPrefix(text, "go_now"):
			if _, ok := s.f.Run.Variables["go_now"]; !ok {
				return "", &plan.Missing{Name: "go_now", Steps: []int{7}}
			}
			return strings.TrimSpace("go1.25.3"), nil
		case strings.Contains(text, "=="):
			return "true", nil
		}
		return "", errors.New("there is no variable `" + text + "`")
	}
}

// debugging is a screen with what watches and breakpoints need.
func debugging(t *testing.T, w, h int) *screen {
	t.Helper()
	s := newScreen(t, setup{w: w, h: h})
	s.m.Tools.Eval, s.m.Tools.CheckBreak = evaluates(s), checks
	s.m.Tools.ParseBreak = func(p *plan.Plan, text string) ([]events.Command, string) {
		name, when, _ := strings.Cut(text, " if ")
		found := selector.Match(p, name)
		if len(found) == 0 {
			return nil, "no step is `" + name + "`"
		}
		return []events.Command{events.Break{Step: found[0], To: found[0] + 1, When: when}}, ""
	}
	return s
}

func TestBreakSheet(t *testing.T) {
	s := debugging(t, 120, 40)
	s.on("clone the dotfiles")
	s.keys("B")
	s.has("Breakpoint before clone the dotfiles", "without any of these it always stops")
	s.text("go_version")
	s.has("`go_version` is no condition")
	s.sends("enter")
	if s.m.Overlay == nil {
		t.Fatal("it closed on a mistake")
	}
	s.text(" == '1.26.1'")
	s.has("at the pointer it is true")
	s.press("tab")
	s.text("x")
	s.has("the count is a number")
	s.press("backspace")
	s.text("2")
	s.press("tab")
	s.text("now {{ go_version")
	s.has("is not closed")
	s.text(" }}")
	s.sends("enter", events.Break{Step: stepClone, When: "go_version == '1.26.1'", After: 2, Log: "now {{ go_version }}"})
	s.has("•  ◇ │ ├   clone the dotfiles", "stops     if go_version == '1.26.1' after 2 log now")

	s.press("B")
	s.has("now {{ go_version }}", "ctrl+d clears it")
	s.press("up") // round, to the message
	for range len("now {{ go_version }}") {
		s.press("backspace")
	}
	s.sends("enter", events.Break{Step: stepClone, When: "go_version == '1.26.1'", After: 2})
	s.has("◉  ◇ │ ├   clone the dotfiles")
	s.press("B")
	s.sends("ctrl+d", events.Break{Step: stepClone, Clear: true})
	s.hasNot("◉")

	// A scope: before each of its steps.
	s.on("loop: install packages")
	s.press("B")
	s.has("Breakpoint before each of 4 steps of loop: install packages")
	s.sends("enter", events.Break{Step: stepGit, To: stepTmux + 1})
	s.has("●  ◇ │ │ ├   install git", "●  ◇ │ │ └   install tmux")
	s.on("devbox.yml")
	s.has("Breakpoints", "install git", "each of 4 steps")

	s.on("install ripgrep")
	s.press("B")
	s.press("esc")
	if len(s.m.Breaks) != 4 {
		t.Errorf("esc changed something: %v", s.m.Breaks)
	}
	s.on("include: docker.yml")
	s.sends("B")
	s.has("no step here")
}

func TestBreakpointSays(t *testing.T) {
	s := debugging(t, 120, 40)
	s.on("loop: install packages")
	s.keys("A B enter c")
	s.has("PAUSED at breakpoint", "● here   hit 1   condition: none")
	s.keys("c")
	s.has("● here   hit 2   condition: none")
	s.on("install ripgrep")
	s.press("B")
	s.has("hit 2")
	s.press("esc")
	s.on("install fd-find")
	s.press("b")
	s.frame()
	s.keys("c")
	s.has("install tmux", "hit 3")
}

func TestBreaksList(t *testing.T) {
	s := debugging(t, 100, 30)
	s.command("breaks")
	s.has("there are no breakpoints; b sets one")
	s.command("break clone the dotfiles if x == 1")
	s.command("break nothing")
	s.has("no step is `nothing`")
	s.on("say hello")
	s.keys("b")
	s.command("breaks")
	s.has("● say hello", "◉ clone the dotfiles  if x == 1")
	s.press("down")
	s.press("enter")
	if s.m.Tree.Step(s.m.CursorNode()) != stepClone {
		t.Errorf("went to %d", s.m.CursorNode())
	}
	s.command("breaks")
	s.sends("d", events.Break{Step: stepHello, Clear: true})
	s.has("◉ clone the dotfiles")
	s.hasNot("● say hello")
	s.sends("d", events.Break{Step: stepClone, Clear: true})
	s.has("There are none any more.")
	s.press("x")
	if s.m.Overlay != nil {
		t.Error("an empty list stays")
	}
}

// TestBreakOnTask stops before a task on each of its hosts, and the list has one entry for it.
func TestBreakOnTask(t *testing.T) {
	s := newScreen(t, setup{p: twoPlays(), w: 120, h: 30})
	s.m.Cur.Node = int(s.m.Tree.ScopeNode[2]) // update the package index
	s.sends("b", events.Break{Step: 0, To: 3})
	s.m.Cur.Node = int(s.m.Tree.ScopeNode[3]) // install packages: a loop on each host
	s.sends("b", events.Break{Step: 3}, events.Break{Step: 5}, events.Break{Step: 7})
	s.m.Cur.Node = int(s.m.Tree.ScopeNode[3])
	s.keys("l j l j j") // its second item on the first host
	s.sends("b", events.Break{Step: 4})
	s.command("breaks")
	s.has("update the package index on 3 hosts", "install packages on 3 hosts", "install packages (tmux) on web1 ")
	s.sends("d", events.Break{Step: 0, To: 3, Clear: true})
	s.hasNot("update the package index on 3")
	s.sends("d", events.Break{Step: 3, Clear: true}, events.Break{Step: 5, Clear: true}, events.Break{Step: 7, Clear: true})
	s.sends("d", events.Break{Step: 4, Clear: true})
	s.has("There are none any more.")
	s.press("esc")

	// Another condition on one host is another entry.
	s.m.Cur.Node = int(s.m.Tree.ScopeNode[2])
	s.sends("b", events.Break{Step: 0, To: 3})
	s.f.Send(events.Break{Step: 1, When: "x == 1"})
	s.frame()
	s.command("breaks")
	s.has("update the package index on web1, db1.example.org", "update the package index on web2  if x == 1")
	s.press("esc")

	// A scope begins with a task: on each host too. Again it clears.
	s.on("play: everything")
	s.sends("b", events.Break{Step: 0, To: 3, Clear: true})
}

// command types a command into the palette.
func (s *screen) command(text string) {
	s.t.Helper()
	s.press(":")
	s.text(text)
	s.press("enter")
	s.f.Settle()
	s.frame()
}

func TestMarksDecide(t *testing.T) {
	s := newScreen(t, setup{w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["install git"], f.Fails["install tmux"] = 1, 1 }})
	p := s.m.Plan
	s.on("install git")
	s.keys("space space")
	s.has("2 marked")
	s.sends("b", events.Break{Step: stepGit}, events.Break{Step: stepGit + 1})
	s.hasNot("marked")
	s.on("install git")
	s.keys("v j j")
	s.has("marking")
	s.sends("b", events.Break{Step: stepGit + 2}) // those that have none
	s.on("install git")
	s.keys("v j j")
	s.sends("b", events.Break{Step: stepGit, Clear: true}, events.Break{Step: stepGit + 1, Clear: true}, events.Break{Step: stepGit + 2, Clear: true})

	s.on("say hello")
	s.press("space")
	s.on("install git")
	s.keys("v j")
	s.sends("a", events.Approve{Range: span1(stepHello, stepHello+1), Digest: p.Digest}, events.Approve{Range: span1(stepGit, stepGit+2), Digest: p.Digest})
	s.on("link .zshrc")
	s.press("space")
	s.on("check the shell")
	s.press("space")
	// The later ones first: they may have been planned with the value of an earlier one.
	s.sends("x", events.Exclude{Range: span1(stepShell, stepShell+1)}, events.Exclude{Range: span1(stepClone+1, stepClone+2)})

	// Two that failed, with what did not between them.
	s.keys("A c c")
	s.f.Run.Steps[stepTmux].State, s.f.Run.Steps[stepTmux].Outcome = events.Settled, events.Failed
	s.m.Tree.Set(stepTmux, status.Failed)
	s.on("install git")
	s.press("space")
	s.on("install ripgrep")
	s.press("space")
	s.on("install tmux")
	s.press("space")
	s.f.Sent = nil
	s.press("r")
	if len(s.f.Sent) != 1 && len(s.f.Sent) != 2 {
		t.Errorf("sent %v", s.f.Sent)
	}
	for _, c := range s.f.Sent {
		if _, ok := c.(events.Retry); !ok {
			t.Errorf("sent %v", c)
		}
	}
	if len(s.m.Cur.Marks) > 0 {
		t.Error("the marks stay")
	}
}
