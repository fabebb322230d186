package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"moon/events"
	"moon/plan"
	"moon/plan/eval/value"
	"moon/secret"
	"moon/tui/tuitest"
)

// foreplan stands for the planner: a step's command changes with go_version, and a value "broken" cannot be planned.
func foreplan(p *plan.Plan, fix events.Fix) (*plan.Plan, string) {
	next := *p
	next.Digest += "+"
	next.Steps = slices.Clone(p.Steps)
	for _, v := range fix.Values {
		if v.Secret {
			v.Value = "••••••••" // the planner shows none
		}
		if strings.Contains(v.Value, "broken") {
			return nil, "vars/main.yml:4: there is no such release"
		}
		for i := range next.Steps {
			s := &next.Steps[i]
			if v.At != "" && s.Path != v.At {
				continue
			}
			for _, u := range s.Uses {
				if u.Name == v.Name && !v.Clear {
					s.Digest += "+"
					s.Args = map[string]any{"cmd": "tar " + v.Value}
					s.Overridden = []plan.Overridden{{Override: plan.Override{Name: v.Name}, Was: u.Value, Now: v.Value}}
				}
			}
		}
	}
	return &next, ""
}

func fixing(t *testing.T, w, h int) *screen {
	t.Helper()
	s := newScreen(t, setup{w: w, h: h, fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 2 }, options: func(o *Options) { o.Preview = foreplan }})
	s.keys("A c")
	return s
}

func TestFixSheet(t *testing.T) {
	path := devbox().Steps[stepUnpack].Path
	s := fixing(t, 120, 40)
	s.sends("e")
	s.has("Fix  unpack go", "this run only", "go_version", "1.26.1", "s/main.yml:4", "+ add a variable", "0 changes", "(•) this step")
	s.hasNot("retry with this", "ctrl+u undo", "ctrl+r") // there is nothing to take yet, or to take back
	s.sends("backspace 2")
	s.has("retry with this", "ctrl+u undo", "1.26.2▏", "was 1.26.1", "Will be", "+ tar", "1 change", "Type      text")
	s.sends("tab tab")
	s.has("(•) rest of the run", "Already done, with the old value; ctrl+r runs", "download go", "ctrl+r done steps too")
	s.sends("ctrl+r")
	s.has("Already done, and run again with the new value;", "ctrl+r done steps stay")
	s.sends("ctrl+r")
	s.has("Already done, with the old value")
	s.sends("tab")
	s.hasNot("ctrl+r") // of this step alone nothing is done
	s.sends("ctrl+r")
	s.has("nothing that is done would change")
	s.sends("enter", events.Fix{Values: []events.Override{{Name: "go_version", Value: `"1.26.2"`, At: path, From: path}}, Retry: path})
	if s.m.Sheet != nil {
		t.Error("the sheet stays open")
	}

	// Nothing is sent while nothing is changed, and esc goes back one thing at a time.
	s = fixing(t, 120, 40)
	s.sends("e enter")
	s.has("nothing is changed")
	s.sends("x esc")
	s.has("0 changes", "Fix  unpack go")
	s.sends("esc")
	if s.m.Sheet != nil {
		t.Error("esc does not close the sheet")
	}
	// What cannot be planned is said, and not sent.
	s.press("e")
	s.text("broken")
	s.has("there is no such release")
	s.sends("enter")
	s.has("it cannot be planned so")
	// ctrl+u takes it back.
	s.sends("ctrl+u enter")
	s.has("nothing is changed")
	// A new variable.
	s.keys("G")
	s.press("ctrl+u")
	for range len(s.m.Sheet.Rows) + 1 {
		s.press("down")
	}
	s.text("nice")
	s.sends("enter")
	s.has("write NAME=VALUE")
	s.text("=10")
	s.sends("enter", events.Fix{Values: []events.Override{{Name: "nice", Value: "10", At: path, From: path}}, Retry: path})
}

// A refusal brings the sheet back with what was typed.
func TestFixRefused(t *testing.T) {
	s := fixing(t, 120, 40)
	s.press("e")
	s.text("5")
	s.press("enter")
	s.f.Say(-1, events.CommandRejected{Order: events.Order{Command: s.f.Sent[len(s.f.Sent)-1]}, Reason: "steps are still running"})
	s.frame()
	s.has("Fix  unpack go", "steps are still running", "1.26.15")
}

func TestFixRefuses(t *testing.T) {
	s := fixing(t, 120, 40)
	s.on("install git")
	s.press("e")
	s.has("it has run already")
	s.Send(tea.WindowSizeMsg{Width: 30, Height: 8})
	s.press("e")
	if s.m.Sheet != nil {
		t.Error("a card has a sheet")
	}
	s = newScreen(t, setup{w: 120, h: 40})
	s.press("e")
	s.has("values cannot be changed here")
}

// The type stays unless enter is pressed again.
func TestFixKeepsTypes(t *testing.T) {
	p := devbox()
	use := &p.Steps[stepUnpack].Uses
	set := secret.NewSet()
	*use = append(*use,
		plan.Use{Name: "port", Value: 80}, plan.Use{Name: "token", Value: value.Mark(set, "hunter2hunter2", value.Every)})
	path := p.Steps[stepUnpack].Path
	open := func() *screen {
		s := newScreen(t, setup{p: p, w: 120, h: 40, fake: func(f *tuitest.Engine) { f.Fails["unpack go"] = 2 }, options: func(o *Options) { o.Preview = foreplan }})
		s.keys("A c e down down")
		return s
	}
	s := open()
	s.has("a number", "port")
	s.sends("1 enter", events.Fix{Values: []events.Override{{Name: "port", Value: "801", At: path, From: path}}, Retry: path})
	s = open()
	s.sends("x enter")
	s.has("port was a number and becomes text; enter again does")
	s.sends("enter", events.Fix{Values: []events.Override{{Name: "port", Value: "80x", At: path, From: path}}, Retry: path})

	s = open()
	s.press("down")
	s.text("swordfish99")
	s.has("•••••••••••▏", "never shown or stored")
	s.press("ctrl+e")
	s.has("a secret is not written to a file")
	if text := s.shows(); strings.Contains(text, "sword") || strings.Contains(text, "hunter") {
		t.Errorf("a secret shows:\n%s", text)
	}
	s.sends("enter", events.Fix{Values: []events.Override{{Name: "token", Value: `"swordfish99"`, At: path, From: path, Secret: true}}, Retry: path})
	if text := s.shows(); strings.Contains(text, "sword") {
		t.Errorf("a secret shows:\n%s", text)
	}
}

// A plan that comes while somebody types does not take away what was typed.
func TestFixSurvivesAReload(t *testing.T) {
	s := fixing(t, 120, 40)
	s.press("e")
	s.text("5")
	other := devbox()
	other.Digest = "another"
	replanning{s.m.State}.changePlan(other)
	s.frame()
	s.has("the plan was replaced; what you typed is still here", "1.26.15", "1 change")
}

// A scope that the plan has left nothing in has no values.
func TestFixNothing(t *testing.T) {
	s := fixing(t, 120, 40)
	s.on("include: docker.yml")
	s.press("e")
	s.has("no steps here whose values could be changed")
	s.text("x")
	s.hasNot("Will be")
}
